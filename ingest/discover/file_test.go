package discover_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/read"
	"straggler/schema"
)

// anything returns a format that accepts every file.
func anything() ingest.Format {
	return ingest.Format{Name: "anything", Sniff: func(ingest.Head) ingest.Match { return ingest.Match{Confidence: 3} }}
}

// partOf writes a file and returns it as discover finds it.
func partOf(tb testing.TB, name string, data []byte, temp string) ingest.Part {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		tb.Fatal(err)
	}
	found, err := discover.Find(tb.Context(), []ingest.Format{anything()}, []string{path}, discover.Options{TempDir: temp})
	if err != nil || len(found.Inputs) != 1 {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { found.Close() })
	return found.Inputs[0].Parts[0]
}

func gzipped(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// lines returns varied text.
func lines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "run machine-%d\n", i)
	}
	return b.Bytes()
}

// A compressed part supports random access, and leaves no temporary file.
func TestOpenAt(t *testing.T) {
	text := lines(100_000)
	for name, data := range map[string][]byte{"plain": text, "gzip.gz": gzipped(t, text), "short": []byte("x")} {
		want := text
		if name == "short" {
			want = data
		}
		temp := t.TempDir()
		f, err := partOf(t, name, data, temp).OpenAt(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Size() != int64(len(want)) {
			t.Errorf("%s: size %d, want %d", name, f.Size(), len(want))
		}
		got := make([]byte, len(want)/2)
		if n, err := f.ReadAt(got, int64(len(want)-len(got))); n != len(got) || err != nil && !errors.Is(err, io.EOF) ||
			!bytes.Equal(got, want[len(want)-len(got):]) {
			t.Errorf("%s: the second half is wrong: %d bytes, error %v", name, n, err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(temp, "*", "files", "*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}

// A reader closed before its end does not hang, and leaves no goroutine that continues to read.
func TestCloseEarly(t *testing.T) {
	text := lines(1_000_000)
	part := partOf(t, "early.gz", gzipped(t, text), t.TempDir())
	for range 20 {
		r, err := part.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		if _, err := io.ReadFull(r, buf); err != nil || !bytes.HasPrefix(text, buf) {
			t.Fatalf("%q, error %v", buf, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// sparkText repeats a real event log to about 128 MiB.
func sparkText(b *testing.B) []byte {
	files, _ := filepath.Glob("../../testdata/labelled/plain/app-*")
	if len(files) != 1 {
		b.Fatal("testdata/labelled/plain is missing")
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	return bytes.Repeat(text, 128<<20/len(text))
}

// BenchmarkPart reads an event log in blocks of lines, as formats do. MB/s are of decompressed bytes.
func BenchmarkPart(b *testing.B) {
	text := sparkText(b)
	var gz, zs bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(text)
	w.Close()
	// A frame per half MiB, similar to an application that flushes its log.
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 512<<10)
		z, err := zstd.NewWriter(&zs, zstd.WithEncoderConcurrency(1))
		if err != nil {
			b.Fatal(err)
		}
		z.Write(rest[:n])
		z.Close()
		rest = rest[n:]
	}
	dir := b.TempDir()
	for name, data := range map[string][]byte{"plain": text, "app.gz": gz.Bytes(), "app.zst": zs.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{"plain", "app.zst", "app.gz"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				readBlocks(b, filepath.Join(dir, name))
			}
		})
	}
}

func readBlocks(b *testing.B, path string) {
	found, err := discover.Find(b.Context(), []ingest.Format{anything()}, []string{path}, discover.Options{})
	if err != nil || len(found.Inputs) != 1 {
		b.Fatal(err)
	}
	defer found.Close()
	r, err := found.Inputs[0].Parts[0].Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
	blocks := read.NewBlocks(r, path, out)
	var block read.Block
	for {
		if err := blocks.Next(&block); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}
