package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"straggler/ingest"
)

// content returns the content of the small files of the tests: the forty lines of testdata/lines.*.
func content() []byte {
	var b bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&b, "{\"line\":%d}\n", i)
	}
	return b.Bytes()
}

// sample is a small file of one codec. whole reports at which lengths a truncated file is a complete one.
type sample struct {
	name  string
	codec string
	data  []byte
	ends  []int
}

// samples writes content() with every codec in at least two pieces, as in logs that were appended to.
func samples(tb testing.TB) []sample {
	text := content()
	parts := [][]byte{text[:200], text[200:]}
	file := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			tb.Fatal(err)
		}
		return b
	}
	list := []sample{
		{name: "lines.bz2", codec: "bzip2", data: file("lines.bz2")},
		{name: "lines.xz", codec: "xz", data: file("lines.xz")},
		{name: "blocks.xz", codec: "xz", data: file("blocks.xz")},
	}
	add := func(codec string, piece func([]byte) []byte) {
		s := sample{name: "lines." + codec, codec: codec}
		for _, p := range parts {
			s.ends = append(s.ends, len(s.data))
			s.data = append(s.data, piece(p)...)
		}
		list = append(list, s)
	}
	add("gzip", func(p []byte) []byte {
		return written(tb, p, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	})
	add("zstd", func(p []byte) []byte {
		return written(tb, p, func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })
	})
	add("lz4 frame", func(p []byte) []byte {
		return written(tb, p, func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) })
	})
	add("snappy frame", func(p []byte) []byte {
		return written(tb, p, func(w io.Writer) io.WriteCloser { return s2.NewWriter(w, s2.WriterSnappyCompat()) })
	})
	add("lz4 block stream", lz4Blocks)
	add("lzf", lzfChunks)
	add("snappy-java", func(p []byte) []byte { return append(snappyJavaHeader(), snappyJavaBlock(p)...) })
	return list
}

func written(tb testing.TB, p []byte, codec func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := codec(&b)
	if _, err := w.Write(p); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// lz4Blocks writes a compressed block, a raw one, and the end of a stream.
func lz4Blocks(p []byte) []byte {
	block := func(method byte, packed, original []byte) []byte {
		h := append([]byte(lz4BlockMagic), method|6)
		h = binary.LittleEndian.AppendUint32(h, uint32(len(packed)))
		h = binary.LittleEndian.AppendUint32(h, uint32(len(original)))
		sum := uint32(0)
		if len(original) > 0 {
			sum = xxh32(original, lz4BlockSeed) & 0x0FFFFFFF
		}
		return append(binary.LittleEndian.AppendUint32(h, sum), packed...)
	}
	half := len(p) / 2
	packed := make([]byte, lz4.CompressBlockBound(half))
	n, err := lz4.CompressBlock(p[:half], packed, nil)
	if err != nil || n == 0 {
		panic("the test's text does not compress")
	}
	out := block(lz4BlockLZ4, packed[:n], p[:half])
	out = append(out, block(lz4BlockRaw, p[half:], p[half:])...)
	return append(out, block(lz4BlockRaw, nil, nil)...)
}

// lzfChunks writes a raw chunk and a compressed one whose only back reference repeats a byte.
func lzfChunks(p []byte) []byte {
	chunk := func(kind byte, body []byte, original int) []byte {
		h := append([]byte{'Z', 'V', kind}, byte(len(body)>>8), byte(len(body)))
		if kind == lzfPacked {
			h = append(h, byte(original>>8), byte(original))
		}
		return append(h, body...)
	}
	var body []byte
	for rest := p[9:]; len(rest) > 0; {
		n := min(len(rest), 32)
		body = append(append(body, byte(n-1)), rest[:n]...)
		rest = rest[n:]
	}
	return append(chunk(lzfRaw, p[:9], 9), chunk(lzfPacked, body, len(p)-9)...)
}

func snappyJavaHeader() []byte {
	h := binary.BigEndian.AppendUint32([]byte(snappyJavaMagic), 1)
	return binary.BigEndian.AppendUint32(h, 1)
}

func snappyJavaBlock(p []byte) []byte {
	body := snappy.Encode(nil, p)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func open(r io.Reader, name string, m *Meter) ([]byte, []string, error) {
	z, err := Open(r, name, 0, m)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(z)
	return data, z.Layers(), errors.Join(err, z.Close())
}

// most limits the output to n bytes.
func most(n int64) *Meter { return NewBudget(nil, Limits{Out: n}, 1<<40).Meter() }

func TestEveryCodec(t *testing.T) {
	for _, s := range samples(t) {
		for how, r := range map[string]io.Reader{
			"at once":      bytes.NewReader(s.data),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(s.data)),
			"data and EOF": iotest.DataErrReader(bytes.NewReader(s.data)),
		} {
			got, layers, err := open(r, s.name, nil)
			if err != nil || !bytes.Equal(got, content()) {
				t.Errorf("%s, %s: got %d bytes, error %v", s.name, how, len(got), err)
			}
			if len(layers) != 1 || layers[0] != s.codec {
				t.Errorf("%s, %s: recognised as %v", s.name, how, layers)
			}
		}
	}
}

// A file truncated anywhere gives the beginning of its content and an error that says it is truncated.
func TestCutAtEveryByte(t *testing.T) {
	for _, s := range samples(t) {
		seen := 0
		for n := range len(s.data) {
			got, layers, err := open(bytes.NewReader(s.data[:n]), s.name, nil)
			if len(layers) == 0 && err == nil {
				if n >= Magic {
					t.Fatalf("%s cut at %d: taken for a plain file", s.name, n)
				}
				continue
			}
			if !bytes.HasPrefix(content(), got) {
				t.Fatalf("%s cut at %d: gave what it never held", s.name, n)
			}
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d: %v", s.name, n, err)
			}
			if err == nil && !mayEnd(s, n) {
				t.Fatalf("%s cut at %d of %d: %d bytes and no error", s.name, n, len(s.data), len(got))
			}
			seen = max(seen, len(got))
		}
		if seen == 0 {
			t.Errorf("%s: a cut file never gave anything", s.name)
		}
	}
}

// mayEnd reports whether a truncated file is complete: between two pieces, and between the blocks of the two framings without
// an end marker.
func mayEnd(s sample, n int) bool {
	for _, end := range s.ends {
		if n == end {
			return true
		}
	}
	switch s.codec {
	case "lzf":
		return bytes.HasPrefix(s.data[n:], []byte("ZV"))
	case "snappy-java":
		return n == len(snappyJavaHeader()) || n == s.ends[1]+len(snappyJavaHeader())
	case "xz", "bzip2":
		// Between the two streams of lines.xz, and around its padding; bzip2 pads its streams to bytes.
		return s.name == "lines.xz" && bytes.HasSuffix(bytes.TrimRight(s.data[:n], "\x00"), []byte(xzFooter)) ||
			bytes.HasPrefix(s.data[n:], []byte("BZh"))
	case "snappy frame":
		magic := len(snappyFrameMagic)
		return n == magic || n == s.ends[1]+magic
	}
	return false
}

func TestLayers(t *testing.T) {
	pack := func(p []byte) []byte {
		return written(t, p, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	}
	log := pack(pack(lz4Blocks(content())))
	got, layers, err := open(bytes.NewReader(log), "app.lz4.gz.gz", nil)
	if err != nil || !bytes.Equal(got, content()) {
		t.Fatalf("got %d bytes, error %v", len(got), err)
	}
	if want := "gzip, gzip, lz4 block stream"; strings.Join(layers, ", ") != want {
		t.Errorf("layers %v, want %s", layers, want)
	}
	if _, _, err := open(bytes.NewReader(pack(log)), "app", nil); !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("four layers: error %v, want ingest.ErrLimit", err)
	}
}

func TestPlain(t *testing.T) {
	for _, text := range []string{"", "B", "BZh9 is how a bzip2 file starts, but this is prose", "ZV", "ZVX", "{}", "\x1f", strings.Repeat("x", 1<<20)} {
		got, layers, err := open(strings.NewReader(text), "plain.gz", nil)
		if err != nil || string(got) != text || len(layers) != 0 {
			t.Errorf("%.20q: got %d bytes by %v, error %v", text, len(got), layers, err)
		}
	}
}

// Every byte of every sample is changed in turn. The result is the content or an error; codecs without a checksum may return
// other bytes, but no more than their headers allow.
func TestFlippedBytes(t *testing.T) {
	unchecked := map[string]bool{"lzf": true, "snappy-java": true}
	for _, s := range samples(t) {
		wrong := 0
		for i := range s.data {
			data := bytes.Clone(s.data)
			data[i] ^= 0x41
			got, layers, err := open(bytes.NewReader(data), s.name, nil)
			if len(layers) == 0 || err != nil || bytes.Equal(got, content()) {
				continue
			}
			wrong++
			if !unchecked[s.codec] {
				t.Logf("%s: byte %d changed and %d bytes came out without an error", s.name, i, len(got))
			}
		}
		// The header of a gzip member and the descriptor of a frame have bytes that no checksum covers. They do not affect
		// the content.
		if wrong > 0 && !unchecked[s.codec] {
			t.Errorf("%s: %d changed bytes changed the content unnoticed", s.name, wrong)
		}
	}
}

func TestBombs(t *testing.T) {
	blank := make([]byte, 1<<20)
	var bomb bytes.Buffer
	w, _ := zstd.NewWriter(&bomb)
	for range 300 {
		w.Write(blank)
	}
	w.Close()
	got, err := Open(bytes.NewReader(bomb.Bytes()), "bomb.zst", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, got)
	if !errors.Is(err, ingest.ErrLimit) || n < 100<<20 || n > 200<<20 {
		t.Errorf("%d bytes of a bomb came out, error %v", n, err)
	}
	_, _, err = open(bytes.NewReader(samples(t)[3].data), "small.gz", most(100))
	if !errors.Is(err, ingest.ErrLimit) {
		t.Errorf("content over the limit: error %v", err)
	}
	if text := content(); len(text) > 100 {
		if got, _, err := open(bytes.NewReader(text), "plain", most(100)); err != nil || len(got) != len(text) {
			t.Errorf("the limit is for what decompresses; a plain file gave %d bytes, error %v", len(got), err)
		}
	}
}

// Headers may claim any size; memory must not be allocated on their word. The sizes are real: 1.5 GiB is what `xz
// --lzma2=dict=1536MiB` writes.
func TestClaims(t *testing.T) {
	dictionary, err := os.ReadFile("testdata/dictionary.xz")
	if err != nil {
		t.Fatal(err)
	}
	window := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 21 << 3, 1, 0, 0, 0} // a frame with a window of 2 GiB
	claims := map[string][]byte{
		"dictionary.xz":  dictionary,
		"window.zst":     window,
		"block.snappy":   append(snappyJavaHeader(), 0x07, 0xff, 0xff, 0xff, 1, 2, 3),
		"huge.snappy":    append(snappyJavaHeader(), 0x7f, 0xff, 0xff, 0xff, 1, 2, 3),
		"content.snappy": append(snappyJavaHeader(), 0, 0, 0, 6, 0x80, 0x80, 0x80, 0x40, 0, 0),
		"lengths.lz4":    append([]byte(lz4BlockMagic), 0x2f, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0),
		"level.lz4":      append([]byte(lz4BlockMagic), 0x20, 0xff, 4, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0),
	}
	for name, data := range claims {
		_, _, err := open(bytes.NewReader(data), name, nil)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if allocated := allocatedBy(func() { open(bytes.NewReader(data), name, nil) }); allocated > 40<<20 {
			t.Errorf("%s: %d MiB were allocated for %d bytes", name, allocated>>20, len(data))
		}
	}
}

func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The logs that Spark itself wrote with each codec have one JSON object per line, the first of them a log start.
func TestSparkLogs(t *testing.T) {
	for _, name := range []string{"lz4/*.lz4", "lzf/*.lzf", "snappy/*.snappy", "clean/*.zstd"} {
		files, _ := filepath.Glob("../../testdata/labelled/" + name)
		if len(files) != 1 {
			t.Fatalf("testdata/labelled/%s: %d files", name, len(files))
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		got, layers, err := open(bytes.NewReader(data), files[0], nil)
		if err != nil || len(layers) != 1 {
			t.Fatalf("%s: %v %v", name, layers, err)
		}
		lines := bytes.Split(bytes.TrimSuffix(got, []byte("\n")), []byte("\n"))
		for i, line := range lines {
			if !json.Valid(line) {
				t.Fatalf("%s: line %d is no JSON: %.80q", name, i+1, line)
			}
		}
		if !bytes.Contains(lines[0], []byte("SparkListenerLogStart")) || !bytes.Contains(lines[len(lines)-1], []byte("SparkListenerApplicationEnd")) {
			t.Errorf("%s: starts with %.60q and ends with %.60q", name, lines[0], lines[len(lines)-1])
		}
	}
}

// Check values of the reference implementation of xxHash (github.com/Cyan4973/xxHash, cli test vectors) for the empty input,
// with seeds 0 and 2654435761 (a prime).
func TestXXH32(t *testing.T) {
	for _, c := range []struct {
		seed, want uint32
	}{{0, 0x02CC5D05}, {2654435761, 0x36B78AE7}} {
		if got := xxh32(nil, c.seed); got != c.want {
			t.Errorf("xxh32 of nothing with seed %d is %#x, want %#x", c.seed, got, c.want)
		}
	}
}

func TestTrim(t *testing.T) {
	for name, want := range map[string]string{
		"app-1.lz4.gz":          "app-1",
		"app-1.zstd.INPROGRESS": "app-1",
		"app-1":                 "app-1",
		".gz":                   ".gz",
		"job.jhist.xz":          "job.jhist",
		"events.json":           "events.json",
	} {
		if got := Trim(name); got != want {
			t.Errorf("Trim(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestErrorSaysWhere(t *testing.T) {
	for _, s := range samples(t) {
		if s.codec != "gzip" {
			continue
		}
		data := bytes.Clone(s.data)
		data[len(data)-6] ^= 1 // in the checksum of the last member
		_, _, err := open(bytes.NewReader(data), "logs/app.gz", nil)
		var e *Error
		if !errors.As(err, &e) || e.File != "logs/app.gz" || e.Out != int64(len(content())) {
			t.Errorf("got %v (%+v)", err, e)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.data)
		f.Add(s.data[:len(s.data)*2/3])
		sum := crc32.ChecksumIEEE(s.data)
		f.Add(append(bytes.Clone(s.data), byte(sum)))
	}
	for _, name := range []string{"lz4/*.lz4", "lzf/*.lzf", "snappy/*.snappy", "clean/*.zstd"} {
		files, _ := filepath.Glob("../../testdata/labelled/" + name)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data[:min(len(data), 8<<10)])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		z, err := Open(bytes.NewReader(data), "fuzz", 0, most(64<<20))
		if err != nil {
			return
		}
		defer z.Close()
		n, err := io.Copy(io.Discard, z)
		if n > 64<<20 {
			t.Errorf("%d bytes came out", n)
		}
		if plain := bytes.TrimPrefix(data, []byte(byteOrderMark)); len(z.Layers()) == 0 && (err != nil || n != int64(len(plain))) {
			t.Errorf("a plain file of %d bytes gave %d, error %v", len(data), n, err)
		}
	})
}

// A zstd stream reuses the decoder of an earlier stream that was not read to its end: neither gets bytes of the other, nor of
// a damaged one.
func TestZstdAfterAnother(t *testing.T) {
	compressed := func(word string) []byte {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 300000 {
			fmt.Fprintln(w, word, i)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	open := func(z []byte) *Reader {
		r, err := Open(bytes.NewReader(z), "log", int64(len(z)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, other := compressed("one"), compressed("other")
	want, err := io.ReadAll(open(other))
	if err != nil || len(want) < 2<<20 {
		t.Fatalf("%d bytes, %v", len(want), err)
	}
	damaged := bytes.Clone(one)
	damaged[len(damaged)/2] ^= 0xff
	for range 3 {
		early := open(one)
		if _, err := io.CopyN(io.Discard, early, 1<<20); err != nil {
			t.Fatal(err)
		}
		early.Close()
		r := open(other)
		if _, err := io.Copy(io.Discard, early); err == nil {
			t.Error("a stream that is closed has an end")
		}
		bad := open(damaged)
		if _, err := io.Copy(io.Discard, bad); err == nil {
			t.Error("damage was not seen")
		}
		bad.Close()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v, or others than before", len(got), err)
		}
		r.Close()
	}
}
