package discover

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// osFolder is a directory on disk.
type osFolder struct{ name, real string }

func (f osFolder) path() string { return f.name }
func (f osFolder) id() string   { return f.real + "/" }

func (f osFolder) list() ([]entry, error) {
	all, err := os.ReadDir(f.name)
	if err != nil && len(all) == 0 {
		return nil, err
	}
	entries := make([]entry, 0, len(all))
	for _, d := range all {
		entries = append(entries, f.entry(d))
	}
	return entries, nil
}

func (f osFolder) entry(d fs.DirEntry) entry {
	e := entry{name: d.Name(), dir: d.IsDir()}
	mode := d.Type()
	if mode&fs.ModeSymlink != 0 {
		e.link = true
		info, err := os.Stat(join(f.name, e.name))
		if err != nil {
			e.skip = "a symbolic link that leads nowhere"
			return e
		}
		e.dir, mode = info.IsDir(), info.Mode().Type()
	}
	switch {
	case e.dir && strings.HasPrefix(e.name, "."):
		e.skip = "a hidden directory; name it to have it read"
	case !e.dir && !mode.IsRegular():
		e.skip = "neither a file nor a directory"
	}
	return e
}

func (f osFolder) folder(e entry) (folder, error) {
	sub := osFolder{join(f.name, e.name), join(f.real, e.name)}
	if e.link {
		real, err := filepath.EvalSymlinks(sub.name)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return nil, err
		}
		sub.real = real
	}
	return sub, nil
}

func (f osFolder) file(e entry) (*file, error) {
	name := join(f.name, e.name)
	info, err := os.Stat(name)
	if err != nil {
		return nil, vanished(err)
	}
	id := join(f.real, e.name)
	if e.link {
		if id, err = filepath.EvalSymlinks(name); err == nil {
			id, err = filepath.Abs(id)
		}
		if err != nil {
			return nil, err
		}
	}
	return osFile(name, id, info), nil
}

// namedFolder is a directory in which only some files were named; the others are ignored.
type namedFolder struct{ osFolder }

func (namedFolder) folder(e entry) (folder, error) {
	return nil, fmt.Errorf("%s: %w", e.name, fs.ErrNotExist)
}

func osFile(name, id string, info fs.FileInfo) *file {
	return &file{
		name:     name,
		size:     info.Size(),
		modified: info.ModTime().UnixNano(),
		id:       id,
		open:     func() (io.ReadCloser, error) { return openRegular(name) },
		at: func() (io.ReaderAt, io.Closer, error) {
			f, err := openRegular(name)
			return f, f, err
		},
	}
}

// openRegular opens a file that was regular when it was listed. It may be something else by now, and opening a pipe would wait
// for a writer.
func openRegular(name string) (*os.File, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, vanished(err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no longer a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, vanished(err)
	}
	return f, nil
}

func isLink(p string) bool {
	info, err := os.Lstat(p)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
