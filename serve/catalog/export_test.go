package catalog

// Built reports whether a store-wide result exists.
func (c *Catalog) Built(name string) bool { _, ok := c.kept(name); return ok }
