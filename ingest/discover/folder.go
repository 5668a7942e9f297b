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

// entry is a member of a folder.
type entry struct {
	name string
	dir  bool
	link bool   // a symbolic link: examined after the others
	skip string // why it is not read
}

// join is filepath.Join that also accepts names from an archive, which must not be cleaned into something else.
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
