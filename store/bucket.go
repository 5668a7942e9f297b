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
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"

	"straggler/bucket"
)

// A store in a bucket has no locks, because object stores have none. What takes their place:
//
//   - A commit is put on the condition that nobody has put one of its number. Of two writers one fails, looks at what is
//     visible now, and tries the next number. The last commit is never removed, so that numbers only go up.
//   - A writer's files have a name that no other writer's have. Those that no commit names are removed when they are a
//     day old: no writer takes that long from putting them to the commit.
//   - What a later commit replaces is removed when that is an hour old, so that those who read it can finish. Our own
//     readers have copies (cache.go) and other tools have that hour.
//
// Times are compared as the object store says them.

const (
	strayAge = 24 * time.Hour
	graceAge = time.Hour
)

// objects is a place in a bucket.
type objects struct {
	b      *blob.Bucket
	l      bucket.Location
	prefix string // "" or ends in a slash
	cache  *cache
	retry  bucket.RetryPolicy
	stray  time.Duration
	grace  time.Duration
	tell   func(Transfer)

	mu    sync.Mutex
	tried bool          // conditional puts, and they work
	ahead time.Duration // of the object store's clock before ours
}

// openBucket asks the object store nothing yet.
func openBucket(ctx context.Context, url string, o Options) (place, staging, error) {
	l, err := bucket.Parse(url)
	if err != nil {
		return nil, staging{}, err
	}
	if l.Scheme == "file" && o.ReadOnly {
		if _, err := os.Stat(l.Path); err != nil { // it would be made
			return nil, staging{}, fmt.Errorf("%s: %w: %w", l, ErrNotStore, err)
		}
	}
	b, err := bucket.OpenOnce(ctx, l)
	if err != nil {
		return nil, staging{}, fmt.Errorf("%s: %w", l, err)
	}
	c, err := o.Cache.open(l.Identity() + "/" + l.Path)
	if err != nil {
		return nil, staging{}, err
	}
	p := &objects{b: b, l: l, cache: c, retry: o.retry.WithDefaults(), stray: strayAge, grace: graceAge, tell: o.Cache.Progress}
	if l.Path != "" && l.Scheme != "file" {
		p.prefix = l.Path + "/"
	}
	if o.impatient {
		p.stray, p.grace = -time.Hour, -time.Hour // object stores tell times in whole seconds
	}
	return p, staging{osFS{quick: true}, filepath.Join(c.dir, "staging")}, nil
}

func (p *objects) key(name string) string { return p.prefix + name }

func (p *objects) show(name string) string {
	if name == "" {
		return p.l.String()
	}
	return p.l.String() + "/" + name
}

// cluster is the URL that Hadoop's own file systems take. Azure's has the account's name in it, which a user adds.
func (p *objects) cluster() string {
	switch p.l.Scheme {
	case "s3":
		return "s3a" + strings.TrimPrefix(p.show(""), "s3")
	case "file":
		return "file:" + p.l.Path
	}
	return p.show("")
}

func (p *objects) check(context.Context, []FileRecord) error { return nil }

// fault is an error for people about something at the object store.
func (p *objects) fault(name string, err error) error {
	return fmt.Errorf("%s: %w", p.show(name), bucket.Explain(err, p.l.Host, p.l.Hints()))
}

// try asks until there is an answer. Each try has some time; those that get on in steps push the deadline by calling alive.
func (p *objects) try(ctx context.Context, name string, ask func(ctx context.Context, alive func()) error) error {
	pauses := p.retry.Backoff()
	for failures := 1; ; failures++ {
		err := p.once(ctx, ask)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", p.show(name), ctx.Err())
		}
		if bucket.Explain(err, p.l.Host, p.l.Hints()).Final() {
			return p.fault(name, err)
		}
		if failures == p.retry.Tries {
			return fmt.Errorf("%w (tried %d times)", p.fault(name, err), failures)
		}
		if err := pauses.Wait(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.show(name), err)
		}
	}
}

func (p *objects) once(ctx context.Context, ask func(ctx context.Context, alive func()) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stall := time.AfterFunc(p.retry.Stall, cancel)
	defer stall.Stop()
	return ask(ctx, func() { stall.Reset(p.retry.Stall) })
}

// open looks for a commit. Where there is none, a store comes into being with its first.
func (p *objects) open(ctx context.Context, readOnly bool) error {
	first, err := p.page(ctx, "commits/", "", 1)
	if err != nil || len(first) > 0 {
		return err
	}
	if readOnly {
		return fmt.Errorf("%s: %w: it has no commits; make one with straggler ingest", p.show(""), ErrNotStore)
	}
	top, err := p.page(ctx, "", "/", 20)
	for _, o := range top {
		if name := strings.TrimSuffix(strings.TrimPrefix(o.Key, p.prefix), "/"); name != "" && !ours[name] {
			return fmt.Errorf("%s: %w, and it holds other objects, such as %q; name a new prefix", p.show(""), ErrNotStore, name)
		}
	}
	return err
}

// askAgain is how often a listing is asked again that came upon something which went meanwhile, as listings of directories do.
const askAgain = 20

// look lists, as try does.
func (p *objects) look(ctx context.Context, name string, ask func(ctx context.Context) error) error {
	for again := 0; ; again++ {
		err := p.try(ctx, name, func(ctx context.Context, _ func()) error { return ask(ctx) })
		if p.l.Scheme != "file" || !errors.Is(err, fs.ErrNotExist) || again == askAgain {
			return err
		}
	}
}

// page lists the first objects.
func (p *objects) page(ctx context.Context, dir, delimiter string, n int) (found []*blob.ListObject, err error) {
	err = p.look(ctx, dir, func(ctx context.Context) (err error) {
		found, _, err = p.b.ListPage(ctx, blob.FirstPageToken, n, &blob.ListOptions{Prefix: p.key(dir), Delimiter: delimiter})
		return err
	})
	return found, err
}

// pageSize is how many objects are listed with one question.
const pageSize = 1000

func (p *objects) list(ctx context.Context, dir string) ([]entry, error) {
	var out []entry
	for token := blob.FirstPageToken; len(token) > 0; {
		err := p.look(ctx, dir, func(ctx context.Context) error {
			found, next, err := p.b.ListPage(ctx, token, pageSize, &blob.ListOptions{Prefix: p.key(dir) + "/"})
			if err != nil {
				return err
			}
			token = next
			for _, o := range found {
				if name := strings.TrimPrefix(o.Key, p.prefix); !strings.HasSuffix(name, "/") { // one that stands for a directory
					out = append(out, entry{name, o.Size, o.ModTime, true})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *objects) stat(ctx context.Context, name string) (e entry, err error) {
	err = p.try(ctx, name, func(ctx context.Context, _ func()) error {
		a, err := p.b.Attributes(ctx, p.key(name))
		if err == nil {
			e = entry{name, a.Size, a.ModTime, true}
		}
		return err
	})
	return e, err
}

func (p *objects) read(ctx context.Context, name string) (data []byte, err error) {
	err = p.try(ctx, name, func(ctx context.Context, _ func()) error {
		data, err = p.b.ReadAll(ctx, p.key(name))
		return err
	})
	return data, err
}

// object is one of known length, to be read as a stream.
type object struct {
	p    *objects
	name string
	size int64
}

func (o object) Read(ctx context.Context, from, n int64) (io.ReadCloser, time.Time, error) {
	if from == 0 {
		n = -1 // servers refuse ranges of an object that was cut to nothing
	}
	r, err := o.p.b.NewRangeReader(ctx, o.p.key(o.name), from, n, nil)
	if err != nil {
		return nil, time.Time{}, err
	}
	if r.Size() != o.size {
		defer r.Close()
		return nil, time.Time{}, fmt.Errorf("%s: %w: it has %d bytes and its commit says %d; straggler store verify lists what is damaged",
			o.p.show(o.name), ErrDamaged, r.Size(), o.size)
	}
	return r, r.ModTime(), nil
}

func (o object) Fault(err error) (error, bool) {
	if errors.Is(err, ErrDamaged) {
		return err, true
	}
	f := bucket.Explain(err, o.p.l.Host, o.p.l.Hints())
	return fmt.Errorf("%s: %w", o.p.show(o.name), f), f.Final()
}

func (p *objects) stream(ctx context.Context, f FileRecord) (io.ReadCloser, error) {
	return bucket.NewStream(ctx, object{p, f.Path, f.Bytes}, p.retry, 0, f.Bytes, new(bucket.Version)), nil
}

// remove is done as well when there is nothing to remove: an earlier try may have been heard.
func (p *objects) remove(ctx context.Context, name string) error {
	err := p.try(ctx, name, func(ctx context.Context, _ func()) error { return p.b.Delete(ctx, p.key(name)) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (p *objects) begin(context.Context) (func(), error)  { return func() {}, nil }
func (p *objects) commit(context.Context) (func(), error) { return func() {}, nil }
func (p *objects) barrier() error                         { return nil }

func (p *objects) writer() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// enroll leaves a mark, which tells the time at the object store, and tries with it whether puts can be conditional.
func (p *objects) enroll(ctx context.Context, writer string) error {
	name := path.Join("staging", writer)
	mark := func() error {
		return p.try(ctx, name, func(ctx context.Context, _ func()) error {
			return p.write(ctx, name, "text/plain", strings.NewReader("a writer is at work\n"), true)
		})
	}
	if err := mark(); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried {
		return nil
	}
	e, err := p.stat(ctx, name)
	if err == nil {
		p.ahead = time.Until(e.modified)
		if err = mark(); errors.Is(err, fs.ErrExist) {
			p.tried = true
			return nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s: %w: the server puts objects that must not exist over those that do (it does not know If-None-Match), "+
			"so two writers could undo each other; use a newer server, or a store on a disk", p.show(""), errors.ErrUnsupported)
	}
	p.leave(context.WithoutCancel(ctx), writer)
	return err
}

// leave takes the mark away. It is done within a short time or not at all.
func (p *objects) leave(ctx context.Context, writer string) error {
	ctx, cancel := context.WithTimeout(ctx, takeBackTime)
	defer cancel()
	return p.remove(ctx, path.Join("staging", writer))
}

// now is the time at the object store, as far as we know it.
func (p *objects) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Add(p.ahead)
}

// leftovers are the files that are older than any living writer's. The mark of a dead writer is the sign to look for
// them, and goes last.
func (p *objects) leftovers(ctx context.Context, used map[string]bool, thorough bool) ([]string, error) {
	before := p.now().Add(-p.stray)
	old := func(e entry) bool { return !e.modified.After(before) }
	marks, err := p.list(ctx, "staging")
	if err != nil {
		return nil, err
	}
	var dead []string
	for _, m := range marks {
		if old(m) {
			dead = append(dead, m.name)
		}
	}
	if len(dead) == 0 && !thorough {
		return nil, nil
	}
	files, err := unused(ctx, p, used, old)
	return append(files, dead...), err
}

// expendable are the commits that were dead already when the grace began, and never the last one.
func (p *objects) expendable(_ context.Context, cat *catalog) (dead []*Commit, postponed bool, release func(), err error) {
	before := p.now().Add(-p.grace)
	n := 0
	for n < len(cat.times) && !cat.times[n].After(before) {
		n++
	}
	then := &catalog{commits: cat.commits[:n]}
	then.resolve()
	for _, c := range then.sweepable() {
		if c.Sequence != cat.next-1 {
			dead = append(dead, c)
		}
	}
	for _, c := range cat.sweepable()[len(dead):] {
		postponed = postponed || len(c.Tables) > 0
	}
	return dead, postponed, func() {}, nil
}
