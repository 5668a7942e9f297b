package view

import (
	"straggler/schema"
)

// Ref identifies something that may have a page of its own. The zero Ref identifies nothing.
type Ref struct {
	Kind RefKind
	Key  schema.Key // of all but machines
	Name string     // of a machine, as the log has it
}

// RefKind is the kind of what a Ref identifies.
type RefKind string

const (
	ToApplication RefKind = "application"
	ToQuery       RefKind = "query"
	ToJob         RefKind = "job"
	ToPhase       RefKind = "phase"
	ToAttempt     RefKind = "attempt"
	ToMachine     RefKind = "machine"
)

// Link makes the tables and pictures of sections link to pages: to returns the address of a page, "" for none.
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
