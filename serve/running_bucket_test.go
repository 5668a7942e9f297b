package serve_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"straggler/ingest/discover"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/live/livetest"
	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog"
	"straggler/serve/catalog/catalogtest"
	"straggler/serve/running"
	"straggler/store"
)

// bucket shows a directory as a bucket does: appends are not visible as such, only the current content of an object.
type bucket struct{ dir string }

func (b bucket) Open(_ context.Context, url string) (discover.Tree, string, error) {
	return bucketTree(b), strings.Trim(strings.TrimPrefix(url, "s3://logs"), "/"), nil
}

type bucketTree struct{ dir string }

func (b bucketTree) URL(path string) string { return "s3://logs/" + path }

func (b bucketTree) entry(path string, info fs.FileInfo) discover.TreeEntry {
	return discover.TreeEntry{Path: path, Dir: info.IsDir(), Size: info.Size(), Modified: info.ModTime()}
}

func (b bucketTree) Stat(_ context.Context, path string, _ bool) (discover.TreeEntry, error) {
	info, err := os.Stat(filepath.Join(b.dir, path))
	if err != nil {
		return discover.TreeEntry{}, err
	}
	return b.entry(path, info), nil
}

func (b bucketTree) List(_ context.Context, dir string) (out []discover.TreeEntry, err error) {
	list, err := os.ReadDir(filepath.Join(b.dir, dir))
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			out = append(out, b.entry(strings.TrimPrefix(dir+"/"+e.Name(), "/"), info))
		}
	}
	return out, err
}

func (b bucketTree) Open(_ context.Context, e discover.TreeEntry) (io.ReadCloser, error) {
	return os.Open(filepath.Join(b.dir, e.Path))
}

func (b bucketTree) OpenAt(_ context.Context, e discover.TreeEntry) (io.ReaderAt, io.Closer, error) {
	f, err := os.Open(filepath.Join(b.dir, e.Path))
	return f, f, err
}

// A log that grows in a bucket is read repeatedly. Its application is listed as running, with a page of its stages, and gets
// its usual page when the log has its end and its final name.
func TestRunningInBucket(t *testing.T) {
	path := catalogtest.Labelled(t, "..", "plain")[0]
	data, err := os.ReadFile(path)
	reporttest.Check(t, err)
	id := livetest.Log(t, path).Applications[0].NativeID
	in := bucket{t.TempDir()}
	written := filepath.Join(in.dir, "events", id+".inprogress")
	reporttest.Check(t, os.Mkdir(filepath.Dir(written), 0o777))
	cut := strings.LastIndexByte(string(data[:len(data)/2]), '\n') + 1
	reporttest.Check(t, os.WriteFile(written, data[:cut], 0o666))
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	t.Cleanup(func() { st.Close() })
	c := changing(t, st, catalog.Options{Logs: []string{"s3://logs/events/"}, Formats: formats.All(), Ingest: run.Options{Remote: in}})
	t.Cleanup(func() { c.Close() })
	b := running.New(running.Options{Endpoints: []running.Endpoint{running.Logs(func() (logs []running.Log) {
		for _, a := range c.Written() {
			logs = append(logs, running.Log{Application: a.NativeID, Path: a.SourceFile})
		}
		return logs
	}, formats.All(), in)}, Every: 50 * time.Millisecond})
	s, err := serve.New(c, serve.Options{Listen: "127.0.0.1:8080", Version: "test", Running: b})
	reporttest.Check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- c.Run(ctx) }()
	go func() { b.Run(ctx); ended <- nil }()
	h := s.Handler()
	within(t, h, "/running/"+id, func(_ int, body string) bool {
		return strings.Contains(body, ">Stage ")
	})
	within(t, h, "/", func(_ int, body string) bool { return strings.Contains(body, `href="/running/`+id+`"`) })
	reporttest.Check(t, os.WriteFile(written, data, 0o666))
	reporttest.Check(t, os.Rename(written, filepath.Join(filepath.Dir(written), id)))
	within(t, h, "/running/"+id, func(code int, _ string) bool { return code == 302 })
	within(t, h, "/api/v1/applications/"+id, func(_ int, body string) bool { return strings.Contains(body, `"completed":true`) })
	cancel()
	for range 2 {
		reporttest.Check(t, <-ended)
	}
}
