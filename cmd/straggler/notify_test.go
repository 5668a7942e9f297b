package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"straggler/notify"
)

// A finding is sent once, a clean night never. An undelivered message does not change the exit code, does not show an
// address, and is sent again the next time. The metrics of the same night are written too.
func TestAuditNotifies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(folder, label string, day int) {
		data, err := nightLog("../../testdata/labelled/"+label, label, "nightly", day)
		if err != nil {
			t.Fatal(err)
		}
		os.Mkdir(filepath.Join(dir, folder), 0o777)
		if err := os.WriteFile(filepath.Join(dir, folder, fmt.Sprint(day)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for day := 1; day <= 5; day++ {
		write("good", "clean", day)
		write("bad", "clean", day)
	}
	write("good", "clean", 6)
	write("bad", "bad-machine", 6)
	var mu sync.Mutex
	var got []string
	code := 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var m struct{ Changes []notify.Change }
		json.NewDecoder(r.Body).Decode(&m)
		for _, c := range m.Changes {
			got = append(got, string(c.State)+" "+c.Subject)
		}
		w.WriteHeader(code)
	}))
	defer server.Close()
	audit := func(folder string, answer int) (stderr string, exit int) {
		got, code = nil, answer
		cmd := exec.Command("straggler", "audit", folder, "--baseline", "base.jsonl", "--notify", "json", "--openmetrics", "straggler.prom")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), notify.Variable+"="+server.URL+"/SECRET")
		var err strings.Builder
		cmd.Stderr = &err
		cmd.Run()
		return err.String(), cmd.ProcessState.ExitCode()
	}
	if errs, exit := audit("good", 200); exit != 0 || len(got) > 0 {
		t.Fatalf("a clean night: exit %d, told %q\n%s", exit, got, errs)
	}
	errs, exit := audit("bad", 403)
	if exit != 1 || !strings.Contains(errs, "not delivered") || strings.Contains(errs, "SECRET") {
		t.Errorf("not delivered: exit %d\n%s", exit, errs)
	}
	if errs, exit = audit("bad", 200); exit != 1 || !strings.Contains(strings.Join(got, "\n"), "open bad_machine: nightly: machine m03") {
		t.Errorf("delivered: exit %d, told %q\n%s", exit, got, errs)
	}
	if errs, exit = audit("bad", 200); exit != 1 || len(got) > 0 {
		t.Errorf("the same again: exit %d, told %q\n%s", exit, got, errs)
	}
	metrics, err := os.ReadFile(filepath.Join(dir, "straggler.prom"))
	if err != nil || !strings.Contains(string(metrics), `straggler_machine_factor{machine="m03",`) || !strings.Contains(string(metrics), `cause="bad_machine"`) {
		t.Errorf("%v\n%s", err, metrics)
	}
	cmd := exec.Command("straggler", "audit", "bad", "--baseline", "base.jsonl", "--notify", "json")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), notify.Variable+"=SECRET")
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || strings.Contains(string(out), "SECRET") {
		t.Errorf("no address: exit %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
}
