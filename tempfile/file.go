package tempfile

import (
	"errors"
	"os"
)

// prefix begins the names of all temporary files and directories.
const prefix = "straggler-"

// File makes an open file without a name in a directory, "" being the system's for temporary files; purpose is part of the name
// in errors.
func File(dir, purpose string) (*os.File, error) {
	f, err := os.CreateTemp(dir, prefix+purpose+"-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
