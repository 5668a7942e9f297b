package running

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/live/eventlog"
)

// Log is a log that is still being written.
type Log struct {
	Application string // its id
	Path        string // of the file, or of the directory of a rolling log; or a URL
}

// Logs returns the endpoint of the logs listed by written.
func Logs(written func() []Log, formats []ingest.Format, remote discover.Remote) Endpoint {
	return &logs{written: written, formats: formats, remote: remote, at: map[string]string{}}
}

type logs struct {
	written func() []Log
	formats []ingest.Format
	remote  discover.Remote
	at      map[string]string // paths, by application
}

func (e *logs) Name() string { return "the logs" }
func (e *logs) Logged() bool { return true }
func (e *logs) Close()       {}

func (e *logs) Running(context.Context) ([]string, error) {
	clear(e.at)
	var ids []string
	for _, l := range e.written() {
		if _, twice := e.at[l.Application]; !twice {
			e.at[l.Application] = l.Path
			ids = append(ids, l.Application)
		}
	}
	return ids, nil
}

func (e *logs) Open(id string) (Source, error) {
	path, ok := e.at[id]
	if !ok {
		return nil, fmt.Errorf("running: no log of %s", id)
	}
	return eventlog.New(bothNames(path), id, e.formats, e.remote), nil
}

// escapePattern escapes the special characters of patterns in a name.
var escapePattern = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// bothNames returns a pattern that matches the name of a log while it is being written and the name that Spark gives it at its
// end. In a bucket, whose names are not patterns, it returns the directory.
func bothNames(path string) string {
	final, written := strings.CutSuffix(path, ".inprogress")
	switch {
	case !written:
		return path
	case strings.Contains(path, "://"):
		return path[:strings.LastIndexByte(path, '/')]
	}
	return escapePattern.Replace(filepath.Clean(final)) + "*"
}
