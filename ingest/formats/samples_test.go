package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/ingesttest"
)

// samples returns the directories of small files of formats for which there is no real log, or no unusual one: testdata/samples
// has one for each, named after the format.
func samples(t *testing.T) (dirs []string) {
	dirs, err := filepath.Glob("testdata/samples/*")
	if err != nil || len(dirs) < 12 {
		t.Fatalf("%d samples, error %v", len(dirs), err)
	}
	return dirs
}

func find(t *testing.T, dir string) *discover.Found {
	t.Helper()
	found, err := discover.Find(t.Context(), All(), []string{dir}, discover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { found.Close() })
	return found
}

// Every sample is recognised by its content and by exactly one format. The laws hold on it, on damaged copies, and for any
// order of its files.
func TestLawsOnSamples(t *testing.T) {
	deadline := time.Now().Add(4 * time.Second)
	for _, dir := range samples(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			found := find(t, dir)
			name, _, _ := strings.Cut(filepath.Base(dir), "-")
			if len(found.Inputs) != 1 || found.Inputs[0].Format.Name != name || len(found.Skipped) > 0 {
				t.Fatalf("%d inputs, skipped %+v", len(found.Inputs), found.Skipped)
			}
			in := found.Inputs[0]
			r := ingesttest.Conformance(t, in.Format, in.Input)
			if r.Err != nil || r.Counts.Rejects > 0 || len(r.Applications) == 0 {
				t.Fatalf("error %v, rows %v, rejects %+v", r.Err, r.Counts.Rows, r.Trace.Rejects)
			}
			if name == "google" || name == "alibaba" { // their shards may come in any order
				swapped := *in.Input
				swapped.Parts = slices.Clone(in.Parts)
				slices.Reverse(swapped.Parts)
				again := ingesttest.Read(t, in.Format, &swapped, ingest.Limits{})
				if name == "google" {
					if d := cmp.Diff(r.Trace, again.Trace); d != "" {
						t.Errorf("the order of the files makes a difference: %s", d)
					}
				} else if d := cmp.Diff(r.Counts.Rows, again.Counts.Rows); d != "" {
					t.Errorf("the order of the files makes a difference: %s", d)
				}
			}
			for n := 0; n < 60 && time.Now().Before(deadline); n += 20 {
				ingesttest.Mutants(t, in.Format, in.Input, 20)
			}
		})
	}
}

// A text file converted by Windows gives the same rows: it has a byte order mark, and line ends of two characters.
func TestWindowsFiles(t *testing.T) {
	for _, dir := range samples(t) {
		if strings.HasPrefix(filepath.Base(dir), "tez") { // its records end in 0x01
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			marked := filepath.Join(t.TempDir(), filepath.Base(dir))
			if err := os.Mkdir(marked, 0o777); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				text := "\xef\xbb\xbf" + strings.ReplaceAll(string(b), "\n", "\r\n")
				if err := os.WriteFile(filepath.Join(marked, filepath.Base(f)), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			plain, windows := find(t, dir), find(t, marked)
			if len(windows.Inputs) != 1 {
				t.Fatalf("%d inputs, skipped %+v", len(windows.Inputs), windows.Skipped)
			}
			want := ingesttest.Read(t, plain.Inputs[0].Format, plain.Inputs[0].Input, ingest.Limits{})
			in := windows.Inputs[0]
			in.Input.Key, in.Input.Name = plain.Inputs[0].Key, plain.Inputs[0].Name
			got := ingesttest.Read(t, in.Format, in.Input, ingest.Limits{})
			if d := cmp.Diff(want.Counts, got.Counts); d != "" || got.Err != nil {
				t.Errorf("error %v: %s", got.Err, d)
			}
			reasons := cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.String(), "Reason") }, cmp.Ignore())
			if d := cmp.Diff(want.Attempts, got.Attempts, reasons); d != "" {
				t.Error(d)
			}
		})
	}
}

// A file that is empty, or has only the header of its tables, breaks nothing and is not silently accepted.
func TestNothingInIt(t *testing.T) {
	for _, dir := range samples(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := find(t, dir).Inputs[0]
			for _, text := range []string{"", "\n", "\r\n\r\n", "[]", "{}", "[", "{"} {
				empty := *in.Input
				empty.Parts = slices.Clone(in.Parts)
				for i := range empty.Parts {
					empty.Parts[i] = ingesttest.Input(in.Parts[i].Name, []byte(text)).Parts[0]
				}
				if r := ingesttest.Read(t, in.Format, &empty, ingest.Limits{}); len(r.Attempts) > 0 || len(r.Jobs) > 1 {
					t.Errorf("%q gives %d jobs and %d attempts", text, len(r.Jobs), len(r.Attempts))
				}
			}
		})
	}
}
