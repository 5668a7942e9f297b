package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"straggler/bucket/location"
	"straggler/ingest"
	"straggler/ingest/codec"
)

// walker finds candidates by names alone; nothing is opened.
type walker struct {
	formats []ingest.Format
	limits  ingest.Limits
	budget  *codec.Budget // of the run
	remote  *remoteWalk   // for URLs

	found   []*candidate
	skipped []Skipped
	seen    map[string]bool // ids of files and directories
	later   []func()        // symbolic links, after their possible targets
}

// arguments walks what the user named.
func (w *walker) arguments(paths []string, stdin *os.File) {
	var named, urls []string // regular files, and what is not on this machine
	for _, p := range expandGlobs(paths) {
		if local, ok := localPath(p); ok {
			p = local
		} else if location.IsURL(p) {
			urls = append(urls, p)
			continue
		}
		if p == "-" {
			w.add(single(streamFile("-", stdin), true, 0))
			continue
		}
		info, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist) && IsPattern(p):
			w.fail(p, fmt.Errorf("nothing matches this pattern: %w", fs.ErrNotExist))
		case err != nil:
			w.fail(p, err)
		case info.IsDir():
			w.directory(p)
		case info.Mode().IsRegular():
			named = append(named, p)
		case info.Mode()&fs.ModeNamedPipe != 0 || info.Mode()&fs.ModeCharDevice != 0:
			w.pipe(p)
		default:
			w.fail(p, errors.New("it is neither a file, a directory nor a pipe"))
		}
	}
	w.namedFiles(named)
	w.urls(urls)
}

// IsPattern reports whether an argument that names no file is a shell pattern.
func IsPattern(p string) bool { return !location.IsURL(p) && strings.ContainsAny(p, "*?[") }

// expandGlobs expands patterns that a shell left alone. A path that exists is not a pattern.
func expandGlobs(paths []string) []string {
	var out []string
	for _, p := range paths {
		if _, err := os.Lstat(p); err != nil && IsPattern(p) {
			if names, err := filepath.Glob(p); err == nil && len(names) > 0 {
				out = append(out, names...)
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

func (w *walker) directory(p string) {
	real, err := filepath.EvalSymlinks(p)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		w.fail(p, err)
		return
	}
	if clean := filepath.Clean(p); clean != real && isLink(clean) {
		w.later = append(w.later, func() { w.walk(osFolder{p, real}, nil, 0) })
		return
	}
	w.walk(osFolder{filepath.Clean(p), real}, nil, 0)
}

// pipe adds a named pipe, such as a shell makes for <(command).
func (w *walker) pipe(p string) {
	f := streamFile(p, nil)
	f.open = func() (io.ReadCloser, error) { return os.Open(p) }
	w.add(single(f, true, 0))
}

// namedFiles groups individually named files as the formats claim them, directory by directory.
func (w *walker) namedFiles(paths []string) {
	byDir := make(map[string][]string)
	for _, p := range paths {
		dir := filepath.Dir(p)
		byDir[dir] = append(byDir[dir], p)
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			for _, p := range byDir[dir] {
				w.fail(p, err)
			}
			continue
		}
		var entries []entry
		for _, p := range byDir[dir] {
			entries = append(entries, entry{name: filepath.Base(p), link: isLink(p)})
		}
		w.entries(namedFolder{osFolder{dir, real}}, entries, nil, 0, true)
	}
}

// walk adds the files of a folder and of those in it. claimed names files, relative to it, that already have an input.
func (w *walker) walk(f folder, claimed map[string]bool, depth int) {
	if !w.first(f.id()) {
		return
	}
	entries, err := f.list()
	if err != nil {
		w.fail(f.path(), err)
		return
	}
	if isStore(entries) {
		w.skip(f.path(), "a store of straggler, whose tables are not logs; --store names it")
		return
	}
	w.entries(f, entries, claimed, depth, false)
}

// isStore recognises a store, which may be next to the logs that it was made from: reading its tables as logs would double
// every row.
func isStore(entries []entry) bool {
	found := 0
	for _, e := range entries {
		if e.dir && (e.name == "commits" || e.name == "tables" || e.name == "staging") {
			found++
		}
	}
	return found == 3
}

// first reports whether an id was not seen before: a link may lead back to a directory, and a file may have two names.
func (w *walker) first(id string) bool {
	if id == "" {
		return true
	}
	if w.seen[id] {
		return false
	}
	w.seen[id] = true
	return true
}

func (w *walker) entries(f folder, entries []entry, claimed map[string]bool, depth int, explicit bool) {
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.name == b.name })
	mine := w.claims(f, entries, claimed, depth, explicit)
	for _, e := range entries {
		if mine[e.name] {
			continue
		}
		visit := func() { w.visit(f, e, mine, depth, explicit) }
		if e.link {
			w.later = append(w.later, visit)
		} else {
			visit()
		}
	}
}

func (w *walker) visit(f folder, e entry, claimed map[string]bool, depth int, explicit bool) {
	name := join(f.path(), e.name)
	switch {
	case e.skip != "":
		w.skip(name, e.skip)
	case e.dir:
		sub, err := f.folder(e)
		if err != nil {
			w.fail(name, err)
			return
		}
		w.walk(sub, within(claimed, e.name), depth)
	default:
		file, err := f.file(e)
		if err != nil {
			w.fail(name, err)
			return
		}
		if w.first(file.id) {
			w.add(single(file, explicit, depth))
		}
	}
}

// within returns the claimed names that are in a sub-directory, relative to it.
func within(claimed map[string]bool, sub string) map[string]bool {
	var out map[string]bool
	for name := range claimed {
		if rest, ok := strings.CutPrefix(name, sub+"/"); ok {
			if out == nil {
				out = make(map[string]bool)
			}
			out[rest] = true
		}
	}
	return out
}

// claims lets the formats group the entries, in the order of the table: what one format takes is not offered to the next. It
// returns the names that have an input, including those that had one before.
func (w *walker) claims(f folder, entries []entry, had map[string]bool, depth int, explicit bool) map[string]bool {
	taken := make(map[string]bool, len(had))
	dir := ingest.Dir{Path: f.path(), List: func(sub string) []string { return listNames(f, sub) }}
	for _, e := range entries {
		taken[e.name] = had[e.name]
		if e.skip == "" && !had[e.name] {
			dir.Names = append(dir.Names, dirName(e))
		}
	}
	for name := range had {
		taken[name] = true
	}
	for i := range w.formats {
		format := &w.formats[i]
		if format.Claim == nil || len(dir.Names) == 0 {
			continue
		}
		groups, err := claimed(format, dir)
		if err != nil {
			w.fail(f.path(), err)
		}
		for _, g := range groups {
			w.claim(f, g, &candidate{base: g.Base, claim: format, explicit: explicit, depth: depth, rewritten: g.Rewritten}, taken)
		}
	}
	return taken
}

func claimed(format *ingest.Format, dir ingest.Dir) (groups []ingest.Group, err error) {
	defer ingest.Recover(&err)
	return format.Claim(dir), nil
}

// claim adds the candidate of a group, unless one of its files is taken or missing.
func (w *walker) claim(f folder, g ingest.Group, c *candidate, taken map[string]bool) {
	names := slices.Concat(g.Names, g.Drop)
	if len(g.Names) == 0 || slices.ContainsFunc(names, func(n string) bool { return taken[n] }) {
		return
	}
	for _, name := range g.Names {
		file, err := descend(f, name)
		if err != nil {
			w.fail(join(f.path(), name), err)
			return
		}
		file.packed = tarNamed(name)
		c.files = append(c.files, file)
	}
	dir := filepath.Base(f.path())
	if c.name = f.path(); c.base == "" {
		c.base = dir
	} else if c.base != dir {
		c.name = c.files[0].name
	}
	c.base = codec.Trim(c.base)
	for _, name := range names {
		taken[name] = true
	}
	for _, file := range c.files {
		w.first(file.id)
	}
	w.add(c)
}

// descend finds a file by a path relative to a folder.
func descend(f folder, name string) (*file, error) {
	for {
		sub, rest, ok := strings.Cut(name, "/")
		if !ok {
			return f.file(entry{name: name})
		}
		next, err := f.folder(entry{name: sub, dir: true})
		if err != nil {
			return nil, err
		}
		f, name = next, rest
	}
}

// listNames returns the names in a sub-directory, as ingest.Dir requires them.
func listNames(f folder, sub string) []string {
	for name := range strings.SplitSeq(strings.TrimSuffix(sub, "/"), "/") {
		next, err := f.folder(entry{name: name, dir: true})
		if err != nil {
			return nil
		}
		f = next
	}
	entries, err := f.list()
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.skip == "" {
			names = append(names, dirName(e))
		}
	}
	slices.Sort(names)
	return names
}

func dirName(e entry) string {
	if e.dir {
		return e.name + "/"
	}
	return e.name
}

// add adds a candidate. A file that is in no archive is an input with its own budget.
func (w *walker) add(c *candidate) {
	for _, f := range c.files {
		if f.budget == nil {
			f.charge(codec.NewBudget(w.budget, inputLimits(w.limits), max(f.size, 0)))
		}
	}
	w.found = append(w.found, c)
}

func (w *walker) fail(name string, err error) {
	w.skipped = append(w.skipped, unreadable(name, err))
}

func (w *walker) skip(name, why string) {
	w.skipped = append(w.skipped, Skipped{Name: name, Reason: why})
}

// finish walks the symbolic links, and those they lead to.
func (w *walker) finish(ctx context.Context) error {
	for len(w.later) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		visit := w.later[0]
		w.later = w.later[1:]
		visit()
	}
	return nil
}
