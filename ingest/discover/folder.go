package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// folder is a directory, on disk or in an archive.
type folder interface {
	path() string // as the user would write it
	list() ([]entry, error)
	folder(e entry) (folder, error)
	file(e entry) (*file, error)
	id() string
}

// entry is what a folder holds under a name.
type entry struct {
	name string
	dir  bool
	link bool   // a symbolic link: looked at after the others
	skip string // why it is not read
}

// join is filepath.Join for names from an archive too, which must not be cleaned into something else.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

func vanished(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it vanished after it was listed: %w", err)
	}
	return err
}
