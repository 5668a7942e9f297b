package discover

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"straggler/ingest"
	"straggler/ingest/codec"
)

// archive returns the kind of archive that starts with head, or "".
func archive(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return "zip"
	case isTar(head):
		return "tar"
	}
	return ""
}

// isTar verifies the checksum of the first header, which every tar has, old or new: the sum of the bytes of the header, with
// the checksum field itself taken as blanks.
func isTar(head []byte) bool {
	if len(head) < 512 {
		return false
	}
	sum, want := 8*int64(' '), int64(0)
	for i, b := range head[:512] {
		if i >= 148 && i < 156 {
			if b >= '0' && b <= '7' {
				want = want*8 + int64(b-'0')
			}
			continue
		}
		sum += int64(b)
	}
	return sum == want && head[0] != 0
}

// member is a file of an archive.
type member struct {
	name string // cleaned, relative, never used as a path on disk
	file *file
	skip string
}

// expand opens an archive as a folder. kind is the result of archive. With an error it returns what could be listed.
func (x *finder) expand(ctx context.Context, f *file, kind string, layers []string) (folder, error) {
	raw, closer, size, broken := inPlace(ctx, f, layers, x.spool)
	if raw == nil {
		return nil, broken
	}
	defer closer.Close()
	var members []member
	var err error
	if kind == "zip" {
		members, err = zipMembers(raw, size, f, x.o.Limits)
	} else {
		members, err = tarMembers(ctx, raw, size, f, x.o.Limits)
	}
	if broken != nil && !ingest.IsCut(broken) { // listing a truncated archive finds the error again
		err = fmt.Errorf("what could be listed of the archive is read, and may be wrong: %w", broken)
	}
	return newArchiveFolder(f.name, members), err
}

// inPlace provides random access to an archive, also through f.at from then on: archives that are compressed or remote,
// streams, and archives in archives are copied to the temporary directory. For a truncated or damaged archive it provides the
// part before the damage, with the error.
func inPlace(ctx context.Context, f *file, layers []string, sp *spool) (io.ReaderAt, io.Closer, int64, error) {
	if f.at != nil && len(layers) == 0 && !f.remote {
		r, closer, err := f.at()
		return r, closer, f.size, err
	}
	r, err := f.reader(ctx, new(fileStats))
	if err != nil {
		return nil, nil, 0, err
	}
	defer r.Close()
	name, size, broken := sp.copy(r)
	if name == "" {
		return nil, nil, 0, broken
	}
	f.size = size
	f.at = func() (io.ReaderAt, io.Closer, error) {
		tmp, err := os.Open(name)
		return tmp, tmp, err
	}
	ra, closer, err := f.at()
	if err != nil {
		return nil, nil, 0, err
	}
	return ra, closer, size, broken
}

// tarMembers lists a tar. For a truncated one it returns the members before the cut.
func tarMembers(ctx context.Context, r io.ReaderAt, size int64, f *file, l ingest.Limits) ([]member, error) {
	section := io.NewSectionReader(r, 0, size)
	tr := tar.NewReader(section)
	var out []member
	for len(out) < l.Entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("the archive cannot be read to its end: %w", err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		m := member{name: memberName(h.Name)}
		start, _ := section.Seek(0, io.SeekCurrent)
		if h.Typeflag != tar.TypeReg || isSparse(h) {
			m.skip = "a link, a sparse or a special file of an archive"
		} else {
			m.file = tarFile(join(f.name, m.name), f, start, h.Size)
		}
		out = append(out, m)
	}
	return nil, fmt.Errorf("%w: the archive has more than %d entries; raise --max-entries if it is genuine", ingest.ErrLimit, l.Entries)
}

// tarNamed reports whether a file is a tar by its name, compressed or not.
func tarNamed(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(codec.Trim(name), ".tar") || strings.HasSuffix(name, ".tgz")
}

// packed reads the files of a tar one after the other, each ended by a line break, as one file of a group: public traces have
// each table as a tar of its own. A file that is no tar, whatever its name, is read as it is.
type packed struct {
	io.Closer
	in    *bufio.Reader
	tar   *tar.Reader // nil until the first read, and if it is none
	known bool        // whether it is a tar
	last  byte        // of the current member; 0 between members
}

func (p *packed) Read(b []byte) (int, error) {
	if !p.known {
		head, err := p.in.Peek(512)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if p.known = true; isTar(head) {
			p.tar = tar.NewReader(p.in)
		}
	}
	if p.tar == nil {
		return p.in.Read(b)
	}
	for len(b) > 0 {
		n, err := p.tar.Read(b)
		switch {
		case n > 0:
			p.last = b[n-1]
			return n, nil
		case err == nil:
			return 0, nil
		case !errors.Is(err, io.EOF):
			return 0, err
		case p.last != 0 && p.last != '\n':
			p.last, b[0] = '\n', '\n'
			return 1, nil
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// next moves to the next regular file that is not hidden: macOS adds a hidden one to every file.
func (p *packed) next() error {
	for {
		h, err := p.tar.Next()
		if err != nil {
			return err
		}
		if p.last = 0; h.Typeflag == tar.TypeReg && !isSparse(h) && !strings.HasPrefix(path.Base(h.Name), ".") {
			return nil
		}
	}
}

func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

func tarFile(name string, in *file, start, size int64) *file {
	f := &file{name: name, size: size}
	f.charge(in.budget)
	f.at = func() (io.ReaderAt, io.Closer, error) {
		r, closer, err := in.at()
		if err != nil {
			return nil, nil, err
		}
		return io.NewSectionReader(r, start, size), closer, nil
	}
	f.open = func() (io.ReadCloser, error) {
		r, closer, err := f.at()
		if err != nil {
			return nil, err
		}
		return &exactly{r: r.(io.Reader), left: size, Closer: closer}, nil
	}
	return f
}

// exactly is a reader that reports a member shorter than its header says.
type exactly struct {
	r    io.Reader
	left int64
	io.Closer
}

func (e *exactly) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// zipDirectoryBytes is the allowed size of the central directory of a zip per allowed entry.
const zipDirectoryBytes = 1 << 10

// zipMembers lists a zip.
func zipMembers(r io.ReaderAt, size int64, f *file, l ingest.Limits) ([]member, error) {
	z, err := zip.NewReader(&budgetReaderAt{r, int64(l.Entries) * zipDirectoryBytes}, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("zip: %w", err)
	}
	if len(z.File) > l.Entries {
		return nil, fmt.Errorf("%w: the archive has more than %d entries; raise --max-entries if it is genuine", ingest.ErrLimit, l.Entries)
	}
	var out []member
	for _, e := range z.File {
		if strings.HasSuffix(e.Name, "/") {
			continue
		}
		m := member{name: memberName(e.Name)}
		switch {
		case e.Flags&1 != 0:
			m.skip = "encrypted in its archive"
		case !e.Mode().IsRegular():
			m.skip = "a link or a special file of an archive"
		case e.UncompressedSize64 > 100<<20 && e.UncompressedSize64/uint64(l.Ratio) > e.CompressedSize64:
			m.skip = fmt.Sprintf("it claims more than %d bytes for each byte in its archive, as a decompression bomb does; raise --max-ratio if it is genuine", l.Ratio)
		case e.UncompressedSize64 > uint64(l.Input):
			m.skip = fmt.Sprintf("it claims more than %d bytes; raise --max-input if it is genuine", l.Input)
		default:
			m.file = zipFile(join(f.name, m.name), f, e)
		}
		out = append(out, m)
	}
	return out, nil
}

// zipFile reads a member. The library enforces the length in its header.
func zipFile(name string, in *file, e *zip.File) *file {
	f := &file{name: name, size: int64(e.UncompressedSize64)}
	f.charge(in.budget)
	inflated := in.budget.Meter()
	start, err := e.DataOffset()
	packed, method, header := int64(e.CompressedSize64), e.Method, e.FileHeader
	f.open = func() (io.ReadCloser, error) {
		if err != nil {
			return nil, fmt.Errorf("zip: %w", err)
		}
		r, closer, err := in.at()
		if err != nil {
			return nil, err
		}
		body := io.NewSectionReader(r, start, packed)
		switch method {
		case zip.Store:
			return &checked{r: body, h: header, Closer: closer}, nil
		case zip.Deflate:
			return &checked{r: flate.NewReader(body), h: header, inflated: inflated, Closer: closer}, nil
		}
		closer.Close()
		return nil, fmt.Errorf("zip: compression method %d is not supported", method)
	}
	return f
}

// checked enforces the length and the checksum that the archive gives for a member.
type checked struct {
	r   io.Reader
	h   zip.FileHeader
	n   uint64
	crc uint32

	inflated *codec.Meter // nil if the member is stored uncompressed
	io.Closer
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += uint64(n)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	if c.inflated != nil {
		if err := c.inflated.At(int64(c.n)); err != nil {
			return 0, fmt.Errorf("zip: %w", err)
		}
	}
	switch {
	case c.n > c.h.UncompressedSize64:
		return 0, fmt.Errorf("%w: zip: the member is longer than its header claims", ingest.ErrCorrupt)
	case isFlate(err):
		return n, fmt.Errorf("%w: zip: %w", ingest.ErrCorrupt, err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF) && c.n < c.h.UncompressedSize64:
		// The directory of a zip is at its end, so no member of a zip that can be listed is truncated.
		return n, fmt.Errorf("%w: zip: the member is shorter than its header claims", ingest.ErrCorrupt)
	case err != nil && !errors.Is(err, io.EOF):
		return n, err
	case err != nil && c.crc != c.h.CRC32:
		return n, fmt.Errorf("%w: zip: the checksum of the member is wrong", ingest.ErrCorrupt)
	}
	return n, err
}

func isFlate(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt)
}

// budgetReaderAt bounds how much of an archive is read before its entries are known.
type budgetReaderAt struct {
	r    io.ReaderAt
	left int64
}

func (b *budgetReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("%w: the directory of the archive is too large; raise --max-entries if it is genuine", ingest.ErrLimit)
	}
	return b.r.ReadAt(p, off)
}

// maxMemberDepth bounds the directories above a member.
const maxMemberDepth = 64

// memberName turns the name of a member into a relative path without ".." and "." elements; "" if it has no sensible one.
func memberName(name string) string {
	if !strings.Contains(name, "/") {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if strings.Count(name, "/") > maxMemberDepth {
		return ""
	}
	return name
}

// archiveFolder is a directory of an archive.
type archiveFolder struct {
	name    string
	entries map[string]entry
	files   map[string]*file
	folders map[string]*archiveFolder
}

func newArchiveFolder(name string, members []member) *archiveFolder {
	root := &archiveFolder{name: name}
	for _, m := range members {
		root.add(m.name, m)
	}
	return root
}

// add inserts a member. Of two with the same name the last counts, as when they are unpacked; a name that is both a file and a
// directory is a directory.
func (f *archiveFolder) add(name string, m member) {
	if f.entries == nil {
		f.entries, f.files, f.folders = make(map[string]entry), make(map[string]*file), make(map[string]*archiveFolder)
	}
	first, rest, deeper := strings.Cut(name, "/")
	if deeper {
		sub := f.folders[first]
		if sub == nil {
			sub = &archiveFolder{name: join(f.name, first)}
			f.folders[first] = sub
			f.entries[first] = entry{name: first, dir: true}
		}
		sub.add(rest, m)
		return
	}
	if f.folders[first] == nil && first != "" {
		f.entries[first] = entry{name: first, skip: m.skip}
		f.files[first] = m.file
	}
}

func (f *archiveFolder) path() string { return f.name }
func (f *archiveFolder) id() string   { return "" }

func (f *archiveFolder) list() ([]entry, error) {
	out := make([]entry, 0, len(f.entries))
	for _, name := range slices.Sorted(maps.Keys(f.entries)) {
		out = append(out, f.entries[name])
	}
	return slices.Clip(out), nil
}

func (f *archiveFolder) folder(e entry) (folder, error) {
	if sub := f.folders[e.name]; sub != nil {
		return sub, nil
	}
	return nil, fmt.Errorf("%s: %w", e.name, fs.ErrNotExist)
}

func (f *archiveFolder) file(e entry) (*file, error) {
	if file := f.files[e.name]; file != nil {
		return file, nil
	}
	return nil, fmt.Errorf("%s: %w", e.name, fs.ErrNotExist)
}
