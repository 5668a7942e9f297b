package ingesttest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Corpus returns the paths of real logs that match glob in the corpus: the directory in STRAGGLER_CORPUS, or one beside the
// repository. Without it the test is skipped, or fails if STRAGGLER_REQUIRE contains corpus.
func Corpus(tb testing.TB, glob string) []string {
	tb.Helper()
	paths := CorpusOrNone(glob)
	if len(paths) == 0 {
		if strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "corpus") {
			tb.Fatalf("no real logs at %s", filepath.Join(corpusRoot(), glob))
		}
		tb.Skipf("no real logs at %s; STRAGGLER_CORPUS names their directory", filepath.Join(corpusRoot(), glob))
	}
	return paths
}

// CorpusFiles returns the content of the files that Corpus finds, decompressed, by their names.
func CorpusFiles(tb testing.TB, glob string) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, p := range Corpus(tb, glob) {
		b, err := os.ReadFile(p)
		if err == nil && strings.HasSuffix(p, ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(z)
			}
		}
		if err != nil {
			tb.Fatalf("%s: %v", p, err)
		}
		files[filepath.Base(p)] = b
	}
	return files
}

// CorpusOrNone is Corpus for the seeds of a fuzz target, which can do without.
func CorpusOrNone(glob string) []string {
	paths, _ := filepath.Glob(filepath.Join(corpusRoot(), glob))
	return paths
}

func corpusRoot() string {
	if root := os.Getenv("STRAGGLER_CORPUS"); root != "" {
		return root
	}
	dir, err := os.Getwd()
	if err != nil {
		return "shared/corpus"
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return filepath.Join(dir, "..", "shared", "corpus")
		}
		dir = filepath.Dir(dir)
	}
}
