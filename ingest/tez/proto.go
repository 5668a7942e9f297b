package tez

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
)

var errMessage = errors.New("not a HistoryEventProto")

// Field numbers of HistoryEventProto.
const (
	fieldType       = 1
	fieldTime       = 2
	fieldUser       = 3
	fieldApp        = 4
	fieldAppAttempt = 5
	fieldDAG        = 6
	fieldVertex     = 7
	fieldTask       = 8
	fieldAttempt    = 9
	fieldData       = 10
)

// parseMessage parses a message preceded by its length, as the logger writes it.
func parseMessage(b []byte) (event, error) {
	e := event{info: info{}}
	n, k := binary.Uvarint(b)
	if k <= 0 || uint64(len(b)-k) < n {
		return e, fmt.Errorf("%w: its length is %d", errMessage, n)
	}
	ids := map[int]string{}
	err := eachField(b[k:k+int(n)], func(field int, v uint64, text []byte) error {
		switch field {
		case fieldType:
			e.word = string(text)
		case fieldTime:
			e.time = int64(v)
		case fieldUser:
			e.user = string(text)
		case fieldApp, fieldAppAttempt, fieldDAG, fieldVertex, fieldTask, fieldAttempt:
			ids[field] = string(text)
		case fieldData:
			return e.pair(text)
		}
		return nil
	})
	for _, k := range []struct {
		field int
		kind  string
	}{{fieldAttempt, "attempt"}, {fieldTask, "task"}, {fieldVertex, "vertex"}, {fieldDAG, "dag"}, {fieldApp, "app"}, {fieldAppAttempt, "app"}} {
		if ids[k.field] != "" {
			e.id, e.kind = ids[k.field], k.kind
			break
		}
	}
	return e, err
}

// pair adds a KVPair: values that are JSON are kept, others become JSON strings.
func (e *event) pair(b []byte) error {
	var key string
	var value []byte
	err := eachField(b, func(field int, _ uint64, text []byte) error {
		switch field {
		case 1:
			key = string(text)
		case 2:
			value = text
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(value) > 0 && (value[0] == '{' || value[0] == '[') &&
		jsontext.Value(value).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
		e.info[key] = jsontext.Value(bytes.Clone(value))
		return nil
	}
	quoted, err := json.Marshal(strings.ToValidUTF8(string(value), "\uFFFD"))
	e.info[key] = quoted
	return err
}

// eachField passes on the fields of a protobuf message: numbers of wire type 0, texts of wire type 2; others are skipped.
func eachField(b []byte, take func(field int, v uint64, text []byte) error) error {
	for len(b) > 0 {
		tag, k := binary.Uvarint(b)
		if k <= 0 || tag>>3 == 0 || tag>>3 > 1<<28 {
			return fmt.Errorf("%w: a field's tag is broken", errMessage)
		}
		b = b[k:]
		field := int(tag >> 3)
		size := 0
		switch tag & 7 {
		case 0:
			v, k := binary.Uvarint(b)
			if k <= 0 {
				return fmt.Errorf("%w: field %d is cut", errMessage, field)
			}
			b = b[k:]
			if err := take(field, v, nil); err != nil {
				return err
			}
			continue
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			n, k := binary.Uvarint(b)
			if k <= 0 || n > uint64(len(b)-k) {
				return fmt.Errorf("%w: field %d is cut", errMessage, field)
			}
			b = b[k:]
			if err := take(field, 0, b[:n]); err != nil {
				return err
			}
			size = int(n)
		default:
			return fmt.Errorf("%w: wire type %d", errMessage, tag&7)
		}
		if size > len(b) {
			return fmt.Errorf("%w: field %d is cut", errMessage, field)
		}
		b = b[size:]
	}
	return nil
}

func gzipReader(b []byte) (io.ReadCloser, error) { return gzip.NewReader(bytes.NewReader(b)) }
