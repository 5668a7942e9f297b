package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/engine/spark/sparktest"
)

// Executors write results themselves. What they write is in the store once and as one process finds it, although of every step one
// copy writes what it found and its executor is killed before Spark knows, and another writes and is so slow that Spark runs a
// second one beside it.
func TestSparkWritesOnce(t *testing.T) {
	server := sparktest.Start(t, sparktest.Options{Master: sparktest.Cluster(t, 2), Set: map[string]string{"spark.speculation": "true",
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
}
