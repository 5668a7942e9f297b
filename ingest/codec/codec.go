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

// codec is a way to compress a stream.
type codec struct {
	name  string
	magic func(head []byte) bool
	open  func(r *bufio.Reader) (io.Reader, error) // also an io.Closer if it has something to release
}

// codecs is the table of codecs; it never changes. No two magics match the same bytes.
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

// maxLayers bounds the layers of compression. People gzip logs that are already compressed; nobody compresses four times.
const maxLayers = 3

// bufferBytes is the size of a codec's input buffer, for files that are large enough.
const bufferBytes = 128 << 10

// Magic is the number of bytes needed to recognise the codec of a stream.
const Magic = 16

// Compressed reports whether a stream is compressed, given its name and its first Magic bytes (or all, if it is shorter).
func Compressed(head []byte, name string) bool { return find(head, name) != nil }

// Reader reads the decompressed bytes of a stream.
type Reader struct {
	name   string
	layers []string
	in     *counter
	first  *bufio.Reader // over in
	limit  *limiter
	last   *bufio.Reader
	close  []io.Closer
}

// Open reads r, a file of the given name and size (0 if unknown), which limits the size of buffers. Output is charged to m;
// nil means a budget of its own. Open does not close r.
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
		if ext := path.Ext(name); isSuffix(ext) { // it does not name the codec inside this one
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
	return int(max(content+1, 512)) // so that the end is seen together with the last bytes
}

// byteOrderMark precedes UTF-8 text written by Windows tools. It is not part of the content.
const byteOrderMark = "\xef\xbb\xbf"

// find finds a codec by its magic, or by the name of the file if the codec has none.
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

// Layers names the codecs found, outermost first; none for a plain file.
func (z *Reader) Layers() []string { return z.layers }

// Read returns decompressed bytes. Its errors are of type *Error, except io.EOF.
func (z *Reader) Read(p []byte) (int, error) {
	n, err := z.limit.Read(p)
	if err != nil && err != io.EOF {
		err = z.error(err)
	}
	return n, err
}

// Close releases the resources of the codecs.
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

// kind makes a library's error about damaged bytes an ingest.ErrCorrupt. An error that is not from the file below the codecs,
// a limit, or a missing end, means that a codec rejected the content.
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

// suffixes are the extensions of compressed files. Spark appends `.inprogress` to the name of a log that it is still writing.
var suffixes = []string{".gz", ".gzip", ".zst", ".zstd", ".lz4", ".lzf", ".snappy", ".sz", ".deflate", ".zlib", ".xz", ".bz2", ".inprogress"}

// Trim removes the extensions of compression from a file name, so that a log keeps its name when it is archived.
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
