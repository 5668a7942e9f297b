package run_test

import (
	"path/filepath"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/store"
)

// shards returns a format whose logs are the tables of a directory, each in its own directory.
func shards() ingest.Format {
	f := toy()
	f.Name = "shards"
	f.Claim = func(d ingest.Dir) []ingest.Group {
		var g ingest.Group
		for _, sub := range d.Names {
			if sub != "jobs/" && sub != "tasks/" {
				continue
			}
			for _, name := range d.List(sub) {
				if strings.HasPrefix(name, "part-") {
					g.Names = append(g.Names, sub+name)
				}
			}
		}
		return []ingest.Group{g}
	}
	return f
}

func TestClaims(t *testing.T) {
	trace := map[string][]byte{
		"trace/jobs/part-0":       toyLog("trace", 1),
		"trace/jobs/part-1":       []byte("run a\n"),
		"trace/jobs/SCHEMA":       []byte("no log"),
		"trace/tasks/part-0":      []byte("run b\nrun c\n"),
		"trace/tasks/extra/x.log": toyLog("extra", 1),
		"trace/other/part-0":      toyLog("other", 1),
		"liar.toys/part1":         []byte("these names are those of a toy\n"),
		"liar.toys/part2":         toyLog("honest", 1),
		"gone.toys/DONE":          nil,
		"log.toys/part1":          toyLog("log", 1),
		"log.toys/part2-rolled":   []byte("run z\n"),
	}
	dir := tree(t, trace)
	var members []entry
	for name, data := range trace {
		members = append(members, entry{name, data})
	}
	archive := tree(t, map[string][]byte{"all.zip": zipped(t, members...)})
	for _, root := range []string{dir, archive} {
		st := newStore(t)
		s, err := run.Run(t.Context(), st, []ingest.Format{shards(), alone()}, []string{root}, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want(t, attempts(t, st), []string{"extra 1", "honest 1", "log 2", "other 1", "trace 4"})
		if s.Count(run.Read) != 5 || s.Count(run.NotRecognised) != 3 || s.Count(run.Failed) != 0 {
			t.Errorf("%v", statuses(root, s))
		}
	}
}

// alone is toy for logs without a common directory: it is never as confident as shards.
func alone() ingest.Format {
	f := toy()
	f.Sniff = func(h ingest.Head) ingest.Match {
		m := sniffToy(h)
		if m.Confidence > 0 {
			m.Confidence = 2
		}
		return m
	}
	return f
}

// Files named one by one are grouped too; a panic in a format's rules does not end the run.
func TestClaimsOfNamedFiles(t *testing.T) {
	dir := tree(t, map[string][]byte{"c.toys/part1": toyLog("c", 1), "c.toys/part2": []byte("run x\n"), "c.toys/part3": []byte("run y\n")})
	st := newStore(t)
	mustRun(t, st, run.Options{}, dir+"/c.toys/part2", dir+"/c.toys/part1")
	want(t, attempts(t, st), []string{"c 2"})

	breaks := toy()
	breaks.Claim = func(ingest.Dir) []ingest.Group { panic("names") }
	breaks.Sniff = func(ingest.Head) ingest.Match { panic("bytes") }
	s, err := run.Run(t.Context(), st, []ingest.Format{breaks}, []string{dir}, run.Options{})
	if err == nil || s.Count(run.Failed) == 0 {
		t.Errorf("error %v, %v", err, statuses(dir, s))
	}
}

// A store among the logs is not read as logs.
func TestStoreAmongLogs(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.log": toyLog("a", 1)})
	st, err := store.Open(t.Context(), filepath.Join(dir, "lake"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, st, run.Options{}, dir)
	s := mustRun(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"a.log already there", "lake not recognised"})
}
