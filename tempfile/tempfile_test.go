package tempfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// parentOfChild is the environment variable by which a test starts this program again, to make a directory there.
const parentOfChild = "STRAGGLER_TEMPFILE_TEST"

func TestMain(m *testing.M) {
	parent := os.Getenv(parentOfChild)
	if parent == "" {
		os.Exit(m.Run())
	}
	d, err := NewDirectory(parent, "child")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.WriteFile(filepath.Join(d.Path(), "data"), []byte("rows"), 0o600)
	fmt.Println(d.Path())
	io.Copy(io.Discard, os.Stdin) // until it is killed
	d.lock.Close()
}

// child runs a process that has a directory, and says which.
func child(t *testing.T, parent string) (cmd *exec.Cmd, path string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentOfChild+"="+parent)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSuffix(line, "\n")
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// What a killed process left is removed by the next; what a living one uses, and what is somebody else's, stays.
func TestKilled(t *testing.T) {
	parent := t.TempDir()
	killed, left := child(t, parent)
	_, used := child(t, parent)
	var others []string
	for _, name := range []string{"straggler-demo", "straggler-child-1"} {
		others = append(others, filepath.Join(parent, name, "files"))
		if err := os.MkdirAll(others[len(others)-1], 0o777); err != nil {
			t.Fatal(err)
		}
	}
	killed.Process.Kill()
	killed.Wait()
	if !exists(filepath.Join(left, "data")) {
		t.Fatalf("%s is gone before anybody removed it", left)
	}
	d, err := NewDirectory(parent, "test")
	if err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Dir(left)) {
		t.Errorf("%s is left by a killed process", left)
	}
	for _, kept := range append(others, filepath.Join(used, "data"), d.Path()) {
		if !exists(kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	if err := d.Close(); err != nil || exists(filepath.Dir(d.Path())) {
		t.Errorf("closed, and it is there: %v", err)
	}
}

// The directories of a user are in one of the user's own, so that what else the parent has is not looked at: a locked directory
// in the parent, which would be removed if it were, stays. The last one to be closed removes the user's.
func TestOwn(t *testing.T) {
	parent := t.TempDir()
	other := filepath.Join(parent, "straggler-child-2", lockName)
	if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var made []*Directory
	for range 2 {
		d, err := NewDirectory(parent, "test")
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, d)
	}
	for i, d := range made {
		own := filepath.Dir(filepath.Dir(d.Path()))
		if filepath.Dir(own) != parent {
			t.Errorf("%s is not in a subdirectory of %s", d.Path(), parent)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if there := exists(own); there != (i == 0) {
			t.Errorf("after %d of 2 are closed, %s is there: %v", i+1, own, there)
		}
	}
	if !exists(other) {
		t.Errorf("%s was looked at", other)
	}
}

// A subdirectory that others can change, or a link in its place, is not used: directories are then made in the parent, and what
// a killed process left there is removed.
func TestOwnOfOthers(t *testing.T) {
	for name, make := range map[string]func(name string) error{
		"open to all": func(name string) error { return errors.Join(os.Mkdir(name, 0o777), os.Chmod(name, 0o777)) },
		"a link":      func(name string) error { return os.Symlink(t.TempDir(), name) },
		"a file":      func(name string) error { return os.WriteFile(name, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			if err := make(filepath.Join(parent, fmt.Sprint(ownPrefix, os.Getuid()))); err != nil {
				t.Fatal(err)
			}
			killed, left := child(t, parent)
			killed.Process.Kill()
			killed.Wait()
			d, err := NewDirectory(parent, "test")
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if got := filepath.Dir(filepath.Dir(d.Path())); got != parent {
				t.Errorf("made in %s", got)
			}
			if exists(left) {
				t.Errorf("%s is left by a killed process", left)
			}
		})
	}
}

// Directories made at once are all different, empty and kept.
func TestAtOnce(t *testing.T) {
	parent := t.TempDir()
	const n = 50
	made := make(chan *Directory)
	for range n {
		go func() {
			d, err := NewDirectory(parent, "test")
			if err != nil {
				t.Error(err)
			}
			made <- d
		}()
	}
	paths := map[string]bool{}
	for range n {
		if d := <-made; d != nil {
			paths[d.Path()] = true
			defer d.Close()
		}
	}
	for path := range paths {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	if len(paths) != n {
		t.Errorf("%d directories, want %d", len(paths), n)
	}
}

// Making and closing directories at once removes the user's directory again and again, under processes that are about to use it.
func TestOpenedAndClosedAtOnce(t *testing.T) {
	parent := t.TempDir()
	done := make(chan error)
	const n = 8
	for range n {
		go func() {
			for range 50 {
				d, err := NewDirectory(parent, "test")
				if err == nil {
					err = errors.Join(os.WriteFile(filepath.Join(d.Path(), "data"), nil, 0o600), d.Close())
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestFile(t *testing.T) {
	parent := t.TempDir()
	f, err := File(parent, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("rows"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := f.ReadAt(got, 0); err != nil || string(got) != "rows" {
		t.Errorf("%q, %v", got, err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A file is there when it is complete, and before it is as it was. What a killed process left of it is gone after the next, and
// one that another process writes at the same time is left alone.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.html")
	text := func() string {
		data, _ := os.ReadFile(name)
		return string(data)
	}
	write := func(s string) func(*os.File) error {
		return func(f *os.File) error { _, err := f.WriteString(s); return err }
	}
	if err := os.WriteFile(filepath.Join(dir, ".report.html.part"), []byte("left by a killed process"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Replace(name, write("one")); err != nil || text() != "one" {
		t.Fatalf("%q, %v", text(), err)
	}
	err := Replace(name, func(f *os.File) error {
		if err := Replace(name, write("meanwhile")); err != nil || text() != "meanwhile" {
			t.Errorf("%q, %v", text(), err)
		}
		return write("two")(f)
	})
	if err != nil || text() != "two" {
		t.Errorf("%q, %v", text(), err)
	}
	failed := errors.New("failed")
	err = Replace(name, func(f *os.File) error { return errors.Join(write("half")(f), failed) })
	if !errors.Is(err, failed) || text() != "two" {
		t.Errorf("%q, %v", text(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// While a file is updated, another update of it waits, and then finds what the first has written. A failed one leaves the file as
// it was, and nothing else.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "numbers")
	add := func(line string) func(*os.File) error {
		return func(f *os.File) error {
			before, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			_, err = f.WriteString(string(before) + line)
			return err
		}
	}
	if err := os.WriteFile(partName(name), []byte("left by a killed process"), 0o666); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	err := Update(name, func(f *os.File) error {
		go func() { done <- Update(name, add("2")) }()
		select {
		case err := <-done:
			t.Errorf("a second update did not wait: %v", err)
			done <- err
		case <-time.After(50 * time.Millisecond): // it may not have begun; then it waits later
		}
		return add("1")(f)
	})
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	if err := Update(name, func(f *os.File) error { return errors.Join(add("3")(f), failed) }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "12" {
		t.Errorf("%q, %v", data, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A link in the place of the other name, which a file of another user is like, is neither followed nor in the way.
func TestUpdateBesideALink(t *testing.T) {
	dir := t.TempDir()
	name, victim := filepath.Join(dir, "numbers"), filepath.Join(dir, "victim")
	if err := errors.Join(os.WriteFile(victim, []byte("kept"), 0o600), os.Symlink(victim, partName(name))); err != nil {
		t.Fatal(err)
	}
	if err := Update(name, func(f *os.File) error { _, err := f.WriteString("1"); return err }); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{name: "1", victim: "kept"} {
		if data, err := os.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
}
