package parquet

import (
	"errors"
	"fmt"

	"straggler/parquetfile"
)

// A column's page has, in addition to the values, two levels for each: the definition level is the number of the optional and
// repeated fields on its path that are present; the repetition level says at which of the repeated ones a new item begins, 0
// beginning a row (Melnik et al., Dremel, VLDB 2010 §4). A node reads its descendants from the columns of its leaves.

// maxValues bounds the content of one cell: a few bytes of levels can claim a list of any length.
const maxValues = 1 << 20

// Every textBytes of a text count as another value, since a value takes about as much memory.
const textBytes = 64

// node is a field of the schema: a leaf, a structure or, if it repeats, items of one.
type node struct {
	definition int16 // the level from which on the field is present
	repetition int16 // the level at which the field's own items begin
	repeats    bool
	list       bool // its one child repeats and is its items
	leaf       *leaf
	names      []string // of the children
	children   []*node
	leaves     []*leaf // all below it
}

// nodes returns the columns of a row group.
func (s *source) nodes(group *parquetfile.RowGroup) ([]*node, error) {
	memory := parquetfile.NewMemory(parquetfile.MaxMemory)
	var out []*node
	for _, f := range s.root.Children {
		n, err := s.node(group, f, memory)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (s *source) node(group *parquetfile.RowGroup, f *parquetfile.Field, memory *parquetfile.Memory) (*node, error) {
	n := &node{definition: f.MaxDefinition, repetition: f.MaxRepetition, repeats: f.Repetition == parquetfile.Repeated}
	if f.Children == nil {
		column, err := group.Chunk(s, s.Size(), f, memory)
		if err != nil {
			return nil, err
		}
		n.leaf, err = newLeaf(column)
		n.leaves = []*leaf{n.leaf}
		return n, err
	}
	for _, c := range f.Children {
		child, err := s.node(group, c, memory)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
		n.names = append(n.names, c.Name)
		n.leaves = append(n.leaves, child.leaves...)
	}
	if len(n.leaves) == 0 {
		return nil, errors.New("a structure has no fields")
	}
	n.list = f.Logical.Meaning == parquetfile.List && len(n.children) == 1 && n.children[0].repeats
	if n.list && !n.repeats {
		if name := f.Children[0].Name; name != "array" && name != f.Name+"_tuple" {
			n.children[0] = unwrapped(n.children[0])
		}
	}
	return n, nil
}

// unwrapped returns a list's items without the single-field structure that the format puts around each (Apache Parquet,
// LogicalTypes.md, Lists, with its rules for older writers).
func unwrapped(items *node) *node {
	if len(items.children) != 1 || items.children[0].repeats {
		return items
	}
	return &node{definition: items.definition, repetition: items.repetition, repeats: true, children: items.children, leaves: items.leaves}
}

// read reads the field of the next row, and adds the number of its values to a count.
func (n *node) read(values *int) (Value, error) {
	if !n.repeats {
		return n.one(values)
	}
	out := Value{Kind: List, nested: &nested{}}
	at, err := n.leaves[0].peek()
	if err != nil {
		return Value{}, err
	}
	if at.definition < n.definition { // no items
		return out, n.skip(values)
	}
	for {
		item, err := n.one(values)
		if err != nil {
			return Value{}, err
		}
		if out.nested.items = append(out.nested.items, item); *values > maxValues {
			return Value{}, fmt.Errorf("a list holds more than %d values", maxValues)
		}
		more, err := n.leaves[0].more()
		if err != nil {
			return Value{}, err
		}
		if !more || n.leaves[0].next.repetition < n.repetition {
			return out, nil
		}
	}
}

// one reads a field, or one of its items.
func (n *node) one(values *int) (Value, error) {
	if n.leaf != nil {
		v, err := n.leaf.take()
		*values += 1 + len(v.text)/textBytes
		return v, err
	}
	at, err := n.leaves[0].peek()
	if err != nil {
		return Value{}, err
	}
	if at.definition < n.definition {
		return Value{}, n.skip(values)
	}
	if n.list || n.names == nil {
		return n.children[0].read(values)
	}
	out := Value{Kind: Struct, nested: &nested{make([]Value, len(n.children)), n.names}}
	for i, c := range n.children {
		if out.nested.items[i], err = c.read(values); err != nil {
			return Value{}, err
		}
	}
	return out, nil
}

// skip skips the entries in each column for an absent field.
func (n *node) skip(values *int) error {
	for _, l := range n.leaves {
		*values++
		if _, err := l.take(); err != nil {
			return err
		}
	}
	return nil
}
