package ingesttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/schema/laws"
)

// Conformance checks what every format must satisfy on an input: its rows are valid, the same bytes give the same rows, and
// every reject names its file, position and reason.
func Conformance(tb testing.TB, f ingest.Format, in *ingest.Input) Result {
	tb.Helper()
	first := Read(tb, f, in, ingest.Limits{})
	check(tb, in.Name, &first, nil)
	second := Read(tb, f, in, ingest.Limits{})
	if diff := cmp.Diff(first.Trace, second.Trace); diff != "" {
		tb.Errorf("%s: two readings of the same bytes differ: %s", in.Name, diff)
	}
	return first
}

// damages are the laws that a damaged log may break, since it contradicts itself and its rows repeat what it says. The others
// hold whatever a format reads: keys, references, enums, numbers, texts. A real log breaks none.
var damages = []laws.Law{laws.Order, laws.Duration, laws.TaskIndex, laws.AttemptNumber, laws.Window, laws.Part,
	laws.Bytes, laws.StillRunning, laws.LostOutput, laws.MachineOnce, laws.SkippedPhase, laws.EdgeOnce}

func check(tb testing.TB, name string, r *Result, tolerated []laws.Law) {
	tb.Helper()
	n := 0
	for _, v := range laws.Trace(&r.Trace) {
		if slices.Contains(tolerated, v.Law) {
			continue
		}
		if n++; n == 4 {
			tb.Errorf("%s: … and more", name)
			break
		}
		tb.Errorf("%s: %v", name, v)
	}
	if r.Counts.Decoded == 0 && len(r.Attempts) > 0 {
		tb.Errorf("%s: %d attempts were made of no decoded record", name, len(r.Attempts))
	}
	if got := int64(len(r.Trace.Rejects)); got > r.Counts.Rejects {
		tb.Errorf("%s: %d rejects are kept of %d", name, got, r.Counts.Rejects)
	}
}

// Mutants damages an input in n reproducible ways, and checks that the format gives valid rows for each: truncated, with
// flipped bits, with lines duplicated, swapped and removed, and with parts of one line inserted into another.
func Mutants(tb testing.TB, f ingest.Format, in *ingest.Input, n int) {
	tb.Helper()
	parts := contents(tb, in)
	tolerated := damages
	if f.Name == "canonical" { // its keys are those of the file, so damage may make two equal
		tolerated = append([]laws.Law{laws.UniqueKey, laws.Owner}, damages...)
	}
	rng := rand.New(rand.NewPCG(uint64(len(parts)), 7))
	for i := range n {
		damaged, how := mutate(rng, parts)
		r := Read(tb, f, withContents(in, damaged), ingest.Limits{})
		check(tb, fmt.Sprintf("%s, mutant %d (%s)", in.Name, i, how), &r, tolerated)
	}
}

// contents returns the decompressed bytes of the parts.
func contents(tb testing.TB, in *ingest.Input) [][]byte {
	tb.Helper()
	var out [][]byte
	for _, p := range in.Parts {
		r, err := p.Open(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil && !ingest.IsCut(err) {
			tb.Fatal(err)
		}
		r.Close()
		out = append(out, data)
	}
	return out
}

func withContents(in *ingest.Input, contents [][]byte) *ingest.Input {
	out := *in
	out.Parts = nil
	for i, data := range contents {
		part := Input(in.Parts[i].Name, data).Parts[0]
		out.Parts = append(out.Parts, part)
	}
	return &out
}

// mutate damages one of the parts, and returns a description of the damage.
func mutate(rng *rand.Rand, parts [][]byte) (out [][]byte, how string) {
	out = append(out, parts...)
	at := rng.IntN(len(parts))
	data := bytes.Clone(parts[at])
	if len(data) < 2 {
		return out, "none"
	}
	ways := []struct {
		how string
		do  func(*rand.Rand, []byte) []byte
	}{
		{"cut", func(rng *rand.Rand, b []byte) []byte { return b[:rng.IntN(len(b))] }},
		{"bits flipped", flipBits},
		{"digits changed", changeDigits},
		{"line doubled", func(rng *rand.Rand, b []byte) []byte {
			return lines(rng, b, func(a, _ []byte) [][]byte { return [][]byte{a, a} })
		}},
		{"line left out", func(rng *rand.Rand, b []byte) []byte { return lines(rng, b, func(a, _ []byte) [][]byte { return nil }) }},
		{"lines swapped", swapLines},
		{"lines joined", func(rng *rand.Rand, b []byte) []byte {
			return lines(rng, b, func(a, other []byte) [][]byte { return [][]byte{a[:len(a)/2], other} })
		}},
		{"piece moved", movePiece},
	}
	d := ways[rng.IntN(len(ways))]
	out[at] = d.do(rng, data)
	return out, d.how
}

func flipBits(rng *rand.Rand, b []byte) []byte {
	for range 1 + rng.IntN(8) {
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	}
	return b
}

// changeDigits changes numbers, including to negative, absurd and out-of-range ones.
func changeDigits(rng *rand.Rand, b []byte) []byte {
	for range 200 {
		i := rng.IntN(len(b))
		if b[i] >= '0' && b[i] <= '9' {
			b[i] = "-0.9e"[rng.IntN(5)]
		}
	}
	return b
}

// lines replaces a line by the result of edit, which also gets another line.
func lines(rng *rand.Rand, b []byte, edit func(a, other []byte) [][]byte) []byte {
	all := bytes.SplitAfter(b, []byte("\n"))
	i, j := rng.IntN(len(all)), rng.IntN(len(all))
	var out []byte
	for k, line := range all {
		if k != i {
			out = append(out, line...)
			continue
		}
		for _, piece := range edit(line, all[j]) {
			out = append(out, piece...)
		}
	}
	return out
}

func swapLines(rng *rand.Rand, b []byte) []byte {
	all := bytes.SplitAfter(b, []byte("\n"))
	for range 1 + rng.IntN(5) {
		i, j := rng.IntN(len(all)), rng.IntN(len(all))
		all[i], all[j] = all[j], all[i]
	}
	return bytes.Join(all, nil)
}

func movePiece(rng *rand.Rand, b []byte) []byte {
	from, n := rng.IntN(len(b)), 1+rng.IntN(64)
	to := rng.IntN(len(b))
	copy(b[to:], bytes.Clone(b[from:min(from+n, len(b))]))
	return b
}
