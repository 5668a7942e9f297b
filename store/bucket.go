package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"straggler/bucket"
	"straggler/bucket/location"
)

// Object stores have no locks. A store in a bucket does without them:
//
//   - A commit is put on the condition that its sequence number is not taken. Of two writers one fails, reads what is
//     visible now, and tries the next number. The last commit is never removed, so that numbers only go up.
//   - Each writer's files have unique names. Those that no commit names are removed after a day: no writer takes that long
//     between putting a file and committing it.
//   - What a commit replaces is removed once that commit is an hour old, so that readers can finish. Our own readers have
//     local copies (cache.go); other tools have that hour.
//
// All times are those of the object store's clock.

const (
	orphanAge   = 24 * time.Hour
	renewal     = orphanAge / 6 // of the mark of a writer that waits for other machines
	gracePeriod = time.Hour
)

// objectStore is a store in a bucket.
type objectStore struct {
	bucket    bucket.Bucket
	l         location.Location
	prefix    string // of keys; "" or ends in a slash
	cache     *cache // nil of openObjects
	retry     bucket.RetryPolicy
	orphanAge time.Duration
	renewal   time.Duration
	grace     time.Duration
	report    func(Transfer)

	mu          sync.Mutex
	conditional bool          // puts were tried, and can be conditional
	ahead       time.Duration // how far the object store's clock is ahead of ours
}

// openBucket opens a store with a cache of its files on this machine. It sends no request yet.
func openBucket(ctx context.Context, url string, o Options) (*objectStore, error) {
	s, err := openObjects(ctx, url, o)
	if err != nil {
		return nil, err
	}
	s.cache, err = o.Cache.open(s.l.Identity() + "/" + s.l.Path)
	return s, err
}

// openObjects opens a store without a cache, for writing objects and reading small ones.
func openObjects(ctx context.Context, url string, o Options) (*objectStore, error) {
	l, err := location.Parse(url)
	if err != nil {
		return nil, err
	}
	if l.Scheme == "file" && o.ReadOnly {
		if _, err := os.Stat(l.Path); err != nil { // it would be created
			return nil, fmt.Errorf("%s: %w: %w", l, ErrNotStore, err)
		}
	}
	b, err := bucket.OpenOnce(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l, err)
	}
	s := &objectStore{bucket: b, l: l, retry: o.retry.WithDefaults(), orphanAge: orphanAge, renewal: renewal, grace: gracePeriod, report: o.Cache.Progress}
	if l.Path != "" && l.Scheme != "file" {
		s.prefix = l.Path + "/"
	}
	if o.noGrace {
		s.orphanAge, s.grace = -time.Hour, -time.Hour // object stores tell times in whole seconds
	}
	return s, nil
}

func (s *objectStore) key(name string) string { return s.prefix + name }

// url returns the URL of an object as it is shown; "" is the store.
func (s *objectStore) url(name string) string {
	if name == "" {
		return s.l.String()
	}
	return s.l.String() + "/" + name
}

// hadoopURL returns the store's URL for Hadoop's file systems. Azure's also holds the account's name, which the user adds.
func (s *objectStore) hadoopURL() string {
	switch s.l.Scheme {
	case "s3":
		return "s3a" + strings.TrimPrefix(s.url(""), "s3")
	case "file":
		return "file:" + s.l.Path
	}
	return s.url("")
}

// init looks for a commit. A store without one is created by its first commit.
func (s *objectStore) init(ctx context.Context, readOnly bool) error {
	for _, limit := range []int{20, 0} { // any number of unfinished files may be listed before the commits
		found, err := s.listObjects(ctx, bucket.Listing{Prefix: "commits/", Limit: limit})
		if err != nil || slices.ContainsFunc(found, func(o bucket.Object) bool { return !isUnfinished(o.Key) }) {
			return err
		}
		if len(found) < limit {
			break
		}
	}
	if readOnly {
		return fmt.Errorf("%s: %w: it has no commits; make one with straggler ingest", s.url(""), ErrNotStore)
	}
	top, err := s.listObjects(ctx, bucket.Listing{Delimiter: "/", Limit: 20})
	for _, o := range top {
		if name := strings.TrimSuffix(strings.TrimPrefix(o.Key, s.prefix), "/"); name != "" && !topNames[name] {
			return fmt.Errorf("%s: %w, and it holds other objects, such as %q; name a new prefix", s.url(""), ErrNotStore, name)
		}
	}
	return err
}

func (s *objectStore) list(ctx context.Context, dir string) ([]fileInfo, error) {
	return s.listPrefix(ctx, dir+"/")
}

// listPrefix returns the files whose names begin with the given prefix.
func (s *objectStore) listPrefix(ctx context.Context, prefix string) ([]fileInfo, error) {
	objects, err := s.listObjects(ctx, bucket.Listing{Prefix: prefix})
	var out []fileInfo
	for _, o := range objects {
		if name := strings.TrimPrefix(o.Key, s.prefix); !strings.HasSuffix(name, "/") { // it represents a directory
			out = append(out, fileInfo{name, o.Size, o.Modified, true})
		}
	}
	return out, err
}

// listObjects lists objects of the store.
func (s *objectStore) listObjects(ctx context.Context, l bucket.Listing) ([]bucket.Object, error) {
	dir := l.Prefix
	l.Prefix = s.key(dir)
	return bucket.List(s.bucket, l, func(page func(context.Context) error) error {
		return s.try(ctx, dir, func(ctx context.Context, _ func()) error { return page(ctx) })
	})
}

// try repeats a request until it is answered. Each attempt has a deadline, which requests that make progress in steps
// extend by calling alive.
func (s *objectStore) try(ctx context.Context, name string, ask func(ctx context.Context, alive func()) error) error {
	pauses := s.retry.Backoff()
	for failures := 1; ; failures++ {
		err := s.tryOnce(ctx, ask)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", s.url(name), ctx.Err())
		}
		fault := bucket.Explain(err, s.l.Host, s.l.Hints())
		switch err = fmt.Errorf("%s: %w", s.url(name), fault); {
		case fault.Final():
			return err
		case failures == s.retry.Tries:
			return fmt.Errorf("%w (tried %d times)", err, failures)
		}
		if err := pauses.Wait(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.url(name), err)
		}
	}
}

func (s *objectStore) tryOnce(ctx context.Context, ask func(ctx context.Context, alive func()) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stall := time.AfterFunc(s.retry.Stall, cancel)
	defer stall.Stop()
	return ask(ctx, func() { stall.Reset(s.retry.Stall) })
}

func (s *objectStore) open(ctx context.Context, name string, bytes int64) (io.ReadCloser, error) {
	return bucket.NewStream(ctx, object{s, name, bytes}, s.retry, 0, bytes, new(bucket.Version)), nil
}

// object is one of known length, to be read as a stream.
type object struct {
	s    *objectStore
	name string
	size int64
}

func (o object) Read(ctx context.Context, from, n int64) (io.ReadCloser, time.Time, error) {
	if from == 0 {
		n = -1 // servers refuse ranges of an object that was truncated to nothing
	}
	r, err := o.s.bucket.Read(ctx, o.s.key(o.name), from, n)
	if err != nil {
		return nil, time.Time{}, err
	}
	if r.Size != o.size {
		defer r.Close()
		return nil, time.Time{}, fmt.Errorf("%s: %w: it has %d bytes and not %d; straggler store verify lists what is damaged",
			o.s.url(o.name), ErrDamaged, r.Size, o.size)
	}
	return r, r.Modified, nil
}

func (o object) Fault(err error) (error, bool) {
	if errors.Is(err, ErrDamaged) {
		return err, true
	}
	f := bucket.Explain(err, o.s.l.Host, o.s.l.Hints())
	return fmt.Errorf("%s: %w", o.s.url(o.name), f), f.Final()
}

// remove also succeeds when there is nothing to remove: an earlier attempt may have succeeded without an answer.
func (s *objectStore) remove(ctx context.Context, name string) error {
	err := s.try(ctx, name, func(ctx context.Context, _ func()) error { return s.bucket.Delete(ctx, s.key(name)) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *objectStore) sync() error { return nil }

func (s *objectStore) lock(context.Context) (unlock func(), err error) { return func() {}, nil }

// registerWriter puts a marker object, which gives the time at the object store, and tests with it whether puts can be
// conditional.
func (s *objectStore) registerWriter(ctx context.Context) (id string, err error) {
	var random [6]byte
	rand.Read(random[:]) // never fails
	id = hex.EncodeToString(random[:])
	mark := markOf(id)
	if err := s.putMark(ctx, mark); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conditional {
		return id, nil
	}
	var made time.Time
	err = s.try(ctx, mark, func(ctx context.Context, _ func()) error {
		a, err := s.bucket.Stat(ctx, s.key(mark))
		if err == nil {
			made = a.Modified
		}
		return err
	})
	if err == nil {
		s.ahead = time.Until(made)
		if err = s.putMark(ctx, mark); errors.Is(err, fs.ErrExist) {
			s.conditional = true
			return id, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s: %w: the server puts objects that must not exist over those that do (it does not support If-None-Match), "+
			"so two writers could undo each other; use a newer server, or a store on a disk", s.url(""), errors.ErrUnsupported)
	}
	s.unregisterWriter(context.WithoutCancel(ctx), id)
	return "", err
}

// markText is the content of markers, for people who read it.
const markText = "a writer is at work\n"

func (s *objectStore) putMark(ctx context.Context, mark string) error {
	return s.try(ctx, mark, func(ctx context.Context, _ func()) error {
		return s.bucket.Write(ctx, s.key(mark), "text/plain", strings.NewReader(markText), true)
	})
}

// unregisterWriter removes the marker; it gives up after a short time.
func (s *objectStore) unregisterWriter(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupTime)
	defer cancel()
	return s.remove(ctx, markOf(id))
}

// markOf returns the marker object of an active writer.
func markOf(id string) string { return path.Join("staging", id) }

// writerOf returns the id of the writer that an object under staging belongs to.
func writerOf(name string) string {
	id := path.Base(name)
	if end := strings.IndexAny(id, ".-"); end >= 0 {
		return id[:end]
	}
	return id
}

// now estimates the time at the object store.
func (s *objectStore) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead)
}

// orphans returns the files that are older than those of any active writer. They are searched for when the marker of a dead
// writer is found. Markers are removed last, and only when the files of their writer are old enough too.
func (s *objectStore) orphans(ctx context.Context, named map[string]bool, thorough bool) ([]string, error) {
	before := s.now().Add(-s.orphanAge)
	old := func(f fileInfo) bool { return !f.modified.After(before) }
	marks, err := s.list(ctx, "staging")
	if err != nil {
		return nil, err
	}
	living := map[string]bool{} // writers
	for _, m := range marks {
		if m.name == markOf(writerOf(m.name)) && !old(m) {
			living[writerOf(m.name)] = true
		}
	}
	var dead []string
	for _, m := range marks {
		if old(m) && !living[writerOf(m.name)] {
			dead = append(dead, m.name)
		}
	}
	if len(dead) == 0 && !thorough {
		return nil, nil
	}
	young := map[string]bool{} // parts of the names of files that may still be committed
	files, err := unnamed(ctx, s, named, func(f fileInfo) bool {
		parts := strings.Split(path.Base(f.name), "-")
		if !old(f) {
			for _, p := range parts {
				young[p] = true
			}
		}
		return old(f) && !slices.ContainsFunc(parts, func(p string) bool { return living[p] })
	})
	for _, name := range dead {
		if !young[writerOf(name)] {
			files = append(files, name)
		}
	}
	if err != nil {
		return nil, err
	}
	commits, err := s.list(ctx, "commits")
	for _, f := range commits {
		if isUnfinished(f.name) && old(f) {
			files = append(files, f.name)
		}
	}
	return files, err
}

// isUnfinished reports whether a file of a directory used as a bucket is one that was being written.
func isUnfinished(name string) bool { return strings.HasPrefix(path.Base(name), bucket.Unfinished) }

// collectable returns the commits that have been obsolete for the whole grace period, and never the last one.
func (s *objectStore) collectable(_ context.Context, cat *catalog) (obsolete []*Commit, postponed bool, release func(), err error) {
	before := s.now().Add(-s.grace)
	n := 0
	for n < len(cat.times) && !cat.times[n].After(before) {
		n++
	}
	then := &catalog{commits: cat.commits[:n]}
	then.resolve()
	for _, c := range then.obsolete() {
		if c.Sequence != cat.next-1 {
			obsolete = append(obsolete, c)
		}
	}
	for _, c := range cat.obsolete()[len(obsolete):] {
		postponed = postponed || len(c.Tables) > 0
	}
	return obsolete, postponed, func() {}, nil
}
