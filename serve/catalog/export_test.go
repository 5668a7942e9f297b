package catalog

// Built is whether a result over the whole store is there.
func (c *Catalog) Built(name string) bool { _, ok := c.kept(name); return ok }
