package discover_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"straggler/ingest"
	"straggler/ingest/discover"
)

// Ratios do not multiply: a member of a zip that is itself gzip, each layer within the ratio, is a bomb all the same.
func TestLayersShareBudget(t *testing.T) {
	var inner, outer bytes.Buffer
	z, err := gzip.NewWriterLevel(&inner, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	line := append(bytes.Repeat([]byte("0123456789abcde\n"), 1<<16-1), "and some words\n"...)
	const copies = 200
	for range copies {
		z.Write(line)
	}
	z.Close()
	a := zip.NewWriter(&outer)
	w, err := a.Create("bomb.gz")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(inner.Bytes())
	a.Close()
	for what, ratio := range map[string]int{"of the gzip": copies * len(line) / inner.Len(), "of the zip": inner.Len() / outer.Len()} {
		if ratio >= 1000 {
			t.Fatalf("the ratio %s is %d: the test is of ratios below the limit", what, ratio)
		}
	}
	if err := readAll(t, discover.Options{}, map[string][]byte{"bomb.zip": outer.Bytes()})["bomb.zip/bomb.gz"]; !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("%d bytes of %d: error %v", copies*len(line), outer.Len(), err)
	}
	if err := readAll(t, discover.Options{}, map[string][]byte{"bomb.gz": inner.Bytes()})["bomb.gz"]; err != nil {
		t.Errorf("the gzip alone: %v", err)
	}
}

// All inputs of a run share a budget; each counts once, however often it is read.
func TestRunHasBudget(t *testing.T) {
	log := gzipped(t, lines(40_000))
	files := map[string][]byte{"a.gz": log, "b.gz": log}
	most := int64(len(lines(40_000)))
	for name, err := range readAll(t, discover.Options{Limits: ingest.Limits{Run: 2 * most}}, files) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	failed := 0
	for _, err := range readAll(t, discover.Options{Limits: ingest.Limits{Run: 2*most - 1}}, files) {
		if errors.Is(err, ingest.ErrLimit) {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d of 2 inputs are over the run's budget, want the second", failed)
	}
}

// readAll reads every input twice, and returns the errors by name.
func readAll(t *testing.T, o discover.Options, files map[string][]byte) map[string]error {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, err := discover.Find(t.Context(), []ingest.Format{anything()}, []string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	out := make(map[string]error)
	for _, in := range found.Inputs {
		name, _ := filepath.Rel(dir, in.Name)
		for range 2 {
			out[name] = errors.Join(out[name], readPart(t.Context(), in.Parts[0]))
		}
	}
	return out
}

func readPart(ctx context.Context, p ingest.Part) error {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}
