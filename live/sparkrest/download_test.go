package sparkrest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/schema"
)

// packed returns a log packed as by a History Server, under a name.
func packed(t *testing.T, name string) []byte {
	t.Helper()
	paths, _ := filepath.Glob("../../testdata/labelled/clean/*.zstd")
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, _ := z.Create(name)
	f.Write(data)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func downloads(t *testing.T, s *livetest.Server, app, dir string) (out []sparkrest.Download, err error) {
	t.Helper()
	err = sparkrest.Logs(context.Background(), client(t, s.URL, rest.Options{}), app, dir, func(d sparkrest.Download) { out = append(out, d) })
	return out, err
}

// A log is downloaded once; an interrupted download leaves nothing and is repeated by the next call; a driver has no logs.
func TestLogs(t *testing.T) {
	trace := log(t, "clean")
	s := livetest.New(t, trace)
	dir := t.TempDir()
	if got, err := downloads(t, s, "", dir); err != nil || len(got) != 1 || !got[0].Unended || got[0].Path != "" {
		t.Errorf("an application that runs: %v, %v", got, err)
	}
	s.Set(s.End())
	if got, err := downloads(t, s, "", dir); err != nil || len(got) != 1 || !errors.Is(got[0].Err, live.ErrGone) {
		t.Errorf("a server without logs: %v, %v", got, err)
	}
	s.Zip = packed(t, "app.zstd")
	s.Fault = func(w http.ResponseWriter, r *http.Request) {
		if filepath.Base(r.URL.Path) == "logs" {
			w.Write(s.Zip[:len(s.Zip)/2])
		}
	}
	if got, err := downloads(t, s, "", dir); err != nil || len(got) != 1 || !errors.Is(got[0].Err, live.ErrAway) {
		t.Errorf("a log that breaks off: %v, %v", got, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	s.Fault = nil
	for _, there := range []bool{false, true} {
		got, err := downloads(t, s, trace.Applications[0].NativeID, dir)
		if err != nil || len(got) != 1 || got[0].Err != nil || got[0].There != there {
			t.Fatalf("there %v: %+v, %v", there, got, err)
		}
		if data, _ := os.ReadFile(got[0].Path); !bytes.Equal(data, s.Zip) {
			t.Error("another file")
		}
	}
	if _, err := downloads(t, s, "../../etc/passwd", dir); !errors.Is(err, live.ErrGone) {
		t.Errorf("an unknown application: %v", err)
	}
}

// Logs downloaded while an application was running are downloaded again, while it runs and after it has ended.
func TestLogsOfTheUnended(t *testing.T) {
	trace := log(t, "clean")
	s := livetest.New(t, trace)
	id, dir := trace.Applications[0].NativeID, t.TempDir()
	whole := packed(t, "app")
	for _, step := range []struct {
		name  string
		at    schema.Time
		zip   []byte
		there bool
	}{
		{"while it runs", s.Start().Add(20), packed(t, "app.inprogress"), false},
		{"later", s.Start().Add(30), packed(t, "eventlog_v2_app/appstatus_app.inprogress"), false},
		{"at its end", s.End(), whole, false},
		{"after its end", s.End(), whole, true},
	} {
		s.Zip = step.zip
		s.Set(step.at)
		got, err := downloads(t, s, id, dir)
		if err != nil || len(got) != 1 || got[0].Err != nil || got[0].There != step.there {
			t.Fatalf("%s: %+v, %v", step.name, got, err)
		}
		if data, _ := os.ReadFile(got[0].Path); !bytes.Equal(data, step.zip) {
			t.Errorf("%s: another file", step.name)
		}
	}
}
