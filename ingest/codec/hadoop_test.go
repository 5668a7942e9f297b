package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"

	"straggler/ingest"
)

// hadoopBlock writes text as one block of two chunks, as BlockCompressorStream does.
func hadoopBlock(text []byte, pack func([]byte) []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	for _, chunk := range [][]byte{text[:len(text)/2], text[len(text)/2:]} {
		packed := pack(chunk)
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(packed))), packed...)
	}
	return out
}

func packSnappy(b []byte) []byte { return snappy.Encode(nil, b) }

func packLZ4(b []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil || n == 0 {
		panic("the test's text does not compress")
	}
	return out[:n]
}

// hadoopSamples returns complete files by name.
func hadoopSamples(tb testing.TB) map[string][]byte {
	text := content()
	deflate := func(p []byte) []byte {
		return written(tb, p, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	}
	return map[string][]byte{
		"part-0.deflate":            append(deflate(text[:200]), deflate(text[200:])...),
		"part-0.snappy":             append(hadoopBlock(text[:200], packSnappy), hadoopBlock(text[200:], packSnappy)...),
		"raw.snappy":                packSnappy(text),
		"part-0.LZ4":                append(hadoopBlock(text[:200], packLZ4), hadoopBlock(text[200:], packLZ4)...),
		"part-0.deflate.inprogress": deflate(text),
	}
}

func TestHadoopCodecs(t *testing.T) {
	for name, data := range hadoopSamples(t) {
		z, err := Open(bytes.NewReader(data), name, 0, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, content()) || len(z.Layers()) != 1 {
			t.Errorf("%s: %d bytes, layers %v, error %v", name, len(got), z.Layers(), err)
		}
		if Trim(name) != strings.TrimSuffix(strings.ToLower(name), strings.ToLower(name[strings.IndexByte(name, '.'):])) {
			t.Errorf("%s is trimmed to %s", name, Trim(name))
		}
		// A truncated file gives a beginning of the text and an error; it can be complete only between blocks.
		for cut := 9; cut < len(data); cut++ {
			z, err := Open(bytes.NewReader(data[:cut]), name, 0, nil)
			if err != nil {
				continue
			}
			got, err := io.ReadAll(z)
			if !bytes.HasPrefix(content(), got) && len(z.Layers()) > 0 {
				t.Fatalf("%s, cut at %d: %q", name, cut, got)
			}
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ingest.ErrCorrupt) {
				t.Fatalf("%s, cut at %d: %v", name, cut, err)
			}
		}
	}
}

// A name alone does not make a file compressed, and a byte order mark is not content.
func TestNamesAndMarks(t *testing.T) {
	for name, text := range map[string]string{"a.deflate": "plain text\n", "a.snappy": "{\"Event\":1}\n", "a.lz4": "{}\n", "a.csv": "\xef\xbb\xbfa,b\n"} {
		z, err := Open(strings.NewReader(text), name, 0, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := io.ReadAll(z)
		if err != nil || string(got) != strings.TrimPrefix(text, byteOrderMark) || len(z.Layers()) > 0 {
			t.Errorf("%s: %q, layers %v, error %v", name, got, z.Layers(), err)
		}
	}
}

func FuzzHadoop(f *testing.F) {
	for name, data := range hadoopSamples(f) {
		f.Add(name, data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		z, err := Open(bytes.NewReader(data), name, 0, most(64<<20))
		if err != nil {
			return
		}
		defer z.Close()
		if n, _ := io.Copy(io.Discard, z); n > 64<<20 {
			t.Errorf("%d bytes came out", n)
		}
	})
}
