package codec

import (
	"fmt"
	"sync/atomic"

	"straggler/ingest"
)

// Limits configure a budget. A zero field means its default.
type Limits struct {
	Out   int64  // decompressed bytes allowed; default 1 TiB
	Ratio int64  // decompressed bytes allowed per compressed byte, beyond Floor; default 1000
	Floor int64  // allowed regardless of the ratio: a small file of blanks is no bomb; default 100 MiB
	Of    string // what the budget is for, in errors
	Raise string // the option that raises Out
}

// Budget bounds the output of decompressors. An input has one budget for all its layers (a compressed log in a compressed
// archive), so that their ratios do not multiply. Its parent is the budget of all inputs of a run.
type Budget struct {
	parent  *Budget
	limits  Limits
	in, out atomic.Int64
}

// NewBudget makes the budget of an input of in bytes, or of a parent of inputs, whose sizes are added as they become known.
func NewBudget(parent *Budget, l Limits, in int64) *Budget {
	if l.Out <= 0 {
		l.Out = 1 << 40
	}
	if l.Ratio <= 0 {
		l.Ratio = 1000
	}
	if l.Floor <= 0 {
		l.Floor = 100 << 20
	}
	if l.Of == "" {
		l.Of, l.Raise = "it", "the limit"
	}
	b := &Budget{parent: parent, limits: l}
	b.In(in)
	return b
}

// In adds n bytes to the size of the budget's input.
func (b *Budget) In(n int64) {
	for ; b != nil; b = b.parent {
		b.in.Add(n)
	}
}

// charge takes n bytes from the budget and from its ancestors.
func (b *Budget) charge(n int64) error {
	for ; b != nil; b = b.parent {
		out, in, l := b.out.Add(n), b.in.Load(), &b.limits
		if out > l.Out {
			return fmt.Errorf("%w: more than %d bytes came out of %s; raise %s if it is genuine", ingest.ErrLimit, l.Out, l.Of, l.Raise)
		}
		if out > l.Floor && out/l.Ratio > in {
			return fmt.Errorf("%w: more than %d bytes came out of each byte of %s, as of a decompression bomb; raise --max-ratio if it is genuine",
				ingest.ErrLimit, l.Ratio, l.Of)
		}
	}
	return nil
}

// Meter charges a budget for the output of one decompressor. Bytes that are read again count once.
type Meter struct {
	budget *Budget
	most   atomic.Int64
}

// Meter returns a meter for one decompressor.
func (b *Budget) Meter() *Meter { return &Meter{budget: b} }

// At reports that out bytes have come out since the beginning.
func (m *Meter) At(out int64) error {
	for {
		most := m.most.Load()
		if out <= most {
			return nil
		}
		if m.most.CompareAndSwap(most, out) {
			return m.budget.charge(out - most)
		}
	}
}
