package straggler

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Spark works NOT IN out by comparing every row with every one of the list where it stands within CASE or OR, and takes the
// whole list to each machine where it stands alone. ANTI JOIN, or LEFT JOIN and IS NULL, mean the same of keys, which are
// never NULL, and grow as the rows do.
func TestNoListsOfRows(t *testing.T) {
	list := regexp.MustCompile(`(?i)\bNOT\s+IN\s*\(\s*SELECT\b`)
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".sql" {
			return nil
		}
		files++
		text, err := os.ReadFile(name)
		if found := list.FindIndex(text); found != nil {
			t.Errorf("%s: %q: write ANTI JOIN, or LEFT JOIN and IS NULL", name, text[found[0]:min(found[1]+40, len(text))])
		}
		return err
	})
	if err != nil || files < 30 {
		t.Errorf("%d files of SQL: %v", files, err)
	}
}
