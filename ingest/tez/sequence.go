package tez

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"straggler/ingest"
	"straggler/schema"
)

var (
	errSequence = errors.New("not a SequenceFile that can be read")
	errCodec    = errors.New("the SequenceFile's codec is not read; it is one of DefaultCodec, GzipCodec, or none")
)

const (
	maxHeader  = 64 << 10
	maxMessage = 64 << 20
)

// sequenceReader reads a Hadoop SequenceFile, version 6, of single records. Each is
//
//	int32 length of key and value | int32 length of key | key | value
//
// big-endian; -1 in place of the length precedes a copy of the header's 16 sync bytes.
type sequenceReader struct {
	r          *bufio.Reader
	at         int64
	compressed bool
	sync       [16]byte
}

// next returns the next value, decompressed; io.EOF at the end, io.ErrUnexpectedEOF within a record.
func (s *sequenceReader) next() ([]byte, error) {
	for {
		size, err := s.int32()
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) && s.r.Buffered() == 0 {
				return nil, err
			}
			return nil, err
		}
		if size == -1 {
			var mark [16]byte
			if err := s.full(mark[:]); err != nil {
				return nil, cut(err)
			}
			if mark != s.sync {
				return nil, fmt.Errorf("%w: sync bytes differ at byte %d", errSequence, s.at)
			}
			continue
		}
		key, err := s.int32()
		if err != nil {
			return nil, cut(err)
		}
		if size < 0 || size > maxMessage || key < 0 || key > size {
			return nil, fmt.Errorf("%w: a record of %d bytes with a key of %d at byte %d", errSequence, size, key, s.at)
		}
		var record bytes.Buffer // grows with the data instead of trusting the length
		n, err := io.CopyN(&record, s.r, int64(size))
		s.at += n
		if err != nil {
			return nil, cut(err)
		}
		value := record.Bytes()[key:]
		if !s.compressed {
			return value, nil
		}
		return inflate(value)
	}
}

// inflate reads zlib or gzip, identified by their first bytes rather than by the header.
func inflate(b []byte) ([]byte, error) {
	z, err := openDeflate(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSequence, err)
	}
	defer z.Close()
	out, err := io.ReadAll(io.LimitReader(z, maxMessage+1))
	if len(out) > maxMessage {
		return nil, fmt.Errorf("%w: a message of more than %d bytes", errSequence, maxMessage)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSequence, err)
	}
	return out, nil
}

func openDeflate(b []byte) (io.ReadCloser, error) {
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return gzipReader(b)
	}
	return zlib.NewReader(bytes.NewReader(b))
}

func (s *sequenceReader) full(b []byte) error {
	n, err := io.ReadFull(s.r, b)
	s.at += int64(n)
	return err
}

func (s *sequenceReader) int32() (int32, error) {
	var b [4]byte
	err := s.full(b[:])
	return int32(binary.BigEndian.Uint32(b[:])), err
}

// text reads a string preceded by its length as Hadoop's variable-length integer.
func (s *sequenceReader) text() (string, error) {
	n, err := s.vint()
	if err != nil {
		return "", cut(err)
	}
	if n < 0 || n > maxHeader {
		return "", fmt.Errorf("%w: a header text of %d bytes", errSequence, n)
	}
	b := make([]byte, n)
	return string(b), cut(s.full(b))
}

// vint: one byte for -112 to 127, else the number of bytes that follow, negated.
func (s *sequenceReader) vint() (int64, error) {
	first, err := s.r.ReadByte()
	if err != nil {
		return 0, err
	}
	s.at++
	if int8(first) >= -112 {
		return int64(int8(first)), nil
	}
	size, negative := -112-int(int8(first)), false
	if int8(first) < -120 {
		size, negative = -120-int(int8(first)), true
	}
	var n int64
	for range size {
		b, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		s.at++
		n = n<<8 | int64(b)
	}
	if negative {
		n = ^n
	}
	return n, nil
}

// sequence reads the messages of a file.
func (f *fold) sequence(ctx context.Context, p ingest.Part, r io.Reader) error {
	s, err := openSequence(r)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, cut(err))
	}
	for ctx.Err() == nil {
		at := s.at
		value, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			var e event
			if e, err = parseMessage(value); err == nil {
				f.out.Decoded(1)
				f.take(e)
				if err := f.flush(false); err != nil {
					return err
				}
				continue
			}
			f.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: at, Reason: err.Error(), Sample: string(value[:min(len(value), 256)])})
			continue
		}
		f.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: at, Reason: "the file cannot be read from here on: " + err.Error()})
		return fmt.Errorf("%s: byte %d: %w", p.Name, at, err)
	}
	return ctx.Err()
}

func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func openSequence(r io.Reader) (*sequenceReader, error) {
	s := &sequenceReader{r: bufio.NewReaderSize(r, 256<<10)}
	var head [4]byte
	if err := s.full(head[:]); err != nil {
		return nil, err
	}
	if string(head[:3]) != "SEQ" || head[3] != 6 {
		return nil, fmt.Errorf("%w: version %d, not 6", errSequence, head[3])
	}
	for range 2 { // classes of key and value
		if _, err := s.text(); err != nil {
			return nil, err
		}
	}
	var flags [2]byte
	if err := s.full(flags[:]); err != nil {
		return nil, err
	}
	if flags[1] != 0 {
		return nil, fmt.Errorf("%w: block compression", errSequence)
	}
	if s.compressed = flags[0] != 0; s.compressed {
		codec, err := s.text()
		if err != nil {
			return nil, err
		}
		if codec != "org.apache.hadoop.io.compress.DefaultCodec" && codec != "org.apache.hadoop.io.compress.GzipCodec" {
			return nil, fmt.Errorf("%w: it is %.100q", errCodec, codec)
		}
	}
	n, err := s.int32()
	if err != nil {
		return nil, err
	}
	for range 2 * min(max(n, 0), 1000) { // metadata
		if _, err := s.text(); err != nil {
			return nil, err
		}
	}
	return s, s.full(s.sync[:])
}
