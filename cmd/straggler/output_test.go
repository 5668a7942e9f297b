package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A write error, such as a full disk, names the file that the user gave, and no file is left behind.
func TestErrorOfWritingNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.html")
	err := writeFile(name, func(io.Writer) error {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Fatalf("while a file is written its directory holds %v, %v", entries, err)
		}
		return &fs.PathError{Op: "write", Path: filepath.Join(dir, entries[0].Name()), Err: syscall.ENOSPC}
	})
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "write "+name+":") {
		t.Errorf("the error is %q", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
}
