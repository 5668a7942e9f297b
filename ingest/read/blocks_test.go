package read_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// wholeLines splits text in a simple way: the expected result of Lines.
func wholeLines(text []byte, max int) (lines []read.Line, rejected []int64) {
	number, offset := int64(1), int64(0)
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		line, next, cut := text, len(text), true
		if end >= 0 {
			line, next, cut = text[:end], end+1, false
		}
		if len(line) > max {
			rejected = append(rejected, number)
		} else {
			if !cut {
				line = bytes.TrimSuffix(line, []byte("\r"))
			}
			lines = append(lines, read.Line{Data: line, Number: number, Offset: offset, Cut: cut})
		}
		text = text[next:]
		number++
		offset += int64(next)
	}
	return lines, rejected
}

// checkLines reads text through Lines and compares the result with wholeLines.
func checkLines(tb testing.TB, text []byte, max int, r io.Reader) {
	tb.Helper()
	var trace schema.Trace
	out := ingest.NewSink(ingest.Limits{Line: int64(max)}, func(b schema.Batch) error { b.AddTo(&trace); return nil })
	want, rejected := wholeLines(text, max)
	lines := read.NewLines(r, "a.log", out)
	i := 0
	for got := range lines.All() {
		if i == len(want) {
			tb.Fatalf("more than %d lines; got %q", len(want), got.Data)
		}
		w := want[i]
		if !bytes.Equal(got.Data, w.Data) || got.Number != w.Number || got.Offset != w.Offset || got.Cut != w.Cut {
			tb.Fatalf("line %d: got %q number %d offset %d cut %v, want %q %d %d %v", i, got.Data, got.Number, got.Offset,
				got.Cut, w.Data, w.Number, w.Offset, w.Cut)
		}
		i++
	}
	if err := lines.Err(); err != nil || i != len(want) {
		tb.Fatalf("%d of %d lines, error %v", i, len(want), err)
	}
	if len(trace.Rejects) != len(rejected) {
		tb.Fatalf("%d lines rejected, want %d", len(trace.Rejects), len(rejected))
	}
	for i, r := range trace.Rejects {
		if r.Line.V != rejected[i] || r.SourceFile != "a.log" || r.Reason == "" || r.Sample == "" {
			tb.Fatalf("reject %+v, want line %d", r, rejected[i])
		}
	}
}

func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "\n", "a", "a\n", "\n\n\n", "a\r\nb\r\n", "a\r", "\r\n", "\x00\n\xff\xfe\n", "ab\ncd\nlast",
		strings.Repeat("x", 64) + "\n", strings.Repeat("x", 65), strings.Repeat("x", 200) + "\nafter\n"}
	for range 200 {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString(strings.Repeat("y", rng.IntN(150)))
			b.WriteString([]string{"\n", "\r\n", "\n\n"}[rng.IntN(3)])
		}
		texts = append(texts, b.String(), b.String()+"tail")
	}
	for _, text := range texts {
		for _, max := range []int{1, 2, 64, 100, 1 << 20} {
			checkLines(t, []byte(text), max, strings.NewReader(text))
			checkLines(t, []byte(text), max, iotest.HalfReader(strings.NewReader(text)))
			checkLines(t, []byte(text), max, iotest.DataErrReader(strings.NewReader(text)))
		}
	}
}

// Blocks of several megabytes, so that lines cross block boundaries and one of them is longer than a block.
func TestLinesAcrossBlocks(t *testing.T) {
	var b bytes.Buffer
	for i := 0; b.Len() < 5<<20; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, strings.Repeat("z", i%4000))
	}
	b.WriteString(strings.Repeat("long", 700<<10) + "\nend")
	checkLines(t, b.Bytes(), 64<<20, bytes.NewReader(b.Bytes()))
	checkLines(t, b.Bytes(), 2<<20, bytes.NewReader(b.Bytes()))
}

// endless reads as a line of n bytes, without holding it in memory.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.n))
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= int64(n)
	return n, nil
}

func TestLineOfTwoGigabytes(t *testing.T) {
	const size = 2 << 30
	var trace schema.Trace
	out := ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error { b.AddTo(&trace); return nil })
	r := io.MultiReader(strings.NewReader("before\n"), &endless{size}, strings.NewReader("\nafter\n"))
	var got []string
	most := uint64(0)
	lines := read.NewLines(r, "huge.log", out)
	for line := range lines.All() {
		got = append(got, fmt.Sprintf("%d@%d %s", line.Number, line.Offset, line.Data))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapInuse)
	}
	want := fmt.Sprintf("[1@0 before 3@%d after]", 7+size+1)
	if fmt.Sprint(got) != want || lines.Err() != nil {
		t.Errorf("got %v, error %v, want %s", got, lines.Err(), want)
	}
	if most > 256<<20 {
		t.Errorf("%d MiB of memory were in use", most>>20)
	}
	if len(trace.Rejects) != 1 || trace.Rejects[0].Line.V != 2 || trace.Rejects[0].ByteOffset != 7 || trace.Rejects[0].Sample != strings.Repeat("x", 200) {
		t.Errorf("rejects %+v", trace.Rejects)
	}
}

// A stream that breaks returns the data before that, and its error.
func TestLinesOfBrokenStream(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, end := range []error{broken, io.ErrUnexpectedEOF} {
		out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
		lines := read.NewLines(io.MultiReader(strings.NewReader("one\ntwo\nthr"), iotest.ErrReader(end)), "a.log", out)
		var got []string
		for line := range lines.All() {
			got = append(got, fmt.Sprintf("%s %v", line.Data, line.Cut))
		}
		if fmt.Sprint(got) != "[one false two false thr true]" || !errors.Is(lines.Err(), end) {
			t.Errorf("got %v, error %v", got, lines.Err())
		}
	}
	out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
	lines := read.NewLines(stuck{}, "a.log", out)
	for range lines.All() {
		t.Error("a line out of nothing")
	}
	if !errors.Is(lines.Err(), io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing for ever: error %v", lines.Err())
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nlast"), 3)
	f.Add([]byte("\x00\xff\n"), 1)
	f.Add(bytes.Repeat([]byte("0123456789\n"), 20), 11)
	f.Fuzz(func(t *testing.T, text []byte, max int) {
		if max < 1 || max > 1<<20 {
			return
		}
		checkLines(t, text, max, bytes.NewReader(text))
	})
}

func BenchmarkLines(b *testing.B) {
	line := strings.Repeat("x", 2500) + "\n"
	text := []byte(strings.Repeat(line, 64<<20/len(line)))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
		n := 0
		for range read.NewLines(bytes.NewReader(text), "a.log", out).All() {
			n++
		}
		if n == 0 {
			b.Fatal("no lines")
		}
	}
}
