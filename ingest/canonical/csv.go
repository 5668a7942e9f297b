package canonical

import (
	"bytes"
	"errors"

	"straggler/ingest/read"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// maxField bounds a quoted field that is never closed.
const maxField = 1 << 20

var errQuotes = errors.New("quotes are not closed, or stand within a field")

// delimiters lists the possible field separators, the most likely first.
const delimiters = ",\t;|"

// header reads the first record of a CSV file: its columns, its delimiter, and where it ends. The delimiter that gives the most
// columns of a table is chosen.
func header(b []byte) (columns []string, delimiter byte, end int) {
	best := 0
	for i := range len(delimiters) {
		d := delimiters[i]
		record, next := cutRecord(b, d)
		fields, err := splitRecord(record, d, nil, nil)
		if err != nil || next < 0 {
			continue
		}
		var names []string
		for _, f := range fields {
			names = append(names, string(bytes.TrimSpace(f)))
		}
		n := 0
		if t := tableFitting(names); t != nil {
			n = known(t, names)
		}
		if columns == nil || n > best {
			columns, delimiter, end, best = names, d, next, n
		}
	}
	return columns, delimiter, end
}

// splitRecord appends the fields of a record: fields between delimiters, quoted ones with doubled quotes. Fields whose quotes
// had to be resolved are stored in *buf.
func splitRecord(s []byte, delimiter byte, fields [][]byte, buf *[]byte) ([][]byte, error) {
	if bytes.IndexByte(s, '"') < 0 {
		return read.Fields(s, delimiter, fields), nil
	}
	for {
		if len(s) == 0 || s[0] != '"' {
			i := bytes.IndexByte(s, delimiter)
			f := s
			if i >= 0 {
				f = s[:i]
			}
			if bytes.IndexByte(f, '"') >= 0 {
				return nil, errQuotes
			}
			fields = append(fields, f)
			if i < 0 {
				return fields, nil
			}
			s = s[i+1:]
			continue
		}
		end := closingQuote(s, 1)
		if end < 0 {
			return nil, errQuotes
		}
		fields = append(fields, unquoted(s[1:end], buf))
		switch s = s[end+1:]; {
		case len(s) == 0:
			return fields, nil
		case s[0] != delimiter:
			return nil, errQuotes
		}
		s = s[1:]
	}
}

func unquoted(f []byte, buf *[]byte) []byte {
	if bytes.IndexByte(f, '"') < 0 {
		return f
	}
	if buf == nil {
		return bytes.ReplaceAll(f, []byte(`""`), []byte(`"`))
	}
	from := len(*buf)
	for {
		i := bytes.IndexByte(f, '"')
		if i < 0 {
			*buf = append(*buf, f...)
			return (*buf)[from:]
		}
		*buf = append(*buf, f[:i+1]...)
		f = f[min(i+2, len(f)):]
	}
}

// lastRecord returns the end of the last whole record in b; a line end within quotes does not end a record.
func lastRecord(b []byte, delimiter byte) int {
	if bytes.IndexByte(b, '"') < 0 {
		return bytes.LastIndexByte(b, '\n') + 1
	}
	end := 0
	for end < len(b) {
		_, next := cutRecord(b[end:], delimiter)
		switch {
		case next >= 0 && end+next < len(b) || next > 0 && b[len(b)-1] == '\n' && end+next == len(b):
			end += next
		case next < 0 && len(b)-end > maxField: // never closed: its line counts as a record
			i := bytes.IndexByte(b[end:], '\n')
			if i < 0 {
				return end
			}
			end += i + 1
		default:
			return end
		}
	}
	return end
}

// cutRecord returns the first record of b without its line end, and where the next one starts; -1 if a quote is not closed. A
// quoted field may continue on the next line.
func cutRecord(b []byte, delimiter byte) (record []byte, next int) {
	line := bytes.IndexByte(b, '\n')
	if line < 0 {
		line = len(b)
	}
	if bytes.IndexByte(b[:line], '"') < 0 {
		return trimCR(b[:line]), min(line+1, len(b))
	}
	for i := 0; ; {
		if i < len(b) && b[i] == '"' {
			close := closingQuote(b, i+1)
			if close < 0 {
				return trimCR(b[:line]), -1
			}
			i = close + 1
		}
		for i < len(b) && b[i] != delimiter && b[i] != '\n' {
			i++
		}
		if i >= len(b) || b[i] == '\n' {
			return trimCR(b[:i]), min(i+1, len(b))
		}
		i++
	}
}

func trimCR(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\r")) }

// closingQuote returns the end of the quoted field that starts at i, in which two quotes mean one.
func closingQuote(b []byte, i int) int {
	for most := min(len(b), i+maxField); ; {
		n := bytes.IndexByte(b[i:most], '"')
		if n < 0 {
			return -1
		}
		if i += n; i+1 < len(b) && b[i+1] == '"' {
			i += 2
			if i > most {
				return -1
			}
			continue
		}
		return i
	}
}
