package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/store"
	"straggler/table"
)

// fetched replaces the addresses of History Servers among the names of logs by downloaded files. Failed downloads are reported;
// their error is returned separately, for use after the rest has been read.
func (e *env) fetched(ctx context.Context, logs []string) (local []string, missing error, err error) {
	bad := 0
	for _, name := range logs {
		if !isServer(name) {
			local = append(local, name)
			continue
		}
		files, failed, err := e.fetchHistory(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		local, bad = append(local, files...), bad+failed
	}
	if bad > 0 {
		missing = fmt.Errorf("%w: %s could not be downloaded; the rest is read", errUnread, count(int64(bad), "log"))
		if len(local) == 0 {
			return nil, nil, fmt.Errorf("%w: %s could not be downloaded", errUnread, count(int64(bad), "log"))
		}
	}
	return local, missing, nil
}

// fetchHistory downloads the logs of a History Server that have not been downloaded yet.
func (e *env) fetchHistory(ctx context.Context, address string) (files []string, failed int, err error) {
	server, app := splitApplication(address)
	credentials, err := rest.ReadCredentials("", os.Getenv)
	if err != nil {
		return nil, 0, useError("%v", err)
	}
	c, err := rest.New(server, sparkrest.API,
		rest.Options{Credentials: credentials, CAFile: os.Getenv("STRAGGLER_REST_CA"), Pause: 100 * time.Millisecond, Share: 1})
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	dir, err := e.historyCache(c.Address())
	if err != nil {
		return nil, 0, err
	}
	defer e.step("downloading logs")()
	var unended []string
	err = sparkrest.Logs(ctx, c, app, dir, func(d sparkrest.Download) {
		switch {
		case d.Err != nil:
			failed++
			e.say("straggler: %s: %s", table.Printable(d.Application), oneMessage(d.Err))
		case d.Unended:
			unended = append(unended, d.Application)
		default:
			files = append(files, d.Path)
		}
	})
	if n := len(unended); n > 0 {
		e.say("left out: %s that the server knows no end of, since its driver runs or died; to read what there is, name one: %s/%s",
			count(n, "application"), c.Address(), table.Printable(unended[0]))
	}
	if err == nil && len(files) == 0 && failed == 0 {
		err = fmt.Errorf("%w: %s has no application that has ended", errUnread, c.Address())
	}
	return files, failed, err
}

// historyCache returns the directory for the logs of a server.
func (e *env) historyCache(server string) (string, error) {
	dir, err := store.CacheDir(e.cache)
	if err != nil {
		return "", useError("downloaded logs need a directory: %v", err)
	}
	name := strings.Map(func(r rune) rune {
		if r == ':' || r == '/' {
			return '_'
		}
		return r
	}, server)
	return filepath.Join(dir, "history", name), nil
}
