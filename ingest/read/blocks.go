package read

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"straggler/ingest"
	"straggler/schema"
)

// blockBytes is the size of a block if lines are shorter than that: large enough to make the cost of reads and hand-overs
// negligible, small enough to stay in a processor's cache.
const blockBytes = 512 << 10

// firstBytes is the size of the first buffer: in a directory of many small logs, most never need another.
const firstBytes = 8 << 10

// Block is a run of whole lines.
type Block struct {
	Data   []byte // ends in a newline, unless Cut
	Line   int64  // number of its first line, from 1
	Offset int64  // where it starts in the decompressed file
	Cut    bool   // the file ends without a newline: the last line may be incomplete
}

// Line is one line.
type Line struct {
	Data   []byte // without its line end, LF or CRLF
	Number int64  // from 1
	Offset int64  // where it starts in the decompressed file
	Cut    bool   // the file ends within the line
}

// Lines returns the lines of a block, including empty ones.
func (b *Block) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		line := Line{Number: b.Line, Offset: b.Offset}
		for rest := b.Data; len(rest) > 0; {
			end := bytes.IndexByte(rest, '\n')
			next := end + 1
			if end < 0 {
				end, next, line.Cut = len(rest), len(rest), b.Cut
			}
			line.Data = rest[:end]
			if end > 0 && rest[end-1] == '\r' && !line.Cut {
				line.Data = rest[:end-1]
			}
			if !yield(line) {
				return
			}
			rest = rest[next:]
			line.Number++
			line.Offset += int64(next)
		}
	}
}

// Blocks cuts a stream into blocks, so that a parser can work on several at once. A line longer than Limits.Line is sent to the
// sink as a reject and skipped without being held in memory.
type Blocks struct {
	r      io.Reader
	source string
	out    *ingest.Sink
	max    int              // largest size of a line with its newline
	size   int              // of a block if lines are shorter than that
	cut    func([]byte) int // where the last whole record ends

	carry  []byte // the start of a line whose end was not in the last block
	line   int64  // number of the next block's first line
	offset int64  // of the next block
	err    error  // of r, once it has ended
}

// NewBlocks cuts r, which is the file named by source.
func NewBlocks(r io.Reader, source string, out *ingest.Sink) *Blocks {
	return &Blocks{r: r, source: source, out: out, max: int(out.Limits().Line) + 1, size: blockBytes, cut: lastLineEnd, line: 1}
}

func lastLineEnd(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

// Next fills b, and reuses its Data. At the end it returns io.EOF, or, after everything readable has been returned, the error
// that ended the stream: io.ErrUnexpectedEOF if a compressed file is truncated.
func (s *Blocks) Next(b *Block) error {
	for {
		*b = Block{Data: b.Data[:0], Line: s.line, Offset: s.offset}
		long, err := s.fill(b)
		if err != nil {
			return err
		}
		if !long {
			break
		}
		if err := s.skipLine(b.Data); err != nil {
			return err
		}
	}
	s.offset += int64(len(b.Data))
	s.line += int64(bytes.Count(b.Data, []byte{'\n'}))
	return nil
}

// fill reads until b holds at least one whole line. It returns true if b is full and holds none.
func (s *Blocks) fill(b *Block) (long bool, err error) {
	if s.err != nil && len(s.carry) == 0 {
		return false, s.err
	}
	buf := b.Data[:min(cap(b.Data), s.max)]
	full := min(s.size, s.max)
	size := full
	if s.offset == 0 {
		size = min(firstBytes, full)
	}
	if len(s.carry) > size {
		size = min(2*len(s.carry), s.max)
	}
	if len(buf) < size {
		buf = make([]byte, size)
	}
	n := copy(buf, s.carry)
	s.carry = s.carry[:0]
	for {
		n += s.read(buf[n:])
		if s.err != nil && n == 0 {
			return false, s.err
		}
		if s.err != nil {
			end := lastLineEnd(buf[:n])
			b.Data, b.Cut = buf[:n], end < n
			return end == 0 && n == s.max, nil
		}
		if len(buf) < full {
			buf = append(make([]byte, 0, min(16*len(buf), full)), buf...)
			buf = buf[:cap(buf)]
			continue
		}
		end := s.cut(buf[:n])
		if end == 0 && len(buf) >= s.max {
			end = lastLineEnd(buf[:n])
		}
		if end > 0 {
			s.carry = append(s.carry, buf[end:n]...)
			b.Data = buf[:end]
			return false, nil
		}
		if len(buf) >= s.max {
			b.Data = buf[:n]
			return true, nil
		}
		buf = append(make([]byte, 0, min(2*len(buf), s.max)), buf[:n]...)
		buf = buf[:cap(buf)]
	}
}

// maxEmptyReads is the number of reads without data or error after which a reader counts as broken.
const maxEmptyReads = 100

// read fills p as far as the stream goes and records how it ended.
func (s *Blocks) read(p []byte) (n int) {
	for empty := 0; n < len(p) && s.err == nil; {
		m, err := s.r.Read(p[n:])
		n += m
		s.err = err
		if m > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			s.err = io.ErrNoProgress
		}
	}
	return n
}

// skipLine rejects the line that starts with head and moves past its end.
func (s *Blocks) skipLine(head []byte) error {
	s.out.Reject(schema.Reject{
		SourceFile: s.source,
		Line:       schema.Some(s.line),
		ByteOffset: s.offset,
		Reason:     fmt.Sprintf("the line is longer than %d bytes and was skipped; raise --max-line if it is genuine", s.max-1),
		Sample:     string(head[:min(len(head), ingest.SampleBytes)]),
	})
	s.offset += int64(len(head))
	for {
		n := s.read(head)
		end := bytes.IndexByte(head[:n], '\n') + 1
		if end > 0 {
			s.carry = append(s.carry[:0], head[end:n]...)
			s.offset += int64(end)
			s.line++
			return nil
		}
		s.offset += int64(n)
		if s.err != nil {
			return s.err
		}
	}
}

// Lines reads a stream line by line.
type Lines struct {
	blocks *Blocks
	err    error
}

// NewLines reads r, which is the file named by source. Lines over Limits.Line are rejected and skipped.
func NewLines(r io.Reader, source string, out *ingest.Sink) *Lines {
	return &Lines{blocks: NewBlocks(r, source, out)}
}

// All returns the lines. A line's Data is valid until the next one.
func (l *Lines) All() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		var b Block
		for {
			if err := l.blocks.Next(&b); err != nil {
				if !errors.Is(err, io.EOF) {
					l.err = err
				}
				return
			}
			for line := range b.Lines() {
				if !yield(line) {
					return
				}
			}
		}
	}
}

// Err returns the error that ended the stream, nil at its regular end. It is io.ErrUnexpectedEOF if the stream is truncated;
// the lines before that were returned.
func (l *Lines) Err() error { return l.err }
