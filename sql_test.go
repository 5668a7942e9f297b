package straggler

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"straggler/schema"
)

// Spark works NOT IN out by comparing every row with every one of the list where it stands within CASE or OR, and takes the
// whole list to each machine where it stands alone. ANTI JOIN, or LEFT JOIN and IS NULL, mean the same of keys, which are
// never NULL, and grow as the rows do.
func TestNoListsOfRows(t *testing.T) {
	list := regexp.MustCompile(`(?i)\bNOT\s+IN\s*\(\s*SELECT\b`)
	eachSQL(t, func(name string, text []byte) {
		if found := list.FindIndex(text); found != nil {
			t.Errorf("%s: %q: write ANTI JOIN, or LEFT JOIN and IS NULL", name, text[found[0]:min(found[1]+40, len(text))])
		}
	})
}

// The .sql files write out numbers that Go has as constants: each is the same in all of them.
func TestNumbersOfSQL(t *testing.T) {
	for _, number := range []struct {
		where *regexp.Regexp
		value float64
		least int // places
	}{
		{regexp.MustCompile(`\w*duration_s BETWEEN \S+ AND ([\d.]+e1\d)`), schema.LongestS, 12},
		{regexp.MustCompile(`\w*duration_s <= ([\d.]+e1\d)`), schema.LongestS, 4},
		{regexp.MustCompile(`duration_s (?:>|<=) ([\d.]+) \* (?:\w+\.)?(?:median|usual)_s`), schema.OutlierRatio, 4},
	} {
		places := 0
		eachSQL(t, func(name string, text []byte) {
			for _, m := range number.where.FindAllSubmatch(text, -1) {
				places++
				if v, err := strconv.ParseFloat(string(m[1]), 64); err != nil || v != number.value {
					t.Errorf("%s: %q, not %g", name, m[0], number.value)
				}
			}
		})
		if places < number.least {
			t.Errorf("%s is in %d places", number.where, places)
		}
	}
}

func eachSQL(t *testing.T, do func(name string, text []byte)) {
	t.Helper()
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
		do(name, text)
		return err
	})
	if err != nil || files < 30 {
		t.Errorf("%d files of SQL: %v", files, err)
	}
}
