package serve_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"straggler/ingest"
	"straggler/ingest/spark"
	"straggler/report/reporttest"
	"straggler/serve/catalog/catalogtest"
	"straggler/store"
)

// If the disk is full, the page says so and keeps what it had; once there is space the log is read without further action.
// The disk is real: a small one in memory, which this test mounts in a process with its own namespace, if it may.
func TestFullDisk(t *testing.T) {
	disk := os.Getenv("STRAGGLER_TEST_DISK")
	if disk == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		c.Env = append(os.Environ(), "STRAGGLER_TEST_DISK="+t.TempDir())
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
		out, err := c.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Skipf("a process cannot have a namespace of its own here: %v", err)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)
	dir := t.TempDir()
	st, err := store.Open(t.Context(), filepath.Join(disk, "lake"), store.Options{})
	reporttest.Check(t, err)
	defer st.Close()
	copied(t, catalogtest.Labelled(t, "..", "skew")[0], filepath.Join(dir, "first.zstd"))
	h, c, stop := watching(t, st, dir, []ingest.Format{spark.Format()})
	shows(t, h, "/", `id="applications"`)
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	copied(t, catalogtest.Labelled(t, "..", "mixed")[0], filepath.Join(dir, "second.zstd"))
	body := shows(t, h, "/", "The disk is full")
	if !strings.Contains(body, "skew") {
		t.Errorf("the application that was read before is gone: %s", body)
	}
	apps, _ := c.Applications()
	if len(apps) != 1 {
		t.Fatalf("%d applications on a full disk", len(apps))
	}
	reporttest.Check(t, os.Remove(filler))
	shows(t, h, "/", "mixed")
	reporttest.Check(t, stop())
	if found, err := st.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v: %+v", err, found)
	}
}
