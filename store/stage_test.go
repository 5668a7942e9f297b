package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// All users may write to a staged directory, remove their own files, and read; it is removed with everything in it when it is
// closed or its process has died. A bucket has none, nor has a store that must not or cannot be changed.
func TestStagedDirectory(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		s := g.open(t)
		staged, err := s.StageDirectory(t.Context())
		if !g.inDirectory() {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("a bucket gives a directory: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		dir := AddressOf(s.Address(), staged.Name)
		if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|fs.ModeSticky|0o777 {
			t.Errorf("%v, %v", info, err)
		}
		fill := func() {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "_temporary", "0"), 0o755),
				os.WriteFile(filepath.Join(dir, "_temporary", "0", "part"), []byte("rows"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		fill()
		if err := s.staging.clean(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("a directory that is in use was cleaned away: %v", err)
		}
		if err := staged.Close(); err != nil {
			t.Error(err)
		}
		if left := filesIn(t, s, "staging"); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
		fill() // like a program that outlives the process that it works for
		if err := s.staging.clean(); err != nil {
			t.Error(err)
		}
		if left := filesIn(t, s, "staging"); len(left) > 0 {
			t.Errorf("what a dead process left was not cleaned away: %v", left)
		}
		writable := s.staging
		s.staging.fs = readOnlyFS{}
		if _, err := s.StageDirectory(t.Context()); !errors.Is(err, errors.ErrUnsupported) || !ReadOnly(err) {
			t.Errorf("a store that takes no writes gives a directory: %v", err)
		}
		s.staging = writable
		reader, err := Open(t.Context(), g.where, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.StageDirectory(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a store that is not to be changed gives a directory: %v", err)
		}
	})
}

// readOnlyFS is a read-only disk.
type readOnlyFS struct{ osFS }

func (readOnlyFS) Mkdir(name string) error {
	return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EROFS}
}
