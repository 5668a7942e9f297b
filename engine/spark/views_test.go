package spark

import (
	"errors"
	"strings"
	"testing"

	"straggler/store"
)

// A commit's columns become part of a statement: names only in quotes, and no invalid types.
func TestColumnsOfCommits(t *testing.T) {
	sql, err := filesView("`v`", []string{"task BIGINT", "a`b) USING csv -- STRING"}, []string{"file:/it's/a.parquet"})
	if err == nil {
		t.Errorf("a column of many words is let through: %s", sql)
	}
	sql, err = filesView("`v`", []string{"task BIGINT", "a`b STRING"}, []string{`file:/it's/\a.parquet`})
	if err != nil || !strings.Contains(sql, "(`task` BIGINT, `a``b` STRING, input_key BIGINT) USING parquet") || !strings.Contains(sql, `/it\'s/\\\\a.parquet`) {
		t.Errorf("%s, %v", sql, err)
	}
	for _, c := range []string{"task", "task ", "task bigint", "task BIGINT) USING csv OPTIONS (path '/etc/passwd') --", "task INT COMMENT 'x'", "task DECIMAL(3)"} {
		if _, err := filesView("`v`", []string{c}, nil); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%q: %v", c, err)
		}
	}
}
