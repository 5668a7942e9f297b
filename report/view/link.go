package view

import (
	"straggler/schema"
)

// Ref names something that a page of its own may be about. The zero Ref names nothing.
type Ref struct {
	Kind RefKind
	Key  schema.Key // of all but machines
	Name string     // of a machine, as the log has it
}

// RefKind is what a Ref names.
type RefKind string

const (
	ToApplication RefKind = "application"
	ToQuery       RefKind = "query"
	ToJob         RefKind = "job"
	ToPhase       RefKind = "phase"
	ToAttempt     RefKind = "attempt"
	ToMachine     RefKind = "machine"
)

// Link has the tables and pictures of sections link to pages: to gives the address of one, "" for none.
func Link(sections []Section, to func(Ref) string) {
	for i := range sections {
		linkBlocks(sections[i].Blocks, to)
	}
}

func linkBlocks(blocks []Block, to func(Ref) string) {
	for i, b := range blocks {
		switch b := b.(type) {
		case Table:
			for _, r := range b.Rows {
				for c := range r.Cells {
					if r.Cells[c].Of != (Ref{}) {
						r.Cells[c].Href = to(r.Cells[c].Of)
					}
				}
			}
		case Folded:
			linkBlocks(b.Blocks, to)
		case PhasePictures:
			b.Link = to
			blocks[i] = b
		}
	}
}
