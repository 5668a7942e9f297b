package formats

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/ingesttest"
)

// corpus finds the inputs among the real logs, except those of machine learning, which no format reads.
func corpus(t *testing.T) *discover.Found {
	t.Helper()
	paths := slices.DeleteFunc(ingesttest.Corpus(t, "*"), func(p string) bool { return filepath.Base(p) == "ml" })
	found, err := discover.Find(t.Context(), All(), paths, discover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { found.Close() })
	return found
}

// Every real log is recognised by its content alone and by exactly one format. What is not recognised is not a log.
func TestCorpusIsRecognised(t *testing.T) {
	found := corpus(t)
	if len(found.Inputs) == 0 {
		t.Fatal("nothing was recognised")
	}
	for _, r := range found.Skipped {
		switch base := filepath.Base(r.Name); {
		case base == "MANIFEST.tsv", base == "README.md", base == "audit.py", base == "truth.json", base == "truth.csv", strings.HasSuffix(base, ".xml"), strings.HasPrefix(base, "appstatus_"):
		default:
			t.Errorf("%s: %s", r.Name, r.Reason)
		}
	}
	tried := make(map[string]bool) // in this corpus, or in a sample
	for _, in := range found.Inputs {
		tried[in.Format.Name] = true
	}
	for _, dir := range samples(t) {
		name, _, _ := strings.Cut(filepath.Base(dir), "-")
		tried[name] = true
	}
	for _, f := range All() {
		if !tried[f.Name] {
			t.Errorf("format %s has no log: add testdata/samples/%s", f.Name, f.Name)
		}
	}
}

// The laws hold on every real log and on damaged ones: 20 mutants of each input of up to 1 MiB, for a few seconds.
func TestLawsOnCorpus(t *testing.T) {
	found := corpus(t)
	deadline := time.Now().Add(6 * time.Second)
	mutated := 0
	for _, in := range found.Inputs {
		r := ingesttest.Conformance(t, in.Format, in.Input)
		if r.Err != nil && !ingest.IsCut(r.Err) {
			t.Errorf("%s: %v", in.Name, r.Err)
		}
		size := int64(0)
		for _, p := range in.Parts {
			size += p.Size
		}
		if size <= 1<<20 && time.Now().Before(deadline) {
			ingesttest.Mutants(t, in.Format, in.Input, 20)
			mutated++
		}
	}
	t.Logf("%d inputs, %d of them damaged in 20 ways", len(found.Inputs), mutated)
}
