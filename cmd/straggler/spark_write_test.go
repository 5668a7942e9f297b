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

	"straggler/engine"
	"straggler/engine/spark/sparktest"
)

// Executors write results themselves. What they write is in the store once and as one process finds it, although of every step one
// copy writes what it found and its executor is killed before Spark knows, and another writes and is so slow that Spark runs a
// second one beside it.
func TestSparkWritesOnce(t *testing.T) {
	t.Parallel()
	server := sparktest.Start(t, sparktest.Options{Master: sparktest.Cluster(t, 2, 1), Interpreted: true, Set: map[string]string{"spark.speculation": "true",
		"spark.speculation.interval": "100ms", "spark.speculation.multiplier": "1.1", "spark.speculation.quantile": "0.3", "spark.speculation.minTaskRuntime": "2s"}})
	c := newVerbCase(t, server.Engine(""))
	c.straggler(t, 0, "ingest", "eventlogs", "--store", "lake")
	c.straggler(t, 0, "detect", "--store", "lake")
	c.straggler(t, 0, "causes", "--store", "lake")
	tables := []string{"attributions", "machine_health", "skew_repeats", "job_costs"}
	want := make(map[string][]string)
	for _, table := range tables {
		want[table] = c.tableRows(t, "lake", table)
	}
	faults := t.TempDir()
	faulty := filepath.Join(t.TempDir(), "straggler")
	if err := os.WriteFile(faulty, fmt.Appendf(nil, `#!/bin/bash
step=%s/$2
echo run >> $step
%s "$@" || exit
if [[ $2 != rows=* ]] && mkdir $step-slow; then sleep 40
elif mkdir $step-killed; then
  p=$PPID
  while [ "$(cat /proc/$p/comm)" != java ]; do p=$(awk '/^PPid/ {print $2}' /proc/$p/status); done
  kill -9 $p
fi 2>/dev/null
exit 0
`, faults, c.binary), 0o777); err != nil {
		t.Fatal(err)
	}
	c.straggler(t, 0, "causes", "--again", "--store", "lake", c.engine(faulty, ""))
	for _, table := range tables {
		if got := c.tableRows(t, "lake", table); !slices.Equal(got, want[table]) {
			t.Errorf("%s: %d lines from executors and %d from one process, and not the same", table, len(got), len(want[table]))
		}
	}
	steps, _ := filepath.Glob(faults + "/*-killed")
	for _, s := range steps {
		step := strings.TrimSuffix(s, "-killed")
		text, err := os.ReadFile(step)
		runs, least := bytes.Count(text, []byte("run")), 4
		if err != nil || runs < least {
			t.Errorf("%s: %d runs of copies, of which one was killed and one was slow, so that there should be %d: %v", step, runs, least, err)
		}
	}
	if slow, _ := filepath.Glob(faults + "/*-slow"); len(steps) != 2 || len(slow) != 2 {
		t.Errorf("copies were killed in the steps %v, and slow in %v", steps, slow)
	}
	c.straggler(t, 0, "store", "verify", "--store", "lake")
	t.Run("no room", c.noRoomOnCluster)
	t.Run("stopped", c.stoppedOnCluster)
	for _, table := range tables {
		if got := c.tableRows(t, "lake", table); !slices.Equal(got, want[table]) {
			t.Errorf("%s: %d lines after all that, and %d before", table, len(got), len(want[table]))
		}
	}
	c.straggler(t, 0, "store", "verify", "--store", "lake")
}

// staged is what transactions that are under way, or were killed, have in the store.
func (c *verbCase) staged() []string {
	names, _ := filepath.Glob(filepath.Join(c.dir, "lake", "staging", "*"))
	return names
}

// noRoomOnCluster: executors that may write a kilobyte, as on a full disk, end the verb with the reason, and nothing is left of it.
func (c *verbCase) noRoomOnCluster(t *testing.T) {
	_, said := c.straggler(t, exitInternal, "causes", "--again", "--store", "lake", c.engine(c.script(t, "ulimit -f 1"), ""))
	if !strings.Contains(said, "file too large") || len(c.staged()) > 0 {
		t.Errorf("where executors have no room it said %q and left %v", said, c.staged())
	}
}

// stoppedOnCluster: Ctrl-C while executors work ends the program soon and leaves nothing; what a killed one leaves, the next removes.
func (c *verbCase) stoppedOnCluster(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		begun, over := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "over") // when copies that nobody waits for end
		naps := c.script(t, "touch "+begun+"; for ((i = 0; i < 200; i++)); do [ -e "+over+" ] && exit; sleep 0.1; done")
		cmd := exec.Command(c.binary, "causes", "--again", "--store", "lake", c.engine(naps, ""))
		cmd.Dir = c.dir
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
		if err := os.WriteFile(over, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(at); signal == os.Interrupt && (cmd.ProcessState.ExitCode() != exitInterrupted || said.String() != "straggler: interrupted\n" || took > engine.ClosingTime || len(c.staged()) > 0) {
			t.Errorf("after Ctrl-C it ended after %v with code %d, said %q and left %v", took, cmd.ProcessState.ExitCode(), &said, c.staged())
		}
	}
	if len(c.staged()) != 1 {
		t.Errorf("a program that was killed left %v", c.staged())
	}
	c.straggler(t, 0, "causes", "--again", "--store", "lake", c.engine(c.binary, ""))
	if len(c.staged()) > 0 {
		t.Errorf("after the next one there is still %v", c.staged())
	}
}
