package codec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"straggler/ingest"
)

// codec is one way to compress a stream.
type codec struct {
	name  string
	magic func(head []byte) bool
	open  func(r *bufio.Reader) (io.Reader, error) // also an io.Closer where something has to be released
}

// codecs is the table of codecs; it is never changed. No two magics match the same bytes.
var codecs = []codec{
	{"gzip", prefix("\x1f\x8b\x08"), openGzip},
	{"zstd", isZstd, openZstd},
	{"lz4 block stream", prefix(lz4BlockMagic), openLZ4Block},
	{"lz4 frame", prefix("\x04\x22\x4d\x18"), openLZ4Frame},
	{"lzf", isLZF, openLZF},
	{"snappy-java", prefix(snappyJavaMagic), openSnappyJava},
	{"snappy frame", prefix(snappyFrameMagic), openSnappyFrame},
	{"xz", prefix(xzMagic), openXZ},
	{"bzip2", isBzip2, openBzip2},
}

func prefix(magic string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// maxLayers bounds how often a stream may be compressed. People gzip logs that are compressed already; no one does so
// four times.
const maxLayers = 3

// bufferBytes is how much is read ahead of a codec, of files that have so much.
const bufferBytes = 128 << 10

// Magic is how many bytes of a stream are needed to tell its codec.
const Magic = 16

// Compressed says whether a stream of that name that starts with head, Magic bytes or all there is, is compressed.
func Compressed(head []byte, name string) bool { return find(head, name) != nil }

// Reader gives what a stream was before it was compressed.
type Reader struct {
	name   string
	layers []string
	in     *counter
	first  *bufio.Reader // over in
	limit  *limiter
	last   *bufio.Reader
	close  []io.Closer
}

// Open reads r, the file of that name and size, 0 where that is unknown: buffers need not exceed it. What comes out is
// charged to m; nil is a budget of its own. It does not close r.
func Open(r io.Reader, name string, size int64, m *Meter) (*Reader, error) {
	z := &Reader{name: name, in: &counter{r: r}}
	if m == nil {
		z.in.budget = NewBudget(nil, Limits{}, 0)
		m = z.in.budget.Meter()
	}
	z.first = bufio.NewReaderSize(z.in, bufferSize(size))
	z.last = z.first
	for {
		head, err := z.last.Peek(Magic)
		if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
			return nil, z.error(err)
		}
		c := find(head, name)
		if c == nil {
			break
		}
		if ext := path.Ext(name); isSuffix(ext) { // which tells no codec within this one
			name = strings.TrimSuffix(name, ext)
		}
		if len(z.layers) == maxLayers {
			return nil, errors.Join(z.error(fmt.Errorf("%w: compressed more than %d times", ingest.ErrLimit, maxLayers)), z.Close())
		}
		z.layers = append(z.layers, c.name)
		out, err := c.open(z.last)
		if err != nil {
			return nil, errors.Join(z.error(cut(err)), z.Close())
		}
		if closer, ok := out.(io.Closer); ok {
			z.close = append(z.close, closer)
		}
		z.last = bufio.NewReaderSize(guard{out}, bufferSize(16*size))
	}
	if head, _ := z.last.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		z.last.Discard(len(head))
	}
	z.limit = &limiter{r: z.last}
	if len(z.layers) > 0 {
		z.limit.meter = m
	}
	return z, nil
}

func bufferSize(content int64) int {
	if content <= 0 || content >= bufferBytes {
		return bufferBytes
	}
	return int(max(content+1, 512)) // so that the end is seen with the last bytes
}

// byteOrderMark is what Windows' tools write before UTF-8 text. It is no part of the content.
const byteOrderMark = "\xef\xbb\xbf"

// find tells a codec by its magic, or by the file's name where the codec has none.
func find(head []byte, name string) *codec {
	for i := range codecs {
		if codecs[i].magic(head) {
			return &codecs[i]
		}
	}
	ext := path.Ext(strings.TrimSuffix(name, ".inprogress"))
	for i := range namedCodecs {
		if n := &namedCodecs[i]; strings.EqualFold(n.suffix, ext) && n.codec.magic(head) {
			return &n.codec
		}
	}
	return nil
}

// Layers names the codecs that were found, outermost first; none for a plain file.
func (z *Reader) Layers() []string { return z.layers }

// Read gives decompressed bytes. Its errors are of type *Error, io.EOF apart.
func (z *Reader) Read(p []byte) (int, error) {
	n, err := z.limit.Read(p)
	if err != nil && err != io.EOF {
		err = z.error(err)
	}
	return n, err
}

// Close releases what the codecs hold.
func (z *Reader) Close() error {
	var err error
	for i := len(z.close) - 1; i >= 0; i-- {
		err = errors.Join(err, z.close[i].Close())
	}
	z.close = nil
	return err
}

func (z *Reader) error(err error) error {
	e := &Error{File: z.name, Layers: z.layers, In: z.in.n - int64(z.first.Buffered()), Err: z.kind(err)}
	if z.limit != nil {
		e.Out = z.limit.out
	}
	return e
}

// kind sees that what a library says of damaged bytes is of the kind ingest.ErrCorrupt. What is no error of the file under the
// codecs, no limit and no missing end, is a codec's refusal of what the file holds.
func (z *Reader) kind(err error) error {
	for _, too := range []error{zstd.ErrDecoderSizeExceeded, zstd.ErrWindowSizeExceeded} {
		if errors.Is(err, too) {
			return fmt.Errorf("%w: %w", ingest.ErrLimit, err)
		}
	}
	known := errors.Is(err, ingest.ErrCorrupt) || errors.Is(err, ingest.ErrLimit) || errors.Is(err, io.ErrUnexpectedEOF)
	if len(z.layers) == 0 || z.in.err != nil || known {
		return err
	}
	return fmt.Errorf("%w: %w", ingest.ErrCorrupt, err)
}

// suffixes are the ends of file names that say how a file is compressed. `.inprogress` is what Spark appends to the
// name of a log that it is still writing.
var suffixes = []string{".gz", ".gzip", ".zst", ".zstd", ".lz4", ".lzf", ".snappy", ".sz", ".deflate", ".zlib", ".xz", ".bz2", ".inprogress"}

// Trim is a file's name without the suffixes of compression, so that a log keeps its name when it is archived.
func Trim(name string) string {
	for {
		ext := path.Ext(name)
		if !isSuffix(ext) || len(ext) == len(name) {
			return name
		}
		name = strings.TrimSuffix(name, ext)
	}
}

func isSuffix(ext string) bool {
	for _, s := range suffixes {
		if strings.EqualFold(s, ext) {
			return true
		}
	}
	return false
}
