package main

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"

	"straggler/store"
)

// remoteSettings starts an S3 server on loopback with the labelled log mixed in the bucket logs and an empty bucket lakes,
// and returns the settings for it.
func remoteSettings(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/labelled/mixed/app-20261121033031-0011.zstd")
	if err != nil {
		t.Fatal(err)
	}
	backend := s3mem.New()
	for _, name := range []string{"logs", "lakes"} {
		if err := backend.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := backend.PutObject("logs", "spark/app-20261121033031-0011.zstd", nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close) // after the scripts, which run in parallel
	return map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "AKIASECRETSECRET0001",
		"AWS_SECRET_ACCESS_KEY": "topsecrettopsecret", "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"}
}

func TestRemoteScripts(t *testing.T) {
	settings := remoteSettings(t)
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "remote"), RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			for name, value := range settings {
				e.Setenv(name, value)
			}
			return furnish(e)
		}})
}

// Logs that appear one after the other are followed into a bucket, each in a commit, until Ctrl-C.
func TestFollowIntoBucket(t *testing.T) {
	for name, value := range remoteSettings(t) {
		t.Setenv(name, value)
	}
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	dir := t.TempDir()
	if err := unpackInto(dir); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "eventlogs", "*.zstd"))
	if err != nil || len(logs) != 2 {
		t.Fatalf("%d logs: %v", len(logs), err)
	}
	later := filepath.Join(dir, "later.zstd")
	if err := os.Rename(logs[1], later); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("straggler", "ingest", filepath.Dir(logs[0]), "--store", "s3://lakes/followed", "--follow", "1s")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	awaitCommits := func(want int) {
		for giveUp := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if st, err := store.Open(t.Context(), "s3://lakes/followed", store.Options{ReadOnly: true}); err == nil {
				if list, err := st.List(t.Context()); err == nil && len(list) == want {
					return
				}
			}
			if len(ended) > 0 || time.Now().After(giveUp) {
				cmd.Process.Kill()
				<-ended
				t.Fatalf("there were never %d commits; it said\n%s", want, &said)
			}
		}
	}
	awaitCommits(1)
	if err := os.Rename(later, logs[1]); err != nil {
		t.Fatal(err)
	}
	awaitCommits(2)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d; it said\n%s", err, exitInterrupted, &said)
	}
}
