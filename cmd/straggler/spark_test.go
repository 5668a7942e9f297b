package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/engine/spark/sparktest"
)

// The whole program on a cluster, which is started here and whose machines run this very binary. All tests share the server
// and do not harm it: copies that fail are tried four times.
func TestSpark(t *testing.T) {
	t.Parallel()
	o := sparktest.Options{Master: "local[2,4]"}
	buckets := sparkBuckets(t, &o)
	if o.Set == nil {
		o.Set = map[string]string{}
	}
	// Adaptive execution plans most of the hundreds of statements twice, to find that their rows need one partition. The tests of
	// package detect and of exactly-once writing use it.
	o.Set["spark.sql.adaptive.enabled"], o.Set["spark.sql.shuffle.partitions"] = "false", "1"
	server := sparktest.Engine(t, o)
	for name, run := range map[string]func(*testing.T){
		"engines agree": func(t *testing.T) { enginesAgree(t, server, false) },
		"columns agree": func(t *testing.T) { columnsAgree(t, server) },
		"verbs":         func(t *testing.T) { sparkVerbs(t, server) },
		"on a bucket":   func(t *testing.T) { sparkOnBucket(t, server, buckets) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each uses stores of its own
			run(t)
		})
	}
}

// columnsAgree tests that another Spark takes every statement and gives it the same columns. Where engines agree runs too, it
// says as much.
func columnsAgree(t *testing.T, server string) {
	if os.Getenv(sparktest.Variable) == "" {
		t.Skip("runs with " + sparktest.Variable)
	}
	enginesAgree(t, server, true)
}

// sparkVerbs tests the verbs with --engine.
func sparkVerbs(t *testing.T, server string) {
	c := newVerbCase(t, server)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *verbCase)
	}{
		{"ingest", spreadLogs}, {"causes", spreadCauses}, {"reports and audits", sparkReports}, {"a shard fails", spreadFailures},
		{"nothing to run", spreadNothing},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

type verbCase struct {
	binary, dir string
	server      string
	env         []string // added to the environment
}

func newVerbCase(t *testing.T, server string) *verbCase {
	t.Helper()
	binary, err := exec.LookPath("straggler") // put there by TestMain
	if err != nil {
		t.Fatal(err)
	}
	c := &verbCase{binary: binary, server: server, dir: t.TempDir()}
	if err := unpackInto(c.dir); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *verbCase) engine(binary, options string) string {
	return "--engine=" + c.server + "&binary=" + binary + options
}

// straggler runs a command line and returns both outputs.
func (c *verbCase) straggler(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(c.binary, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	got := 0
	var exit *exec.ExitError
	if e := cmd.Run(); errors.As(e, &exit) {
		got = exit.ExitCode()
	} else if e != nil {
		t.Fatal(e)
	}
	if got != code {
		t.Fatalf("straggler %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &out, &err)
	}
	return out.String(), err.String()
}

// tableRows returns the rows of a table as text, sorted.
func (c *verbCase) tableRows(t *testing.T, lake, table string) []string {
	t.Helper()
	out, _ := c.straggler(t, 0, "sql", "--store", lake, "SELECT * FROM "+table, "--as", "csv")
	lines := strings.Split(out, "\n")
	slices.Sort(lines)
	return lines
}

// spreadLogs: the machines of a cluster read the same as one process, and do not read it twice.
func spreadLogs(t *testing.T, c *verbCase) {
	c.straggler(t, 0, "ingest", filepath.Join(c.dir, "eventlogs"), "--store", "one") // absolute paths are passed to a cluster
	_, said := c.straggler(t, 0, "ingest", "eventlogs", "--store", "many", "--shards", "3", c.engine(c.binary, ""))
	if !strings.Contains(said, "2 logs read") {
		t.Errorf("ingest said %q", said)
	}
	for _, table := range []string{"applications", "phases", "attempts", "edges", "rejects"} {
		if one, many := c.tableRows(t, "one", table), c.tableRows(t, "many", table); !slices.Equal(one, many) {
			t.Errorf("%s: %d lines in one process and %d on a cluster, and not the same", table, len(one), len(many))
		}
	}
	if _, said := c.straggler(t, 0, "ingest", "eventlogs", "--store", "many", "--shards", "2", c.engine(c.binary, "")); !strings.Contains(said, "0 logs read, 2 already there") {
		t.Errorf("ingest again said %q", said)
	}
}

// lookedAt selects the columns of stage_history that both engines compute to the last bit; logarithms are not.
const lookedAt = "(SELECT phase_id, stage, ordinal, run_start_time, tasks, median_s, note FROM stage_history) AS h"

// spreadCauses: the machines of a cluster find the same outliers and causes as one process, to the last byte.
func spreadCauses(t *testing.T, c *verbCase) {
	tables := []string{"phase_stats", "outliers", "task_times", lookedAt, "attributions", "application_causes", "machine_health", "skew_repeats", "job_costs"}
	c.straggler(t, 0, "detect", "--store", "one")
	want, _ := c.straggler(t, 0, "causes", "--store", "one", "--as", "csv")
	rows := make(map[string][]string)
	for _, table := range tables {
		rows[table] = c.tableRows(t, "one", table)
	}
	if len(rows["attributions"]) < 20 {
		t.Fatalf("only %d attributions to compare", len(rows["attributions"]))
	}
	c.straggler(t, 0, "detect", "--store", "one", "--again", c.engine(c.binary, ""))
	got, _ := c.straggler(t, 0, "causes", "--again", "--store", "one", "--as", "csv", c.engine(c.binary, ""))
	if got != want {
		t.Errorf("in one process:\n%s\non a cluster:\n%s", want, got)
	}
	for _, table := range tables {
		if !slices.Equal(c.tableRows(t, "one", table), rows[table]) {
			t.Errorf("%s: other rows on a cluster than in one process", table)
		}
	}
}

// sparkReports: reports about a store are the same to the last byte with either engine.
func sparkReports(t *testing.T, c *verbCase) {
	lake := filepath.Join(c.dir, "reported")
	c.straggler(t, 0, "ingest", "eventlogs", "--store", lake)
	c.straggler(t, 0, "report", "--store", lake, "-o", "first.md") // writes the results that all others show
	for _, args := range [][]string{
		{"report", "--as", "json"}, {"report", "--as", "perfetto"}, // the other renderings are made from the JSON
		{"audit", "--baseline", "none.jsonl", "--as", "json"},
	} {
		args = append(args, "--store", lake)
		want, _ := c.straggler(t, 0, args...)
		got, _ := c.straggler(t, 0, append(args, c.engine(c.binary, ""))...)
		if got == want {
			continue
		}
		a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("%s: %d lines and %d on Spark; line %d is\n%.300s\nand on Spark\n%.300s", strings.Join(args, " "), len(a), len(b), i+1, a[i], b[i])
				break
			}
		}
	}
}

// script returns a program that runs a command before it becomes straggler.
func (c *verbCase) script(t *testing.T, before string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "straggler")
	if err := os.WriteFile(name, []byte(fmt.Sprintf("#!/bin/bash\n%s\nexec %s \"$@\"\n", before, c.binary)), 0o777); err != nil {
		t.Fatal(err)
	}
	return name
}

// spreadFailures: a copy that dies is started again; one that can never write, as on a full disk, does not affect other logs,
// and the logs of its shard are named.
func spreadFailures(t *testing.T, c *verbCase) {
	once := filepath.Join(t.TempDir(), "once")
	dies := c.script(t, "mkdir "+once+" 2>/dev/null && exit 3")
	if _, said := c.straggler(t, 0, "ingest", "eventlogs", "--store", "dying", "--shards", "2", c.engine(dies, "")); !strings.Contains(said, "2 logs read") {
		t.Errorf("after a copy that died, ingest said %q", said)
	}
	if _, err := os.Stat(once); err != nil {
		t.Error("no copy died")
	}
	for _, disk := range []func(*testing.T, *verbCase) fullDisk{limitedDisk, smallDisk} {
		c.fills(t, disk(t, c))
	}
}

// fullDisk is a store on a disk without space.
type fullDisk struct {
	lake   string
	binary string // which finds no space
	says   string
	grow   func() // makes space
}

// limitedDisk: copies may write a kilobyte, and the kernel refuses more, as on a full disk.
func limitedDisk(t *testing.T, c *verbCase) fullDisk {
	return fullDisk{"limited", c.script(t, "ulimit -f 1"), "file too large", func() {}}
}

// smallDisk returns a disk of 32 kB, which only root can make; others test the limit twice.
func smallDisk(t *testing.T, c *verbCase) fullDisk {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=32k", "none", dir).CombinedOutput(); err != nil {
		t.Logf("no small disk: %v: %s", err, out)
		disk := limitedDisk(t, c)
		disk.lake = filepath.Join(dir, "lake")
		return disk
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return fullDisk{filepath.Join(dir, "lake"), c.binary, "no space left on device", func() {
		if out, err := exec.Command("mount", "-o", "remount,size=64m", dir).CombinedOutput(); err != nil {
			t.Fatalf("remount: %v: %s", err, out)
		}
	}}
}

// fills: on a full disk no log is read, all are named and no store is left; once there is space, all are read.
func (c *verbCase) fills(t *testing.T, disk fullDisk) {
	out, said := c.straggler(t, 3, "ingest", "eventlogs", "--store", disk.lake, "--shards", "2", c.engine(disk.binary, ""))
	if !strings.Contains(said, disk.says) || strings.Count(out, "failed") != 2 || !strings.Contains(said, "2 of 2 logs") {
		t.Errorf("on a full disk ingest printed\n%s\nand said\n%s", out, said)
	}
	lake := disk.lake
	if !filepath.IsAbs(lake) {
		lake = filepath.Join(c.dir, lake)
	}
	if _, err := os.Stat(lake); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an ingest that read nothing left a store: %v", err)
	}
	disk.grow()
	if _, said := c.straggler(t, 0, "ingest", "eventlogs", "--store", disk.lake, "--shards", "2", c.engine(c.binary, "")); !strings.Contains(said, "2 logs read") {
		t.Errorf("with room again, ingest said %q", said)
	}
}

// spreadNothing: errors say what the cluster's machines lack.
func spreadNothing(t *testing.T, c *verbCase) {
	if _, said := c.straggler(t, 3, "ingest", "eventlogs", "--store", "none", c.engine("/nowhere/straggler", "")); !strings.Contains(said, "machines have no program /nowhere/straggler") {
		t.Errorf("without the program: %s", said)
	}
	if _, said := c.straggler(t, 4, "ingest", "eventlogs", "--store", "none", c.engine(c.binary, "&store=/nowhere/lake")); !strings.Contains(said, "this machine does not see the store") {
		t.Errorf("without the store: %s", said)
	}
	if _, said := c.straggler(t, 2, "copy", "observe", "--version", "another"); !strings.Contains(said, "install the same version on all machines") {
		t.Errorf("another version: %s", said)
	}
}
