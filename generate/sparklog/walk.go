package sparklog

import "errors"

var errJSON = errors.New("not a JSON object")

// maxDepth is more than any event of Spark has.
const maxDepth = 200

// walker goes through one JSON value and hands out its numbers and strings, each with the keys of the objects around it.
type walker struct {
	text []byte
	at   int
	keys [][]byte // of the objects around the current value, outermost first; arrays add none
	leaf func(keys [][]byte, start, end int)
}

// walk goes through a line that holds one object.
func walk(line []byte, leaf func(keys [][]byte, start, end int)) error {
	w := walker{text: line, leaf: leaf}
	w.space()
	if w.at == len(line) || line[w.at] != '{' {
		return errJSON
	}
	if err := w.value(0); err != nil {
		return err
	}
	if w.space(); w.at != len(line) {
		return errJSON
	}
	return nil
}

func (w *walker) space() {
	for w.at < len(w.text) && (w.text[w.at] == ' ' || w.text[w.at] == '\t' || w.text[w.at] == '\r') {
		w.at++
	}
}

// next skips space and gives the byte there, 0 at the end.
func (w *walker) next() byte {
	w.space()
	if w.at == len(w.text) {
		return 0
	}
	return w.text[w.at]
}

func (w *walker) value(depth int) error {
	if depth > maxDepth {
		return errJSON
	}
	switch c := w.next(); {
	case c == '{':
		return w.list('}', func() error { return w.member(depth) })
	case c == '[':
		return w.list(']', func() error { return w.value(depth + 1) })
	case c == '"':
		start := w.at + 1
		if err := w.quoted(); err != nil {
			return err
		}
		w.leaf(w.keys, start, w.at-1)
	case c == '-' || c >= '0' && c <= '9':
		start := w.at
		for w.at < len(w.text) && isNumber(w.text[w.at]) {
			w.at++
		}
		w.leaf(w.keys, start, w.at)
	case c >= 'a' && c <= 'z': // true, false, null
		for w.at < len(w.text) && w.text[w.at] >= 'a' && w.text[w.at] <= 'z' {
			w.at++
		}
	default:
		return errJSON
	}
	return nil
}

func isNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// list goes through the elements of an object or array up to its end.
func (w *walker) list(end byte, element func() error) error {
	w.at++
	if w.next() == end {
		w.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch w.next() {
		case ',':
			w.at++
		case end:
			w.at++
			return nil
		default:
			return errJSON
		}
	}
}

func (w *walker) member(depth int) error {
	if w.next() != '"' {
		return errJSON
	}
	start := w.at + 1
	if err := w.quoted(); err != nil {
		return err
	}
	w.keys = append(w.keys, w.text[start:w.at-1])
	if w.next() != ':' {
		return errJSON
	}
	w.at++
	err := w.value(depth + 1)
	w.keys = w.keys[:len(w.keys)-1]
	return err
}

// quoted steps over a string; escapes stay as they are.
func (w *walker) quoted() error {
	for w.at++; w.at < len(w.text); w.at++ {
		switch w.text[w.at] {
		case '\\':
			w.at++
		case '"':
			w.at++
			return nil
		}
	}
	return errJSON
}
