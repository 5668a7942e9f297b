// Package storetest provides tests of stores and engines with rows to store, and describes the contents of directories. It does
// not depend on package store, so that the tests inside it can use it too.
package storetest

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"straggler/schema"
)

// Attempts makes n rows of an input, a third of whose nullable values are NULL, over several phases.
func Attempts(input schema.Key, n int) []schema.Attempt {
	ids, phases := schema.NewKeys(input, "attempts"), schema.NewKeys(input, "phases")
	rows := make([]schema.Attempt, n)
	for i := range rows {
		rows[i] = schema.Attempt{AttemptID: ids.Next(), PhaseID: phases.Nth(int64(i/7) % 5), JobID: 1, ApplicationID: 2, Task: int64(i),
			Number: int32(i % 3), NativeID: fmt.Sprint("task_", i), Status: schema.Success, Recompute: i%5 == 0, Quality: schema.Quality(i % 4)}
		if i%3 == 0 {
			continue
		}
		r := &rows[i]
		r.Machine = schema.Some(fmt.Sprint("machine-", i%100))
		r.StartTime = schema.Some(schema.FromMillis(1700000000000 + int64(i)*10))
		r.DurationS = schema.Some(float64(i) / 8)
		r.Speculative = schema.Some(i%2 == 0)
		r.Locality = schema.Some(schema.NodeLocal)
		r.InputBytes = schema.Some(int64(i) * 1000)
	}
	return rows
}

// ParquetFile returns the first Parquet file of a directory.
func ParquetFile(t testing.TB, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(names) == 0 {
		t.Fatal("no Parquet file in", dir, err)
	}
	return names[0]
}

// Tree returns a text of all files under a directory with their sizes, modes and modification times.
func Tree(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&out, strings.TrimPrefix(path, dir), info.Size(), info.Mode(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
