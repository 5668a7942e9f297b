package hadoop

import (
	"straggler/ingest/read"
	"straggler/schema"
)

// node is a node of a topology: root, racks, hosts.
type node struct {
	name     string
	children []node
}

// topology reads a member of a node after its name.
func (d *rumenDecoder) topology(n *node) {
	p := &d.pull
	switch string(p.Name) {
	case "name":
		n.name = d.text()
	case "children":
		for ok := p.Array(); ok && p.Elem(); {
			var child node
			for ok := p.Object(); ok && p.Key(); {
				d.topology(&child)
			}
			if d.nodes++; d.nodes <= maxNodes {
				n.children = append(n.children, child)
			}
		}
	default:
		p.Skip()
	}
}

// machines lists the leaves below a node, with the path to them as rack.
func (n *node) machines(rack string, dst []schema.Machine) []schema.Machine {
	for i := range n.children {
		c := &n.children[i]
		name := dotted(c.name)
		if len(c.children) == 0 {
			if name != "" {
				dst = append(dst, schema.Machine{Machine: name, Rack: read.NullText(rack)})
			}
			continue
		}
		below := name
		if rack != "" {
			below = rack + "/" + name
		}
		dst = c.machines(below, dst)
	}
	return dst
}
