package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// faultFS is a disk on which a fault happens at the at-th operation that changes something.
type faultFS struct {
	osFS
	at    int
	fault fault

	mu     sync.Mutex
	ops    int
	down   bool // after a crash
	undo   []undo
	locks  []io.Closer
	backup string // for the files that a power failure restores
}

type fault int

const (
	noFault   fault = iota
	failOnce        // one operation fails
	diskFull        // from here on nothing can be written; removing works
	crash           // from here on nothing works, as if the process had been killed
	powerLoss       // like crash, and unsynced changes are undone
	powerSome       // like crash, and some unsynced changes are undone: a disk guarantees no order between syncs
	kill            // the process kills itself
)

// undo reverts a change that no sync has made durable.
type undo struct {
	dir  string // whose sync makes it durable; or
	file string // the file whose sync does
	run  func()
}

var errCrash = errors.New("crashed")

// step counts an operation and reports whether it may proceed. Removals proceed when the disk is full.
func (f *faultFS) step(removal bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return errCrash
	}
	f.ops++
	if f.ops < f.at || f.fault == noFault {
		return nil
	}
	switch f.fault {
	case failOnce:
		if f.ops == f.at {
			return &fs.PathError{Op: "write", Path: "x", Err: syscall.EIO}
		}
		return nil
	case diskFull:
		if removal {
			return nil
		}
		return &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	case kill:
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	f.crash()
	return errCrash
}

// crash ends the process's influence: its locks are released, and after a power failure its unsynced changes are lost too.
func (f *faultFS) crash() {
	f.down = true
	for i, u := range slices.Backward(f.undo) {
		if f.fault == powerLoss || uint32(i*31+f.at)*2654435761>>31 == 0 {
			u.run()
		}
	}
	for _, l := range f.locks {
		l.Close()
	}
}

func (f *faultFS) later(u undo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == powerLoss || f.fault == powerSome {
		f.undo = append(f.undo, u)
	}
}

func (f *faultFS) synced(match func(undo) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.undo = slices.DeleteFunc(f.undo, match)
}

func (f *faultFS) Create(name string) (file, error) {
	if err := f.step(false); err != nil {
		return nil, err
	}
	inner, err := f.osFS.Create(name)
	if err != nil {
		return nil, err
	}
	f.later(undo{dir: filepath.Dir(name), run: func() { os.Remove(name) }})
	f.later(undo{file: name, run: func() { os.Truncate(name, 0) }})
	return &faultFile{f, name, inner}, nil
}

type faultFile struct {
	f     *faultFS
	name  string
	inner file
}

// Write writes half of its data if the fault is here.
func (w *faultFile) Write(p []byte) (int, error) {
	if w.f.fault == kill && w.f.ops+1 == w.f.at {
		w.inner.Write(p[:len(p)/2])
	}
	if err := w.f.step(false); err != nil {
		n, _ := w.inner.Write(p[:len(p)/2])
		return n, err
	}
	return w.inner.Write(p)
}

func (w *faultFile) Sync() error {
	if err := w.f.step(false); err != nil {
		return err
	}
	w.f.synced(func(u undo) bool { return u.file == w.name })
	return w.inner.Sync()
}

func (w *faultFile) Close() error { return w.inner.Close() }

func (f *faultFS) MkdirAll(name string) error {
	if err := f.step(false); err != nil {
		return err
	}
	return f.osFS.MkdirAll(name)
}

func (f *faultFS) Mkdir(name string) error {
	if err := f.step(false); err != nil {
		return err
	}
	return f.osFS.Mkdir(name)
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.step(false); err != nil {
		return err
	}
	if err := f.osFS.Rename(from, to); err != nil {
		return err
	}
	f.mu.Lock()
	for i := range f.undo { // unsynced data of the file remains unsynced under its new name
		if f.undo[i].file == from {
			f.undo[i] = undo{file: to, run: func() { os.Truncate(to, 0) }}
		}
	}
	f.mu.Unlock()
	f.later(undo{dir: filepath.Dir(to), run: func() { os.Rename(to, from) }})
	return nil
}

func (f *faultFS) Link(from, to string) error {
	if err := f.step(false); err != nil {
		return err
	}
	if err := f.osFS.Link(from, to); err != nil {
		return err
	}
	f.later(undo{dir: filepath.Dir(to), run: func() { os.Remove(to) }})
	return nil
}

func (f *faultFS) Remove(name string) error {
	if err := f.step(true); err != nil {
		return err
	}
	if f.backup != "" {
		saved := filepath.Join(f.backup, strconv.Itoa(f.ops))
		if err := os.Link(name, saved); err == nil {
			f.later(undo{dir: filepath.Dir(name), run: func() { os.Link(saved, name) }})
		}
	}
	return f.osFS.Remove(name)
}

func (f *faultFS) RemoveAll(name string) error {
	if err := f.step(true); err != nil {
		return err
	}
	return f.osFS.RemoveAll(name)
}

func (f *faultFS) SyncDir(name string) error {
	if err := f.step(false); err != nil {
		return err
	}
	f.synced(func(u undo) bool { return u.dir == name })
	return nil // a real sync would test nothing here and is slow
}

func (f *faultFS) TryLock(name string, mode lockMode, create bool) (io.Closer, error) {
	if create {
		if err := f.step(false); err != nil {
			return nil, err
		}
	}
	l, err := f.osFS.TryLock(name, mode, create)
	if err == nil && l != nil {
		f.mu.Lock()
		f.locks = append(f.locks, l)
		f.mu.Unlock()
	}
	return l, err
}
