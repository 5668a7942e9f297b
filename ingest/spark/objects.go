package spark

import (
	"bytes"
	"iter"

	"straggler/ingest/read"
)

// Spark writes one event per line. Other programs may rewrite a log with another layout: indented, as a list, or with all
// events on one line. The first event of a block determines its layout.

// records returns the events of a block.
func records(b *read.Block) iter.Seq[read.Line] {
	if byLine(b.Data) {
		return b.Lines()
	}
	return objects(b)
}

// lastRecordEnd returns the end of the last whole event of b, including its line break if it has a line of its own.
func lastRecordEnd(b []byte) int {
	if byLine(b) {
		return bytes.LastIndexByte(b, '\n') + 1
	}
	last := 0
	for start := nextObject(b, 0); start < len(b); {
		end, whole := objectEnd(b, start)
		if !whole && end == len(b) {
			break
		}
		last = end
		start = nextObject(b, end)
	}
	return last
}

// byLine reports that the first event of b fills its line, or cannot be read as one that does not.
func byLine(b []byte) bool {
	start := skip(b, 0, " \t\r\n\ufeff")
	if start == len(b) {
		return true
	}
	switch b[start] {
	case '[', ']', ',':
		return false
	case '{':
	default:
		return true
	}
	if first := skip(b, start+1, " \t\r"); first < len(b) && b[first] == '\n' {
		return false
	}
	end, whole := objectEnd(b, start)
	if !whole {
		return true
	}
	line := bytes.IndexByte(b[start:], '\n')
	if line >= 0 && start+line < end {
		return false
	}
	after := skip(b, end, " \t\r")
	return after == len(b) || b[after] != ',' && b[after] != '{' && b[after] != ']'
}

func skip(b []byte, i int, space string) int {
	return len(b) - len(bytes.TrimLeft(b[i:], space))
}

// nextObject returns the start of the next event, or of text that is not an event, after white space and separators of a list.
func nextObject(b []byte, i int) int { return skip(b, i, " \t\r\n\ufeff[],") }

// objects yields the JSON objects of a block, whatever separates them. Other text between them is a record up to the end of its
// line.
func objects(b *read.Block) iter.Seq[read.Line] {
	return func(yield func(read.Line) bool) {
		line, seen := b.Line, 0
		for start := nextObject(b.Data, 0); start < len(b.Data); {
			end, whole := objectEnd(b.Data, start)
			line += int64(bytes.Count(b.Data[seen:start], []byte{'\n'}))
			seen = start
			record := read.Line{Data: b.Data[start:end], Number: line, Offset: b.Offset + int64(start), Cut: b.Cut && !whole && end == len(b.Data)}
			if !yield(record) {
				return
			}
			start = nextObject(b.Data, end)
		}
	}
}

// objectEnd returns the end of the object at start. A damaged object ends where the next event starts, other text there or at the
// end of its line; whole is then false.
func objectEnd(b []byte, start int) (end int, whole bool) {
	depth, quoted := 0, false
	for i := start; i < len(b); i++ {
		if !boundary[b[i]] {
			continue
		}
		switch c := b[i]; {
		case c == '{' && i > start && opensEvent(b[i:]):
			return i, false
		case c == '\n' && b[start] != '{':
			return i, false
		case c == '"':
			quoted = !quoted
		case c == '\n':
			quoted = false // no string holds one
		case quoted:
			if c == '\\' {
				i++
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 && b[start] == '{' {
				return i + 1, true
			}
		}
	}
	return len(b), false
}

// boundary marks the bytes that matter to objectEnd; most bytes of an event do not.
var boundary = [256]bool{'{': true, '}': true, '[': true, ']': true, '"': true, '\\': true, '\n': true}

// eventKey follows the brace that opens an event, and no other. In no string does a brace stand before a quotation mark that is
// not escaped.
var eventKey = []byte(`"Event"`)

func opensEvent(b []byte) bool { return bytes.HasPrefix(b[skip(b, 1, " \t\r\n"):], eventKey) }
