package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The types of Thrift's compact protocol (thrift-compact-protocol.md).
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftI8     = 3
	thriftI16    = 4
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// maxThriftDepth bounds the nesting of structures. A footer's are seven deep: file, row groups, row group, columns, column
// chunk, metadata, statistics.
const maxThriftDepth = 32

// A structure takes more memory than its bytes, so the number of structures is limited to what a file needs: row groups are
// numbered in 16 bits with a sign, and a list has at most that many structures; all lists of a footer of MaxFooter together
// have at most one per 16 bytes.
const (
	maxListed    = 1 << 15
	maxAllListed = MaxFooter / 16
)

var errThriftEnds = errors.New("its Thrift structure is cut")

// structSize returns the size in bytes of the structure at the start of data. All lengths in it are checked against the bytes
// present.
func structSize(data []byte) (int, error) {
	w := walker{data: data}
	err := w.structure(0)
	return w.at, err
}

// walker traverses bytes of the compact protocol.
type walker struct {
	data   []byte
	at     int
	listed uint64 // structures in lists
}

func (w *walker) byte() (byte, error) {
	if w.at >= len(w.data) {
		return 0, errThriftEnds
	}
	w.at++
	return w.data[w.at-1], nil
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.data)-w.at) {
		return errThriftEnds
	}
	w.at += int(n)
	return nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 {
		return 0, errThriftEnds
	}
	w.at += n
	return v, nil
}

func (w *walker) structure(depth int) error {
	if depth > maxThriftDepth {
		return fmt.Errorf("its Thrift structures lie more than %d deep", maxThriftDepth)
	}
	for {
		head, err := w.byte()
		if err != nil || head == thriftStop {
			return err
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		kind := head & 15
		if kind == thriftTrue || kind == thriftFalse { // the type is the value
			continue
		}
		if err := w.value(kind, depth+1); err != nil {
			return err
		}
	}
}

func (w *walker) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftI8:
		return w.skip(1)
	case thriftI16, thriftI16 + 1, thriftI64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftUUID:
		return w.skip(16)
	case thriftBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth)
	case thriftMap:
		return w.mapping(depth)
	case thriftStruct:
		return w.structure(depth)
	}
	return fmt.Errorf("its Thrift has an unknown type %d", kind)
}

func (w *walker) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	return w.items(n, depth, head&15)
}

func (w *walker) mapping(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	types, err := w.byte()
	if err != nil {
		return err
	}
	return w.items(n, depth, types>>4, types&15)
}

// items traverses n values of each of some types, in turn. Each takes at least a byte, so the bytes end before a false claim
// does.
func (w *walker) items(n uint64, depth int, kinds ...byte) error {
	if depth > maxThriftDepth {
		return fmt.Errorf("its Thrift lists lie more than %d deep", maxThriftDepth)
	}
	if slices.Contains(kinds, thriftStruct) {
		if w.listed += n; n > maxListed || w.listed > maxAllListed {
			return fmt.Errorf("its Thrift has a list of %d structures, %d with those before it", n, w.listed)
		}
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
