package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"straggler/detect"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/engine/spark/sparktest"
)

// Executors write results themselves, into a directory or a bucket. The store has their results once and the same as from one
// process, although in every step one copy writes its results and fails before Spark knows, in one step since its executor is
// killed, and although in two steps another copy writes and is so slow that Spark runs a second one beside it.
func TestSparkWritesOnce(t *testing.T) {
	t.Parallel()
	o := sparktest.Options{Interpreted: true}
	buckets := sparkBuckets(t, &o)
	if o.Set == nil {
		o.Set = map[string]string{}
	}
	for name, value := range map[string]string{"": "true", ".interval": "100ms", ".multiplier": "1.1", ".quantile": "0.3", ".minTaskRuntime": "2s"} {
		o.Set["spark.speculation"+name] = value
	}
	o.Master = sparktest.Cluster(t, 2, 1)
	server := sparktest.Start(t, o)
	t.Run("directory", func(t *testing.T) {
		c := newVerbCase(t, server.Engine(""))
		same := c.writesOnce(t, "lake")
		t.Run("no room", c.noRoomOnCluster)
		t.Run("stopped", c.stoppedOnCluster)
		same()
	})
	t.Run("bucket", func(t *testing.T) {
		if buckets == nil {
			t.Skip("runs with " + s3aJars)
		}
		c := newVerbCase(t, server.Engine(""))
		c.env = buckets
		same := c.writesOnce(t, "s3://lakes/written")
		c.onlyNamed(t, "written/", "attributions", 1)
		c.stopped(t, "s3://lakes/written", os.Interrupt)
		c.onlyNamed(t, "written/", "attributions", 1)
		same()
	})
}

// writesOnce runs detect and causes on executors that die or are slow. It returns a function that checks that the tables are
// still those of one process.
func (c *verbCase) writesOnce(t *testing.T, lake string) (same func()) {
	c.straggler(t, 0, "ingest", "eventlogs", "--store", lake)
	c.straggler(t, 0, "detect", "--store", lake)
	c.straggler(t, 0, "causes", "--store", lake)
	tables := []string{"phase_stats", "outliers", "task_times", lookedAt, "attributions", "application_causes", "machine_health", "skew_repeats", "job_costs"}
	want := make(map[string][]string)
	for _, table := range tables {
		want[table] = c.tableRows(t, lake, table)
	}
	same = func() {
		t.Helper()
		for _, table := range tables {
			if got := c.tableRows(t, lake, table); !slices.Equal(got, want[table]) {
				t.Errorf("%s: %d lines from executors and %d from one process, and not the same", table, len(got), len(want[table]))
			}
		}
		c.straggler(t, 0, "store", "verify", "--store", lake)
	}
	faults := t.TempDir()
	faulty := filepath.Join(t.TempDir(), "straggler")
	if err := os.WriteFile(faulty, fmt.Appendf(nil, `#!/bin/bash
step=%s/$2
echo run >> $step
%s "$@" || exit
echo end >> $step-ended
if [[ $2 = observe=* || $2 = attribute ]] && mkdir $step-slow; then
  for ((i = 0; i < 1800; i++)); do [ $(wc -l <$step-ended) -ge 4 ] && break; sleep 0.1; done # until a copy that Spark began beside it has ended
  sleep 5 # in which Spark hears of it
elif mkdir $step-failed; then
  [ $2 = attribute ] || exit 1
  p=$PPID
  while [ "$(cat /proc/$p/comm)" != java ]; do p=$(awk '/^PPid/ {print $2}' /proc/$p/status); done
  kill -9 $p
fi 2>/dev/null
exit 0
`, faults, c.binary), 0o777); err != nil {
		t.Fatal(err)
	}
	// each of its steps has one copy, beside which no other is started
	c.straggler(t, 0, "detect", "--again", "--store", lake, c.engine(faulty, ""))
	c.straggler(t, 0, "causes", "--again", "--store", lake, c.engine(faulty, ""))
	same()
	steps, _ := filepath.Glob(faults + "/*-failed")
	for _, s := range steps {
		step := strings.TrimSuffix(s, "-failed")
		text, err := os.ReadFile(step)
		runs, least := bytes.Count(text, []byte("run")), 4
		if base := filepath.Base(step); base == detect.FiguresStep || strings.HasPrefix(base, copies.RowsStep) {
			least = 2
		}
		if err != nil || runs < least {
			t.Errorf("%s: %d runs of copies, of which one failed, and one of causes was slow, so that there should be %d: %v", step, runs, least, err)
		}
	}
	if slow, _ := filepath.Glob(faults + "/*-slow"); len(steps) != 5 || len(slow) != 2 {
		t.Errorf("copies failed in the steps %v, and slow in %v", steps, slow)
	}
	return same
}

// staged returns what transactions that are active, or were killed, have in the store.
func (c *verbCase) staged(t *testing.T, lake string) []string {
	if key, far := strings.CutPrefix(lake, "s3://lakes/"); far {
		return c.objects(t, key+"/staging/")
	}
	names, _ := filepath.Glob(filepath.Join(c.dir, lake, "staging", "*"))
	return names
}

// noRoomOnCluster: if executors may write only a kilobyte, as on a full disk, the verb fails with the reason and leaves
// nothing behind.
func (c *verbCase) noRoomOnCluster(t *testing.T) {
	_, said := c.straggler(t, exitInternal, "causes", "--again", "--store", "lake", c.engine(c.script(t, "ulimit -f 1"), ""))
	if left := c.staged(t, "lake"); !strings.Contains(said, "file too large") || len(left) > 0 {
		t.Errorf("where executors have no room it said %q and left %v", said, left)
	}
}

// stoppedOnCluster: Ctrl-C while executors work ends the program soon and leaves nothing; what a killed program leaves, the
// next one removes.
func (c *verbCase) stoppedOnCluster(t *testing.T) {
	c.stopped(t, "lake", os.Interrupt)
	c.stopped(t, "lake", os.Kill)
	if left := c.staged(t, "lake"); len(left) == 0 {
		t.Error("a program that was killed left nothing for the next to remove")
	}
	c.straggler(t, 0, "causes", "--again", "--store", "lake", c.engine(c.binary, ""))
	if left := c.staged(t, "lake"); len(left) > 0 {
		t.Errorf("after the next one there is still %v", left)
	}
}

// stopped sends the program a signal while executors work for it.
func (c *verbCase) stopped(t *testing.T, lake string, signal os.Signal) {
	// files that show when copies start, and when those that nobody waits for end
	begun, over := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "over")
	naps := c.script(t, "touch "+begun+"; for ((i = 0; i < 200; i++)); do [ -e "+over+" ] && exit; sleep 0.1; done")
	cmd := exec.Command(c.binary, "causes", "--again", "--store", lake, c.engine(naps, ""))
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for giveUp := time.Now().Add(3 * time.Minute); os.Remove(begun) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(giveUp) {
			cmd.Process.Kill()
			t.Fatalf("no copy ran: %v, %s", cmd.Wait(), &said)
		}
	}
	at := time.Now()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	took := time.Since(at)
	if err := os.WriteFile(over, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if signal != os.Interrupt {
		return
	}
	// The engine may take all of its closing time; the process ends after that, however loaded the machine is.
	if left := c.staged(t, lake); cmd.ProcessState.ExitCode() != exitInterrupted || said.String() != "straggler: interrupted\n" || took > 2*engine.ClosingTime || len(left) > 0 {
		t.Errorf("after Ctrl-C it ended after %v with code %d, said %q and left %v", took, cmd.ProcessState.ExitCode(), &said, left)
	}
}
