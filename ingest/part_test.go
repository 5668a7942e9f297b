package ingest_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/ingest/read"
	"straggler/schema"
)

// A part that is compressed can be read in any order, and leaves no temporary file.
func TestOpenAt(t *testing.T) {
	text := toyLog("at", 100_000)
	for name, data := range map[string][]byte{"plain": text, "gzip": gzipped(t, text), "empty": nil, "short": []byte("x")} {
		want := text
		if name == "empty" || name == "short" {
			want = data
		}
		in := ingesttest.Input(name, data)
		f, err := in.Parts[0].OpenAt(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Size() != int64(len(want)) {
			t.Errorf("%s: size %d, want %d", name, f.Size(), len(want))
		}
		got := make([]byte, len(want)/2)
		if n, err := f.ReadAt(got, int64(len(want)-len(got))); n != len(got) || err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(got, want[len(want)-len(got):]) {
			t.Errorf("%s: the second half is wrong: %d bytes, error %v", name, n, err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A reader that is closed before its end does not hang, and leaves no goroutine behind that reads on.
func TestCloseEarly(t *testing.T) {
	text := toyLog("early", 1_000_000)
	in := ingesttest.Input("early.gz", gzipped(t, text))
	for range 20 {
		r, err := in.Parts[0].Open(t.Context())
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
	files, _ := filepath.Glob("../testdata/labelled/plain/app-*")
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
	// A frame for each half MiB, about as an application that flushes its log writes it.
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
	f := ingest.Format{Name: "blocks", Sniff: func(ingest.Head) ingest.Match { return ingest.Match{Sure: 3} }}
	found, err := ingest.Find(b.Context(), []ingest.Format{f}, []string{path}, ingest.Options{})
	if err != nil || len(found.Inputs) != 1 {
		b.Fatal(err, found.Skipped)
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
