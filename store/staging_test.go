package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"straggler/store/storetest"
	"sync"
	"testing"
)

// TestStagingBesideCleaners: writers come and go while others clean. No active writer loses its files or gets an error, and
// nothing is left.
func TestStagingBesideCleaners(t *testing.T) {
	g := staging{osFS{noSync: true}, filepath.Join(fastDir(t), "staging")}
	const writers, cleaners, rounds = 4, 3, 400
	var working, cleaning sync.WaitGroup
	ended := make(chan struct{})
	for range writers {
		working.Go(func() {
			for range rounds {
				if err := workIn(g); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range cleaners {
		cleaning.Go(func() {
			for {
				if err := g.clean(); err != nil {
					t.Errorf("cleaning: %v", err)
					return
				}
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	working.Wait()
	close(ended)
	cleaning.Wait()
	if left, err := os.ReadDir(g.root); err != nil || len(left) > 0 {
		t.Errorf("staging holds %v %v", left, err)
	}
}

func workIn(g staging) error {
	dir, lock, err := g.create()
	if err != nil {
		return err
	}
	name := filepath.Join(dir, "file")
	err = os.WriteFile(name, []byte("rows"), 0o666)
	if err == nil {
		_, err = os.ReadFile(name)
	}
	return errors.Join(err, g.remove(dir, lock))
}

// TestStagingOfOthers: files that cannot be removed from one dead writer's directory prevent neither the cleaning of others nor
// new work.
func TestStagingOfOthers(t *testing.T) {
	root := filepath.Join(fastDir(t), "staging")
	g := staging{othersFS{osFS{noSync: true}, filepath.Join(root, "1-0")}, root}
	for _, dead := range []string{"1-0", "2-0"} {
		if err := os.MkdirAll(filepath.Join(root, dead), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.clean(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 1 || left[0].Name() != "1-0" {
		t.Errorf("staging holds %v %v", left, err)
	}
	if err := workIn(g); err != nil {
		t.Error(err)
	}
}

// othersFS has a directory with something in it that only another user may remove.
type othersFS struct {
	osFS
	dir string
}

func (f othersFS) RemoveAll(name string) error {
	if name == f.dir {
		return &fs.PathError{Op: "unlinkat", Path: name, Err: fs.ErrPermission}
	}
	return f.osFS.RemoveAll(name)
}

// lateFS shows no commits the first time they are listed, after which another process has created the store.
type lateFS struct {
	osFS
	meanwhile func()
}

func (f *lateFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.osFS.ReadDir(name)
	if f.meanwhile != nil && filepath.Base(name) == "commits" {
		f.meanwhile()
		f.meanwhile = nil
	}
	return entries, err
}

// TestOpenBesideTheMaker: a store that another process creates, and writes to, between two checks is a store.
func TestOpenBesideTheMaker(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	late := &lateFS{meanwhile: func() { ingest(t, ground{where: dir}.open(t), 1, storetest.Attempts(1, 10)) }}
	s, err := Open(t.Context(), dir, Options{fs: late})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("the store shows %v %v", list, err)
	}
}
