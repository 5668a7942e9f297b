package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A read-only store can be reported on, audited and replayed, with results that are discarded afterwards; verbs that only
// write say what to do.
func TestStoreThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := unpackInto(dir); err != nil {
		t.Fatal(err)
	}
	straggler(t, dir, "ingest", "eventlogs", "--store", "lake")
	temp := filepath.Join(dir, ".tmp")
	run := func(args string) (stdout, stderr string, exit int) {
		t.Helper()
		cmd := exec.Command("sh", "-c", "exec straggler "+args)
		if os.Geteuid() == 0 { // file modes do not apply to root
			cmd = exec.Command("sh", "-c", "mount --bind lake lake && mount -o remount,bind,ro lake || exit 99; exec straggler "+args)
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		}
		var out, errs strings.Builder
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), "TMPDIR="+temp), &out, &errs
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 99 {
			t.Skipf("nothing can be made read-only here: %v: %s", err, errs.String())
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	os.Chmod(filepath.Join(dir, "lake"), 0o555)
	defer os.Chmod(filepath.Join(dir, "lake"), 0o777)
	for args, says := range map[string]string{
		"report --store lake":                         "What to do",
		"audit --store lake --baseline base.jsonl":    "no run to compare with yet",
		"whatif --store lake --policy late --seeds 1": "late",
	} {
		out, errs, exit := run(args)
		if exit != 0 || !strings.Contains(out, says) || !strings.Contains(errs, "lake cannot be written, so the results are not kept in it") {
			t.Errorf("straggler %s: exit code %d, %s\n%s", args, exit, errs, out)
		}
	}
	if _, errs, exit := run("detect --store lake"); exit != exitInternal || !strings.Contains(errs, "Name another") {
		t.Errorf("detect: exit code %d, %s", exit, errs)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "lake", "commits")); err != nil || len(left) != 1 {
		t.Errorf("commits of the store: %v, %v", left, err)
	}
}
