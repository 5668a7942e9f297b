package sparkrest

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"straggler/live"
	"straggler/live/rest"
)

// Download is the result for the log of one attempt of an application.
type Download struct {
	Application, Attempt string
	Path                 string // of the directory or archive that contains it; "" if it failed
	There                bool   // it had been downloaded before
	Unended              bool   // it was left out: it is running, or its driver ended without a final event
	Err                  error
}

// Logs downloads the event logs of an application of a History Server, or of all ended applications if none is named, into a
// directory: a zip file per attempt, as the server packs it. Existing files are kept, unless they were downloaded while the
// application was running. An interrupted download leaves nothing under its name, so repeating the call fetches what is
// missing. Attempts whose log the server lacks are in the result with their error.
func Logs(ctx context.Context, c *rest.Client, app, dir string, each func(Download)) error {
	list, err := ended(ctx, c, app)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i := range list {
		for _, a := range list[i].Attempts {
			d := Download{Application: list[i].ID, Attempt: a.AttemptID, Unended: app == "" && !a.Completed}
			if d.Unended {
				each(d)
				continue
			}
			d.Path, d.There, d.Err = download(ctx, c, dir, list[i].ID, a)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(d.Err, rest.ErrForbidden) {
				return d.Err
			}
			each(d)
		}
	}
	return nil
}

// ended lists the applications whose logs are requested.
func ended(ctx context.Context, c *rest.Client, app string) ([]application, error) {
	if app != "" {
		var one application
		err := c.Get(ctx, "applications/"+url.PathEscape(app), nil, &one)
		if errors.Is(err, rest.ErrNotFound) {
			return nil, fmt.Errorf("%w: %s knows no application %s", live.ErrGone, c.Address(), app)
		}
		return []application{one}, err
	}
	var list []application
	if err := c.Get(ctx, "applications", nil, &list); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b application) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// maxLog bounds the zip of one log.
const maxLog = 1 << 40

// download fetches the zip of one attempt's log.
func download(ctx context.Context, c *rest.Client, dir, app string, a applicationAttempt) (path string, there bool, err error) {
	name := fileName(app)
	at := "applications/" + url.PathEscape(app) + "/"
	if a.AttemptID != "" {
		name, at = name+"_"+fileName(a.AttemptID), at+url.PathEscape(a.AttemptID)+"/"
	}
	path = filepath.Join(dir, name+".zip")
	if whole, ended := look(path); whole && ended && a.Completed {
		return path, true, nil
	}
	body, err := c.Stream(ctx, at+"logs", "application/octet-stream")
	if errors.Is(err, rest.ErrNotFound) {
		return "", false, fmt.Errorf("%w: the server has no log of %s; a driver has none, only a History Server", live.ErrGone, app)
	}
	if err != nil {
		return "", false, err
	}
	defer body.Close()
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return "", false, err
	}
	defer os.Remove(part)
	n, err := io.Copy(f, io.LimitReader(body, maxLog))
	err = errors.Join(err, f.Sync(), f.Close())
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case err != nil:
		return "", false, fmt.Errorf("%w: the log of %s broke off after %d bytes: %w", live.ErrAway, app, n, err)
	}
	if whole, _ := look(part); !whole {
		return "", false, fmt.Errorf("%w: what the server sent as the log of %s is not a complete zip archive", live.ErrAway, app)
	}
	return path, false, os.Rename(part, path)
}

// look reports whether a file is a zip archive with its directory, which is at its end, and whether the log in it had ended:
// until then Spark appends .inprogress to the name of the log, or of a rolling log's status file.
func look(path string) (whole, ended bool) {
	r, err := zip.OpenReader(path)
	if err != nil {
		return false, false
	}
	defer r.Close()
	return len(r.File) > 0, !slices.ContainsFunc(r.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, ".inprogress") })
}

// fileName converts a server's id to a safe file name.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, id[:min(len(id), 100)])
}
