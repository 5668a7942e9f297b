package run_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/run"
	"straggler/schema"
)

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entry is a member of a test's archive.
type entry struct {
	name string
	data []byte
}

func tarred(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.data))}); err != nil {
			t.Fatal(err)
		}
		w.Write(e.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.Create(e.name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(e.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// members returns the contents of the archives: names that must never be used as paths, groups, and a compressed log.
func members(t testing.TB) []entry {
	return []entry{
		{"logs/a.log", toyLog("a", 3)},
		{"../../../../etc/b.log", toyLog("b", 2)},
		{"/abs/c.log.gz", gzipped(t, toyLog("c", 1))},
		{"logs/d.toys/part2", []byte("run late\n")},
		{"logs/d.toys/part1", toyLog("d", 1)},
		{"logs/README", []byte("nothing")},
		{"logs/empty", nil},
		{strings.Repeat("deep/", 1000) + "x.log", toyLog("deep", 1)},
	}
}

// Files that belong together may each be packed as a tar of its own, as the tables of public traces are.
func TestPackedParts(t *testing.T) {
	inner := gzipped(t, tarred(t, entry{"./._part1.csv", []byte("\x00\x05\x16\x07")}, entry{"part1.csv", bytes.TrimSuffix(toyLog("d", 1), []byte("\n"))},
		entry{"sub/part1b.csv", []byte("run b\n")}))
	dir := tree(t, map[string][]byte{"d.toys/part1.tar.gz": inner, "d.toys/part2.tgz": gzipped(t, tarred(t, entry{"part2", []byte("run late\n")})), "d.toys/part3.tar": []byte("run plain\n")})
	st := newStore(t)
	s := mustRun(t, st, run.Options{}, dir)
	want(t, attempts(t, st), []string{"d 4"})
	if s.Rejects != 0 || s.Count(run.Read) != 1 {
		t.Errorf("%d rejects, %v", s.Rejects, statuses(dir, s))
	}
}

func TestArchives(t *testing.T) {
	all := members(t)
	packed := map[string][]byte{
		"x.tar":     tarred(t, all...),
		"x.tar.gz":  gzipped(t, tarred(t, all...)),
		"x.tgz.zip": zipped(t, entry{"inner.tgz", gzipped(t, tarred(t, all...))}),
		"x.zip":     zipped(t, all...),
		"x.gz":      gzipped(t, zipped(t, all...)),
	}
	for name, data := range packed {
		dir := tree(t, map[string][]byte{name: data})
		temp := t.TempDir()
		st := newStore(t)
		s := mustRun(t, st, run.Options{TempDir: temp}, dir)
		want(t, attempts(t, st), []string{"a 3", "b 2", "c 1", "d 2"})
		if s.Count(run.Read) != 4 || s.Count(run.Failed) != 0 || s.Count(run.NotRecognised) != 2 {
			t.Errorf("%s: %v", name, statuses(dir, s))
		}
		for _, r := range s.Results {
			if !strings.HasPrefix(r.Name, filepath.Join(dir, name)+"/") {
				t.Errorf("%s: the member is called %s", name, r.Name)
			}
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("%s: %d temporary files are left", name, len(left))
		}
		s = mustRun(t, st, run.Options{TempDir: temp}, filepath.Join(dir, name))
		if s.Count(run.AlreadyThere) != 4 || s.Commit != nil {
			t.Errorf("%s again: %v", name, statuses(dir, s))
		}
		in := mustRun(t, newStore(t), run.Options{TempDir: temp, Stdin: pipe(t, data)}, "-")
		if in.Count(run.Read) != 4 {
			t.Errorf("%s as standard input: %v", name, statuses(dir, in))
		}
	}
}

// A truncated or damaged archive yields what is left of it.
func TestCutArchives(t *testing.T) {
	whole := tarred(t, entry{"a.log", toyLog("a", 300)}, entry{"b.log", toyLog("b", 300)}, entry{"c.log", toyLog("c", 1)})
	for name, data := range map[string][]byte{"x.tar": whole[:len(whole)/2], "x.tar.gz": gzipped(t, whole)[:len(gzipped(t, whole))*2/3]} {
		dir := tree(t, map[string][]byte{name: data})
		st := newStore(t)
		s := mustRun(t, st, run.Options{}, dir)
		if got := attempts(t, st); len(got) == 0 || !strings.HasPrefix(got[0], "a ") {
			t.Errorf("%s: %v: %v", name, statuses(dir, s), got)
		}
		if s.Count(run.Failed) == 0 {
			t.Errorf("%s: nobody is told that it is cut: %v", name, statuses(dir, s))
		}
	}
	wrong := zipped(t, entry{"a.log", toyLog("a", 300)}, entry{"b.log", toyLog("b", 300)})
	at := bytes.LastIndex(wrong, []byte("PK\x01\x02")) // the directory's entry of b.log: its checksum
	wrong[at+16] ^= 1
	dir := tree(t, map[string][]byte{"x.zip": wrong, "cut.zip": wrong[:len(wrong)-30]})
	s := mustRun(t, newStore(t), run.Options{}, dir)
	want(t, statuses(dir, s), []string{"cut.zip failed", "x.zip/a.log read", "x.zip/b.log read in part"})
	for _, r := range s.Results[2:] {
		if !errors.Is(r.Err, ingest.ErrCorrupt) {
			t.Errorf("error %v", r.Err)
		}
	}
}

// Members that cannot be read are reported with the reason, and the others are read.
func TestOddMembers(t *testing.T) {
	data := zipped(t, entry{"secret.log", toyLog("secret", 1)}, entry{"good.log", toyLog("good", 1)}, entry{"odd.log", toyLog("odd", 1)})
	first := bytes.Index(data, []byte("PK\x01\x02"))
	data[first+8] |= 1 // encrypted
	last := bytes.LastIndex(data, []byte("PK\x01\x02"))
	data[last+10] = 99 // a compression method that does not exist
	dir := tree(t, map[string][]byte{"x.zip": data})
	s := mustRun(t, newStore(t), run.Options{}, dir)
	want(t, statuses(dir, s), []string{"x.zip/good.log read", "x.zip/odd.log failed", "x.zip/secret.log not recognised"})
	if !strings.Contains(s.Results[1].Reason, "method 99") || !strings.Contains(s.Results[2].Reason, "encrypted") {
		t.Errorf("%q, %q", s.Results[1].Reason, s.Results[2].Reason)
	}

	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "dir/", Typeflag: tar.TypeDir}, {Name: "link.log", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard.log", Typeflag: tar.TypeLink, Linkname: "good.log"}, {Name: "fifo", Typeflag: tar.TypeFifo},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	old := toyLog("old", 1)
	for _, text := range [][]byte{old, toyLog("good", 2)} { // the later of two members with one name counts
		w.WriteHeader(&tar.Header{Name: "good.log", Mode: 0o600, Size: int64(len(text))})
		w.Write(text)
	}
	w.Close()
	dir = tree(t, map[string][]byte{"x.tar": b.Bytes()})
	st := newStore(t)
	s = mustRun(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"x.tar/fifo not recognised", "x.tar/good.log read", "x.tar/hard.log not recognised", "x.tar/link.log not recognised"})
	want(t, attempts(t, st), []string{"good 2"})
}

func TestArchiveBombs(t *testing.T) {
	blank := make([]byte, 1<<20)
	var big bytes.Buffer
	z := zip.NewWriter(&big)
	f, _ := z.Create("bomb.log")
	io.WriteString(f, "toy bomb\n")
	for range 300 {
		f.Write(blank)
	}
	z.Close()
	lying := bytes.Clone(big.Bytes())
	at := bytes.Index(lying, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[at+24:], 1<<20) // the directory claims that it is 1 MiB long

	many := make([]entry, 300)
	for i := range many {
		many[i] = entry{fmt.Sprintf("%d.log", i), toyLog(fmt.Sprint(i), 1)}
	}
	deep := toyLog("deep", 1)
	for i := range 4 {
		deep = zipped(t, entry{fmt.Sprintf("%d.zip", i), deep})
	}
	tarBomb := gzipped(t, tarred(t, entry{"big.log", append(toyLog("x", 1), make([]byte, 8<<20)...)}))

	for name, c := range map[string]struct {
		data   []byte
		limits ingest.Limits
		kind   error
	}{
		"entries.tar":  {tarred(t, many...), ingest.Limits{Entries: 100}, ingest.ErrLimit},
		"entries.zip":  {zipped(t, many...), ingest.Limits{Entries: 100}, ingest.ErrLimit},
		"budget.zip":   {zipped(t, many...), ingest.Limits{Entries: 4}, ingest.ErrLimit},
		"deep.zip":     {deep, ingest.Limits{}, ingest.ErrLimit},
		"spool.tar.gz": {tarBomb, ingest.Limits{Spool: 1 << 20}, ingest.ErrLimit},
		"size.tar.gz":  {tarBomb, ingest.Limits{Input: 1 << 20}, ingest.ErrLimit},
		"lying.zip":    {lying, ingest.Limits{}, ingest.ErrCorrupt},
	} {
		dir := tree(t, map[string][]byte{name: c.data})
		s, err := run.Run(t.Context(), newStore(t), []ingest.Format{toy()}, []string{dir}, run.Options{Limits: c.limits, TempDir: t.TempDir()})
		if bad := s.Unread(); len(bad) != 1 || !errors.Is(bad[0].Err, c.kind) {
			t.Errorf("%s: %v, error %v", name, statuses(dir, s), err)
		}
	}
	dir := tree(t, map[string][]byte{"bomb.zip": big.Bytes()})
	s, err := run.Run(t.Context(), newStore(t), []ingest.Format{toy()}, []string{dir}, run.Options{})
	if !errors.Is(err, run.ErrNothingToRead) || !strings.Contains(s.Results[0].Reason, "bomb") {
		t.Errorf("a member that claims to be huge: %v, %+v", err, s.Results)
	}
}

// Whatever an archive contains, listing it is bounded, and its members stay below its name.
func FuzzArchive(f *testing.F) {
	all := members(f)
	f.Add(tarred(f, all...))
	f.Add(zipped(f, all...))
	f.Add(gzipped(f, tarred(f, all[:3]...)))
	f.Add(zipped(f, entry{"in.zip", zipped(f, all[:2]...)}))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(dir, "x")
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		limits := ingest.Limits{Spool: 8 << 20, Input: 8 << 20, Entries: 1000}
		found, err := discover.Find(t.Context(), []ingest.Format{toy()}, []string{name}, discover.Options{Limits: limits, TempDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for _, in := range found.Inputs {
			if in.Name != name && !strings.HasPrefix(in.Name, name+"/") || strings.Contains(in.Name, "/../") {
				t.Errorf("a member is called %q", in.Name)
			}
			out := ingest.NewSink(limits, func(schema.Batch) error { return nil })
			in.Format.Read(t.Context(), in.Input, out)
		}
	})
}
