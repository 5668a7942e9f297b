package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"straggler/engine/spark/sparktest"
)

// front forwards requests to a History Server, counts the requested logs, and breaks the connection in the middle of one of
// them.
type front struct {
	*httptest.Server
	logs, breaks atomic.Int32
}

func newFront(t *testing.T, address string) *front {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/logs") && f.logs.Add(1) == f.breaks.Load() {
			answer, err := http.Get(address + r.URL.Path)
			if err == nil {
				io.CopyN(w, answer.Body, 5000)
				answer.Body.Close()
			}
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// awaitHistory waits until a History Server lists the given number of attempts, of which so many are completed.
func awaitHistory(t *testing.T, address string, attempts, completed int) {
	t.Helper()
	for giveUp := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		var list []struct{ Attempts []struct{ Completed bool } }
		answer, err := http.Get(address + "/api/v1/applications")
		if err == nil {
			err = json.NewDecoder(answer.Body).Decode(&list)
			answer.Body.Close()
		}
		all, ended := 0, 0
		for _, app := range list {
			for _, a := range app.Attempts {
				all++
				if a.Completed {
					ended++
				}
			}
		}
		if all == attempts && ended == completed {
			return
		}
		if time.Now().After(giveUp) {
			t.Fatalf("the History Server has %d attempts, of which %d have ended, and not %d and %d: %v", all, ended, attempts, completed, err)
		}
	}
}

// A real History Server has a log in one file, a rolling one, two attempts of one application, and a log that is still being
// written. Completed logs are downloaded and read as from their directory, by a command that is interrupted and one that
// downloads only what is missing; the log still being written is read if it is named, and again after it has grown. A
// completed application is watched to its end.
func TestRealHistoryServer(t *testing.T) {
	sparktest.Home(t)
	t.Parallel()
	const labelled, twice, growing = "../../testdata/labelled/", "application_1795233158569_0007", "app-20261122000000-0001"
	logs := t.TempDir()
	for _, run := range []string{"rolling", "clean"} {
		if err := os.CopyFS(logs, os.DirFS(labelled+run)); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(logs, "truth.json"))
	}
	const plainID = "app-20261121035239-0000"
	data, err := os.ReadFile(labelled + "plain/" + plainID)
	if err != nil {
		t.Fatal(err)
	}
	plain := string(data)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(logs, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, attempt := range []string{"1", "2"} {
		text := strings.ReplaceAll(plain, plainID, twice)
		write(twice+"_"+attempt, strings.Replace(text, `"User":"root"}`, `"User":"root","App Attempt ID":"`+attempt+`"}`, 1))
	}
	folder := filepath.Join(t.TempDir(), "folder")
	if _, errs, code := runWatched(t, "ingest", logs, "--store", folder); code != 0 {
		t.Fatal(errs)
	}
	grown := strings.ReplaceAll(plain, plainID, growing)
	write(growing+".inprogress", grown[:len(grown)/2])
	server := sparktest.History(t, logs)
	awaitHistory(t, server, 5, 4)
	f := newFront(t, server)

	lake, cache := filepath.Join(t.TempDir(), "lake"), t.TempDir()
	ingest := func(address string, code int, says ...string) {
		t.Helper()
		_, errs, got := runWatched(t, "ingest", address, "--store", lake, "--cache", cache)
		for _, s := range says {
			if got != code || !strings.Contains(errs, s) {
				t.Errorf("exit %d, and not %q\n%s", got, s, errs)
			}
		}
	}
	query := func(store, sql string) string {
		t.Helper()
		out, errs, code := runWatched(t, "sql", "--store", store, sql, "--as", "csv")
		if code != 0 {
			t.Fatal(errs)
		}
		return out
	}
	f.breaks.Store(3)
	ingest(f.URL, exitInput, "broke off after", "3 logs read", "left out: 1 application", f.URL+"/"+growing)
	ingest(f.URL, 0, "1 log read", "3 already there")
	if n := f.logs.Load(); n != 5 {
		t.Errorf("%d downloads of 4 logs, one of which broke off", n)
	}
	const rows = `SELECT a.native_id, a.start_time, a.complete, p.native_id AS stage, t.* EXCLUDE (attempt_id, phase_id, job_id, application_id)
		FROM applications a JOIN attempts t USING (application_id) JOIN phases p USING (phase_id) ORDER BY ALL`
	if got, want := query(lake, rows), query(folder, rows); got != want || strings.Count(got, "\n") < 800 {
		t.Errorf("%d lines of attempts, and from the folder %d others", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}

	const complete = "SELECT complete FROM applications WHERE native_id = '" + growing + "'"
	ingest(f.URL+"/"+growing, 0, "1 log read")
	if got := query(lake, complete); got != "complete\nfalse\n" {
		t.Errorf("a log that is still written: %s", got)
	}
	write(growing, grown)
	os.Remove(filepath.Join(logs, growing+".inprogress"))
	awaitHistory(t, server, 5, 5)
	ingest(f.URL, 0, "1 log read", "4 already there")
	if got := query(lake, complete); got != "complete\ntrue\n" {
		t.Errorf("and when it has ended: %s", got)
	}

	if out, errs, code := runWatched(t, "report", f.URL+"/"+twice, "--cache", cache); code != 0 || !strings.Contains(out, "Stragglers cost") {
		t.Errorf("report: exit %d\n%s%s", code, out, errs)
	}
	out, errs, code := runWatched(t, "watch", f.URL+"/"+twice)
	if code != 0 || !strings.Contains(out, "watching plain ("+twice+")") || !strings.Contains(out, "the application has ended") ||
		!strings.Contains(out, "Stragglers cost") {
		t.Errorf("watch: exit %d\n%s%s", code, out, errs)
	}
	if _, errs, code := runWatched(t, "watch", f.URL); code != exitUse ||
		!strings.Contains(errs, "no application runs at "+f.URL+"; name one that has ended with --app: ") {
		t.Errorf("watch of a server where nothing runs: exit %d\n%s", code, errs)
	}
}
