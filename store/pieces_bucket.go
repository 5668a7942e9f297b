package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"straggler/schema"
	"straggler/tempfile"
)

// In a bucket nothing can be renamed, so programs on other machines put their files where a commit names them:
//
//	tables/<table>/<writer>-<piece>-<n>.parquet   rows
//	staging/<writer>-<piece>.data                 messages for the process that commits
//	staging/<writer>-<piece>.copy                 a marker: the program is at work
//	staging/<writer>.pieces                       a marker: the transaction accepts pieces
//
// A program first stores its own marker, then its files, and then checks whether the transaction still accepts pieces; if so it
// removes its own marker and reports what it has written, and otherwise it removes everything. A transaction that ends first
// removes its marker, and then lists everything that begins with the id of its writer: whatever is stored after that is removed
// by its program. If a program is killed in between, its marker stays, and if the transaction's process is killed, that of its
// writer does: a day later they cause a search for files that no commit names (orphans).

// Suffixes of the names of objects under staging.
const (
	piecesMark = ".pieces"
	copyMark   = ".copy"
	dataName   = ".data"
)

// bucketPieces are pieces in a bucket, for the transaction.
type bucketPieces struct {
	s      *objectStore
	writer string
	dir    string // local, for their data

	mu      sync.Mutex
	adopted map[string]FileRecord // by path
	stop    func()                // ends the renewal of the writer's marker
}

func newBucketPieces(s *objectStore, writer, dir string) *bucketPieces {
	return &bucketPieces{s: s, writer: writer, dir: dir, adopted: make(map[string]FileRecord), stop: func() {}}
}

func (b *bucketPieces) open(ctx context.Context) (string, error) {
	if err := b.s.writeMark(ctx, markOf(b.writer)+piecesMark); err != nil {
		return "", err
	}
	b.stop = b.s.renewMark(ctx, b.writer)
	return markOf(b.writer), nil
}

func (b *bucketPieces) adopt(t *schema.Table, f FileRecord) (string, error) {
	name, ok := strings.CutPrefix(f.Path, path.Join("tables", t.Name)+"/")
	if !ok || !bareName(name) || !strings.HasPrefix(name, b.writer+"-") {
		return "", fmt.Errorf("%w: a piece names an object %q, which does not belong to its transaction", ErrDamaged, f.Path)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.adopted[f.Path] = f
	return f.Path, nil
}

func (b *bucketPieces) stored(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.adopted[name]
	return ok
}

// manyRequests is the number of concurrent small requests: nearly all of a response time of 20 to 50 ms is waiting.
const manyRequests = 16

// fetch copies the data to this machine: the data of ten thousand pieces is read at the same time, which would be too many
// connections.
func (b *bucketPieces) fetch(ctx context.Context, data []*FileRecord) (string, error) {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return "", err
	}
	for _, f := range data {
		if !bareName(f.Path) || !strings.HasPrefix(f.Path, b.writer+"-") {
			return "", fmt.Errorf("%w: a piece names an object %q, which does not belong to its transaction", ErrDamaged, f.Path)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(manyRequests)
	for _, f := range data {
		group.Go(func() error {
			to, err := os.Create(filepath.Join(b.dir, f.Path))
			if err != nil {
				return err
			}
			r, err := b.s.open(ctx, path.Join("staging", f.Path), f.Bytes)
			if err == nil {
				_, err = io.Copy(to, r)
				err = errors.Join(err, r.Close())
			}
			return errors.Join(err, to.Close())
		})
	}
	return b.dir, group.Wait()
}

// check lists what exists: an object removed by a rule of the bucket or by another writer's cleaning must not be named.
func (b *bucketPieces) check(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	tables := make(map[string]bool)
	for name := range b.adopted {
		tables[path.Dir(name)] = true
	}
	found, err := b.list(ctx, slices.Sorted(maps.Keys(tables)))
	if err != nil {
		return err
	}
	there := make(map[string]int64, len(found))
	for _, f := range found {
		there[f.name] = f.size
	}
	for _, name := range slices.Sorted(maps.Keys(b.adopted)) {
		if n, ok := there[name]; !ok || n != b.adopted[name].Bytes {
			return fmt.Errorf("%s: %w: a machine of the cluster has put %d bytes there, and now it has %d; run the command again, and see what else removes or changes objects of the bucket",
				b.s.url(name), ErrDamaged, b.adopted[name].Bytes, n)
		}
	}
	return nil
}

// list returns the objects of all pieces in the directories of some tables.
func (b *bucketPieces) list(ctx context.Context, dirs []string) ([]fileInfo, error) {
	found := make([][]fileInfo, len(dirs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(manyRequests)
	for i, dir := range dirs {
		group.Go(func() (err error) {
			found[i], err = b.s.listPrefix(ctx, path.Join(dir, b.writer)+"-")
			return err
		})
	}
	err := group.Wait()
	return slices.Concat(found...), err
}

func (b *bucketPieces) end(ctx context.Context, named map[string]bool) error {
	b.stop()
	if err := b.s.remove(ctx, markOf(b.writer)+piecesMark); err != nil { // first: see above
		return err
	}
	dirs := []string{path.Dir(markOf(b.writer))}
	for _, t := range schema.Tables() {
		dirs = append(dirs, path.Join("tables", t.Name))
	}
	found, err := b.list(ctx, dirs)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(manyRequests)
	for _, f := range found {
		if !named[f.name] && !strings.HasSuffix(f.name, copyMark) { // markers of programs are theirs to remove
			group.Go(func() error { return b.s.remove(ctx, f.name) })
		}
	}
	return group.Wait()
}

// farPiece is a piece in a bucket, for the program that writes it.
type farPiece struct {
	at          string // URL: a store's, and the marker of the transaction's writer
	id          string
	o           Options // for tests
	s           *objectStore
	writer      string
	disk        unnamedFiles
	put         []string // objects
	lastUnknown bool     // the last of them may still be stored
}

func (p *farPiece) begin(ctx context.Context) error {
	where, mark, err := splitStaged(p.at)
	if err != nil {
		return err
	}
	p.writer = path.Base(mark)
	if p.s, err = openObjects(ctx, where, p.o); err != nil {
		return err
	}
	if err := p.taken(ctx); err != nil {
		return err
	}
	return p.s.writeMark(ctx, p.mark())
}

func (p *farPiece) mark() string { return markOf(p.writer) + "-" + p.id + copyMark }

// taken checks that the transaction accepts pieces.
func (p *farPiece) taken(ctx context.Context) error {
	err := p.s.try(ctx, markOf(p.writer), func(ctx context.Context, _ func()) error {
		_, err := p.s.bucket.Stat(ctx, p.s.key(markOf(p.writer)+piecesMark))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("this work has been done by another run of it, or is not needed any more: %w", err)
	}
	return err
}

func (p *farPiece) files() (fileSystem, string, string) { return &p.disk, os.TempDir(), p.id + "-" }

func (p *farPiece) end(ctx context.Context, made *Piece) error {
	for _, t := range made.Tables {
		for i := range t.Files {
			f := &t.Files[i]
			local := f.Path
			f.Path = path.Join("tables", t.Name, fmt.Sprintf("%s-%s-%d.parquet", p.writer, p.id, i))
			if err := p.send(ctx, local, *f); err != nil {
				return err
			}
		}
	}
	if d := made.Data; d != nil {
		local, name := d.Path, p.writer+"-"+p.id+dataName
		d.Path = path.Join("staging", name)
		if err := p.send(ctx, local, *d); err != nil {
			return err
		}
		d.Path = name
	}
	if err := p.taken(ctx); err != nil {
		return err
	}
	p.disk.close()
	return p.s.remove(ctx, p.mark())
}

func (p *farPiece) send(ctx context.Context, local string, f FileRecord) error {
	p.put, p.lastUnknown = append(p.put, f.Path), true
	err := p.s.send(ctx, f, func() (io.ReadCloser, error) { return p.disk.Open(filepath.Join(os.TempDir(), local)) }, &progress{})
	p.lastUnknown = err != nil
	return err
}

// abort is also called when the context has ended. The marker is removed last, and stays if a request may still arrive.
func (p *farPiece) abort(ctx context.Context) {
	p.disk.close()
	if p.s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	for _, name := range p.put {
		if p.s.remove(ctx, name) != nil {
			return
		}
	}
	if !p.lastUnknown {
		p.s.remove(ctx, p.mark())
	}
}

// explain adds what to do on a machine without access, which is not the one on which the command was given.
func (p *farPiece) explain(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("store: this machine of the cluster cannot write to the bucket, and what it finds goes there: give executors a role that may, or credentials in their environment, "+
			"or append &results=server to the address of the server; see straggler help engine: %w", err)
	}
	return fmt.Errorf("store: %w", err)
}

// unnamedFiles are files without names, so that nothing is left of them when the process is killed.
type unnamedFiles struct {
	osFS
	mu    sync.Mutex
	files map[string]*os.File // by the name under which they were requested
}

func (u *unnamedFiles) Create(name string) (file, error) {
	f, err := tempfile.File(filepath.Dir(name), "piece")
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.files == nil {
		u.files = make(map[string]*os.File)
	}
	u.files[name] = f
	return openFile{f}, nil
}

// Open reads a file from its beginning.
func (u *unnamedFiles) Open(name string) (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f := u.files[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return io.NopCloser(io.NewSectionReader(f, 0, 1<<62)), nil
}

func (u *unnamedFiles) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.files {
		f.Close()
	}
	u.files = nil
}

// openFile is a file that stays open when its writer closes it, because it has no other name.
type openFile struct{ *os.File }

func (openFile) Close() error { return nil }
func (openFile) Sync() error  { return nil }

// writeMark stores a marker, replacing any existing one.
func (s *objectStore) writeMark(ctx context.Context, mark string) error {
	return s.try(ctx, mark, func(ctx context.Context, _ func()) error {
		return s.bucket.Write(ctx, s.key(mark), "text/plain", strings.NewReader(markText), false)
	})
}

// renewMark stores the marker of a writer again periodically, until stop is called: the work of a cluster may last longer than
// a writer counts as alive without a sign of life. If it cannot store it, it tries again the next time.
func (s *objectStore) renewMark(ctx context.Context, writer string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(s.renewal)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.writeMark(ctx, markOf(writer))
			}
		}
	}()
	return func() { cancel(); <-ended }
}
