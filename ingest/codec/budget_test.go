package codec

import (
	"errors"
	"testing"

	"straggler/ingest"
)

// Output counts against the input and against all inputs together, by bytes and by ratio; bytes read again count once.
func TestBudget(t *testing.T) {
	all := NewBudget(nil, Limits{Out: 10_000, Ratio: 10, Floor: 1000, Of: "all", Raise: "--max-run"}, 0)
	input := func(in int64) *Meter { return NewBudget(all, Limits{Out: 5000, Ratio: 100, Floor: 500}, in).Meter() }

	a := input(10)
	for _, out := range []int64{400, 900, 300, 900, 1000} {
		if err := a.At(out); err != nil {
			t.Fatalf("%d bytes of 10: %v", out, err)
		}
	}
	if err := a.At(1010); !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("101 bytes out of each: error %v", err)
	}
	b := input(60) // then 70 bytes have gone in and 1010 come out
	if err := b.At(400); !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("20 bytes out of each of all: error %v", err)
	}
	c := input(1000)
	if err := c.At(4900); err != nil {
		t.Error(err)
	}
	if err := c.At(5001); !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("5001 bytes of 5000: error %v", err)
	}
	if err := input(1000).At(4900); !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("more than 10 000 bytes of all: error %v", err)
	}
}

// The decompressors of a member and of its compressed archive share a budget.
func TestMetersShareBudget(t *testing.T) {
	b := NewBudget(nil, Limits{Out: 100}, 100)
	outer, inner := b.Meter(), b.Meter()
	if err := errors.Join(outer.At(60), inner.At(40)); err != nil {
		t.Fatal(err)
	}
	if err := inner.At(41); !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("error %v", err)
	}
}
