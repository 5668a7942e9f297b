package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/schema"
)

// lenient accepts invalid UTF-8 and duplicate keys, which logs have and RFC 8259 leaves to each reader.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// NewJSON decodes JSON from a stream.
func NewJSON(r io.Reader) *jsontext.Decoder { return jsontext.NewDecoder(r, lenient) }

// UnmarshalJSON decodes a value into v. Its error is in terms of the log.
func UnmarshalJSON(value []byte, v any) error {
	if err := json.Unmarshal(value, v, lenient); err != nil {
		return jsonError(err)
	}
	return nil
}

// EachObject passes objects to take: the elements of lists, or objects that follow one another. Objects that take cannot use
// are rejected with the reason that it returns, and so are values that are not objects; an error from take ends it. Within a
// value, if the decoder is before a list, it ends with that list.
func EachObject(ctx context.Context, p ingest.Part, dec *jsontext.Decoder, out *ingest.Sink, take func(jsontext.Value) (unusable, err error)) error {
	outside := dec.StackDepth()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, at, inList := dec.PeekKind(), dec.InputOffset(), dec.StackDepth() > outside
		if kind == '[' && !inList || kind == ']' && inList {
			if _, err := dec.ReadToken(); err != nil {
				return Broken(p, dec, out, err)
			}
			if inList && outside > 0 {
				return nil
			}
			continue
		}
		v, err := dec.ReadValue()
		switch {
		case errors.Is(err, io.EOF) && !inList:
			return nil
		case err != nil:
			return Broken(p, dec, out, err)
		case kind != '{':
			Reject(out, p, at, v, "it is not a JSON object")
			continue
		}
		unusable, err := take(v)
		switch {
		case err != nil:
			return err
		case unusable != nil:
			Reject(out, p, at, v, unusable.Error())
		default:
			out.Decoded(1)
		}
	}
}

// Broken rejects the rest of a part, which cannot be decoded, and returns an error that says so.
func Broken(p ingest.Part, dec *jsontext.Decoder, out *ingest.Sink, err error) error {
	err = jsonError(err)
	Reject(out, p, dec.InputOffset(), dec.UnreadBuffer(), "the file cannot be decoded from here on: "+err.Error())
	return fmt.Errorf("%s: byte %d: %w", p.Name, dec.InputOffset(), err)
}

// Reject rejects the record at an offset of a part.
func Reject(out *ingest.Sink, p ingest.Part, offset int64, record []byte, reason string) {
	out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: offset, Reason: reason, Sample: string(record[:min(len(record), ingest.SampleBytes)])})
}

// HasKeys reports whether all of the keys occur in the head of a JSON file.
func HasKeys(head []byte, keys ...string) bool {
	for _, key := range keys {
		if !bytes.Contains(head, []byte(`"`+key+`"`)) {
			return false
		}
	}
	return true
}
