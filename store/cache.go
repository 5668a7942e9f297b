package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"straggler/bucket"
)

// A store on object storage is read through copies of its files on this machine. In the directory of the copies are
//
//	files/<name>.parquet   whole copies; never changed, and shared by all processes
//	files/<name>.used      empty; its time says when the copy was used last
//	files/<name>.part      a copy being fetched, locked by who does it
//	readers/<process>/     links to the copies that a reader needs, so that they stay although the copies are evicted
//	staging/<process>/     files of a writer that are not in the store yet
//
// A copy's name is derived from store, path, length and checksum, so it belongs to one version of one file of one store.

// Cache is the directory for copies of a bucket's files, and its limit.
type Cache struct {
	Dir   string // "": $STRAGGLER_CACHE, or straggler in the user's cache directory
	Bytes int64  // 0: $STRAGGLER_CACHE_BYTES, or 20 GiB; the copies that were used last stay

	// Progress, unless nil, is called with the progress of transfers, from several goroutines.
	Progress func(Transfer)
}

// Transfer is the progress of transferring the files of one table or of one commit.
type Transfer struct {
	What        string // for people: fetching, sending
	Files       int    // of them all
	Bytes, Done int64
}

const defaultCacheBytes = 20 << 30

// verifiedTime is the modification time of copies whose checksum was verified. A change of the content changes it, and the
// checksum is verified again.
var verifiedTime = time.Unix(1_000_000_000, 0)

// cache is the directory of copies.
type cache struct {
	dir   string
	bytes int64
	store string // identity of the store; part of the names

	mu sync.Mutex // held while copies are evicted
}

// CacheDir returns the directory for copies: the requested one, else that of STRAGGLER_CACHE, else one in the user's cache.
func CacheDir(requested string) (string, error) {
	if dir := cmp.Or(requested, os.Getenv("STRAGGLER_CACHE")); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("give --cache DIR or set STRAGGLER_CACHE: %w", err)
	}
	return filepath.Join(base, "straggler"), nil
}

func (c Cache) open(store string) (*cache, error) {
	var err error
	if c.Dir, err = CacheDir(c.Dir); err != nil {
		return nil, fmt.Errorf("a store on object storage needs a directory for copies: %w", err)
	}
	if text := os.Getenv("STRAGGLER_CACHE_BYTES"); c.Bytes == 0 && text != "" {
		if n, err := fmt.Sscan(text, &c.Bytes); n != 1 || err != nil || c.Bytes <= 0 {
			return nil, fmt.Errorf("STRAGGLER_CACHE_BYTES=%s: give a number of bytes, such as 20000000000", text)
		}
	}
	if c.Bytes == 0 {
		c.Bytes = defaultCacheBytes
	}
	abs, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(abs) {
		return nil, fmt.Errorf("the directory for copies of the store, %q: %w: %s; give another with --cache DIR or STRAGGLER_CACHE", abs, ErrCache, notUTF8)
	}
	for _, sub := range []string{"files", "readers", "staging"} {
		if err := os.MkdirAll(filepath.Join(abs, sub), 0o700); err != nil {
			return nil, fmt.Errorf("the directory for copies of the store: %w; give another with --cache DIR or STRAGGLER_CACHE", err)
		}
	}
	return &cache{dir: abs, bytes: c.Bytes, store: store}, nil
}

// name returns the copy of a file, without its extension.
func (c *cache) name(f FileRecord) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %q", c.store, f.Path, f.Bytes, f.Checksum))
	return fmt.Sprintf("%s-%x", strings.Split(f.Path, "/")[1], sum[:16])
}

func (c *cache) file(f FileRecord, extension string) string {
	return filepath.Join(c.dir, "files", c.name(f)+extension)
}

// has reports whether there is an intact copy. It verifies the checksum of one whose modification time has changed.
func (c *cache) has(f FileRecord) bool {
	name := c.file(f, ".parquet")
	info, err := os.Lstat(name)
	if err != nil {
		return false
	}
	if info.Mode().IsRegular() && info.Size() == f.Bytes {
		if info.ModTime().Equal(verifiedTime) {
			return true
		}
		if sum, err := checksumOf(name); err == nil && sum == f.Checksum {
			return os.Chtimes(name, time.Time{}, verifiedTime) == nil
		}
	}
	os.RemoveAll(name)
	return false
}

func checksumOf(name string) (string, error) {
	r, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := xxhash.New()
	_, err = io.Copy(h, r)
	return checksumText(h.Sum64()), err
}

// touch records that a copy is used now.
func (c *cache) touch(f FileRecord) {
	name := c.file(f, ".used")
	now := time.Now()
	if errors.Is(os.Chtimes(name, now, now), fs.ErrNotExist) {
		os.WriteFile(name, nil, 0o600) // without it the copy counts as never used
	}
}

// ensure makes link a link to the copy of a file. If there is none, fetch writes the content; the caller has made room.
func (c *cache) ensure(ctx context.Context, f FileRecord, link string, fetch func(w io.Writer) error) error {
	for {
		if c.has(f) {
			err := c.link(f, link)
			if errors.Is(err, fs.ErrNotExist) {
				if _, err := os.Lstat(filepath.Dir(link)); err != nil {
					return fmt.Errorf("%w: the directory of a reader was removed while it read; run the command again: %w", ErrCache, err)
				}
				continue // evicted meanwhile
			}
			c.touch(f)
			return err
		}
		if err := c.fill(ctx, f, fetch); err != nil {
			return err
		}
	}
}

func (c *cache) link(f FileRecord, link string) error {
	err := os.Link(c.file(f, ".parquet"), link)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil && linksMissing(err) {
		return os.Symlink(c.file(f, ".parquet"), link) // it may be evicted under a reader, and is fetched again by the next
	}
	return err
}

// fill makes a copy, unless another process or goroutine has done so.
func (c *cache) fill(ctx context.Context, f FileRecord, fetch func(w io.Writer) error) error {
	part, err := c.lockPart(ctx, f)
	if err != nil {
		return c.explain(err, f)
	}
	defer part.Close() // and so unlocks it
	if c.has(f) {
		return os.Remove(part.Name())
	}
	h := xxhash.New()
	w := &cacheWriter{to: part}
	err = fetch(io.MultiWriter(w, h))
	if w.err != nil {
		err = w.err
	}
	if err == nil {
		if sum := checksumText(h.Sum64()); w.n != f.Bytes || sum != f.Checksum {
			err = fmt.Errorf("%s: %w: it has %d bytes with the checksum %s, and its commit says %d and %s; straggler store verify lists what is damaged",
				f.Path, ErrDamaged, w.n, sum, f.Bytes, f.Checksum)
		}
	}
	if err == nil {
		err = c.adoptPart(part, f)
	}
	if err != nil {
		os.Remove(part.Name())
		return c.explain(err, f)
	}
	return nil
}

// adoptPart makes a fully fetched part a copy.
func (c *cache) adoptPart(part *os.File, f FileRecord) error {
	return errors.Join(part.Chmod(0o400), part.Sync(), os.Chtimes(part.Name(), time.Time{}, verifiedTime), os.Rename(part.Name(), c.file(f, ".parquet")))
}

// cacheWriter remembers errors of the disk, to distinguish them from those of the network.
type cacheWriter struct {
	to  *os.File
	n   int64
	err error
}

func (w *cacheWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.n += int64(n)
	if err != nil {
		w.err = err
	}
	return n, err
}

// lockPart opens and locks the empty file that a copy is written to.
func (c *cache) lockPart(ctx context.Context, f FileRecord) (*os.File, error) {
	name := c.file(f, ".part")
	pauses := bucket.NewBackoff(time.Millisecond, 100*time.Millisecond)
	for {
		part, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err = flock(part, exclusive); err == nil && isNamed(part, name) {
			if info, serr := part.Stat(); serr == nil && info.Size() > 0 { // a process died while it fetched
				err = part.Truncate(0)
			}
			return part, err
		}
		part.Close()
		if err != nil && err != syscall.EWOULDBLOCK {
			return nil, &os.PathError{Op: "lock", Path: name, Err: err}
		}
		if err := pauses.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// adopt makes a copy of a local file that was just sent. Failures are ignored: the copy is then fetched when needed.
func (c *cache) adopt(name string, f FileRecord) {
	if c.makeRoom(f.Bytes) != nil || os.Chmod(name, 0o400) != nil || os.Chtimes(name, time.Time{}, verifiedTime) != nil {
		return
	}
	if os.Rename(name, c.file(f, ".parquet")) == nil {
		c.touch(f)
	}
}

// copied is a copy in a listing.
type copied struct {
	base  string // path without extension
	bytes int64
	used  time.Time // when there is no room
	links bool      // a reader has a link to it
}

// makeRoom evicts the least recently used copies until there is room for one more.
func (c *cache) makeRoom(bytes int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes > c.bytes {
		return fmt.Errorf("%w: %d bytes are needed and copies in %s may take %d: set STRAGGLER_CACHE_BYTES higher", ErrCache, bytes, c.dir, c.bytes)
	}
	c.cleanReaders()
	all, total, err := c.copies()
	if err != nil || total+bytes <= c.bytes {
		return err
	}
	for i := range all {
		if u, err := os.Stat(all[i].base + ".used"); err == nil {
			all[i].used = u.ModTime()
		}
	}
	slices.SortStableFunc(all, func(a, b copied) int { return a.used.Compare(b.used) })
	for _, x := range all {
		if total+bytes <= c.bytes {
			return nil
		}
		if x.links {
			continue // removing it frees nothing
		}
		if err := os.Remove(x.base + ".parquet"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		os.Remove(x.base + ".used")
		total -= x.bytes
	}
	if total+bytes > c.bytes {
		return fmt.Errorf("%w: copies in %s may take %d bytes, of which %d are being read, and %d more are needed: set STRAGGLER_CACHE_BYTES higher",
			ErrCache, c.dir, c.bytes, total, bytes)
	}
	return nil
}

// copies lists the copies and gives their total size.
func (c *cache) copies() (all []copied, total int64, err error) {
	entries, err := os.ReadDir(filepath.Join(c.dir, "files"))
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".parquet")
		info, ierr := e.Info()
		if !ok || ierr != nil {
			continue // not a copy, or gone
		}
		x := copied{base: filepath.Join(c.dir, "files", base), bytes: info.Size()}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			x.links = st.Nlink > 1
		}
		total += x.bytes
		all = append(all, x)
	}
	return all, total, nil
}

// readers returns the directories of links.
func (c *cache) readers() staging {
	return staging{osFS{noSync: true}, filepath.Join(c.dir, "readers")}
}

// cleanReaders removes the links of readers that are dead.
func (c *cache) cleanReaders() {
	c.readers().clean() // what it cannot remove only takes room
}

// explain adds to an error what to do when the disk is full.
func (c *cache) explain(err error, f FileRecord) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: the disk is full: a copy of %s needs %d bytes in %s; free some, or give another directory with --cache DIR or STRAGGLER_CACHE: %w",
			ErrCache, f.Path, f.Bytes, c.dir, err)
	}
	return err
}
