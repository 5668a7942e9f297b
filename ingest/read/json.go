package read

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
)

// JSONNumbers copies JSON, replacing NaN and infinities, which Python writes but JSON does not allow, with null. Each NaN makes
// the offsets after it one larger.
func JSONNumbers(r io.Reader) io.Reader { return &jsonNumbers{r: r, in: make([]byte, 0, 32<<10)} }

type jsonNumbers struct {
	r       io.Reader
	in      []byte // read, but not processed
	out     []byte // to be returned
	given   int
	text    bool // within a string
	escaped bool // after a backslash in one
	err     error
}

// longestWord is the length of -Infinity.
const longestWord = 9

func (j *jsonNumbers) Read(p []byte) (int, error) {
	for j.given == len(j.out) {
		if j.err != nil && len(j.in) == 0 {
			return 0, j.err
		}
		j.out, j.given = j.out[:0], 0
		if j.err == nil {
			var n int
			n, j.err = j.r.Read(j.in[len(j.in):cap(j.in)])
			j.in = j.in[:len(j.in)+n]
		}
		j.pass()
	}
	n := copy(p, j.out[j.given:])
	j.given += n
	return n, nil
}

// pass moves what was read to out, except for an incomplete word at the end.
func (j *jsonNumbers) pass() {
	i := 0
	for ; i < len(j.in); i++ {
		c := j.in[i]
		if j.text {
			switch {
			case j.escaped:
				j.escaped = false
			case c == '\\':
				j.escaped = true
			case c == '"':
				j.text = false
			}
			j.out = append(j.out, c)
			continue
		}
		if c == 'N' || c == 'I' || c == '-' {
			if len(j.in)-i < longestWord && j.err == nil {
				break
			}
			if n := wordLength(j.in[i:]); n > 0 {
				j.out = append(append(j.out, "null"...), "     "[:max(n-len("null"), 0)]...)
				i += n - 1
				continue
			}
		}
		j.text = c == '"'
		j.out = append(j.out, c)
	}
	j.in = j.in[:copy(j.in, j.in[i:])]
}

func wordLength(b []byte) int {
	for _, w := range []string{"NaN", "Infinity", "-Infinity"} {
		if len(b) >= len(w) && string(b[:len(w)]) == w {
			return len(w)
		}
	}
	return 0
}

// jsonError describes what is wrong with a value in terms of the log, not of Go types.
func jsonError(err error) error {
	var wrong *json.SemanticError
	if ingest.IsCut(err) || !errors.As(err, &wrong) {
		return err
	}
	if what := jsonKinds[wrong.JSONKind]; what != "" {
		return fmt.Errorf("%s cannot stand at %s", what, ingest.Sample(string(wrong.JSONPointer)))
	}
	return fmt.Errorf("the value at %s cannot be used", ingest.Sample(string(wrong.JSONPointer)))
}

var jsonKinds = map[jsontext.Kind]string{
	'{': "an object", '[': "a list", '"': "a text", '0': "a number", 't': "true", 'f': "false", 'n': "null",
}
