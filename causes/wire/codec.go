package wire

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// version is the version of the messages; it changes with their fields.
const version = 1

// ErrMessage is wrapped by errors about messages that cannot be decoded.
var ErrMessage = errors.New("the message of another copy of straggler cannot be read")

// Message is a value that passes each of its fields to a Codec, in the same order for writing and reading.
type Message interface{ Fields(c *Codec) }

// Encode returns the encoding of a message.
func Encode(m Message) []byte {
	c := &Codec{data: []byte{version}}
	m.Fields(c)
	return c.data
}

// Decode reads a message encoded by Encode.
func Decode(data []byte, m Message) error {
	c := &Codec{data: data, reading: true}
	if v := c.take(1); len(v) == 1 && v[0] != version {
		return fmt.Errorf("%w: it is of version %d, this program speaks %d", ErrMessage, v[0], version)
	}
	m.Fields(c)
	if c.err == nil && len(c.data) > 0 {
		return fmt.Errorf("%w: %d bytes too many", ErrMessage, len(c.data))
	}
	return c.err
}

// Codec writes the fields of a message, or reads them. After an error it reads zeros.
type Codec struct {
	data    []byte // written so far, or not yet read
	reading bool
	err     error
}

// Reading reports whether the fields are read.
func (c *Codec) Reading() bool { return c.reading }

// Bool is a field.
func (c *Codec) Bool(v *bool) {
	if c.reading {
		b := c.take(1)
		if *v = len(b) == 1 && b[0] == 1; len(b) == 1 && b[0] > 1 {
			c.err = ErrMessage
		}
		return
	}
	b := byte(0)
	if *v {
		b = 1
	}
	c.data = append(c.data, b)
}

// Int64 is a field.
func (c *Codec) Int64(v *int64) {
	if !c.reading {
		c.data = binary.AppendVarint(c.data, *v)
		return
	}
	n, size := binary.Varint(c.data)
	*v = n
	c.skip(size, func() { *v = 0 })
}

// Uint64 is a field.
func (c *Codec) Uint64(v *uint64) {
	if !c.reading {
		c.data = binary.AppendUvarint(c.data, *v)
		return
	}
	n, size := binary.Uvarint(c.data)
	*v = n
	c.skip(size, func() { *v = 0 })
}

// Int is a field.
func (c *Codec) Int(v *int) {
	n := int64(*v)
	c.Int64(&n)
	*v = int(n)
}

// Float is a field; NaN and the infinities are kept.
func (c *Codec) Float(v *float64) {
	if !c.reading {
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(*v))
		return
	}
	if b := c.take(8); b != nil {
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

// String is a field.
func (c *Codec) String(v *string) {
	n := uint64(len(*v))
	c.length(&n)
	if !c.reading {
		c.data = append(c.data, *v...)
		return
	}
	*v = string(c.take(int(n)))
}

// Slice is a field.
func Slice[T any](c *Codec, v *[]T, element func(*T)) {
	n := uint64(len(*v))
	c.length(&n)
	if c.reading {
		*v = make([]T, n)
	}
	for i := range *v {
		element(&(*v)[i])
	}
}

// Map is a field; its entries are written in the order of their keys.
func Map[K cmp.Ordered, V any](c *Codec, v *map[K]V, key func(*K), value func(*V)) {
	MapInOrder(c, v, slices.Sorted(maps.Keys(*v)), key, value)
}

// MapInOrder is a field; its entries are written in the order of keys, which must be all keys of the map.
func MapInOrder[K comparable, V any](c *Codec, v *map[K]V, keys []K, key func(*K), value func(*V)) {
	n := uint64(len(*v))
	c.length(&n)
	if !c.reading {
		for _, k := range keys {
			x := (*v)[k]
			key(&k)
			value(&x)
		}
		return
	}
	*v = make(map[K]V, n)
	for range n {
		var k K
		var x V
		key(&k)
		value(&x)
		(*v)[k] = x
	}
}

// length is the length of a string, a slice or a map. Every element takes at least a byte, so no more memory is allocated than
// bytes were sent.
func (c *Codec) length(n *uint64) {
	c.Uint64(n)
	if c.reading && *n > uint64(len(c.data)) {
		c.err, *n = ErrMessage, 0
	}
}

func (c *Codec) skip(size int, zero func()) {
	if size <= 0 || c.err != nil {
		c.err = ErrMessage
		zero()
		return
	}
	c.data = c.data[size:]
}

func (c *Codec) take(n int) []byte {
	if c.err != nil || n > len(c.data) {
		c.err = ErrMessage
		return nil
	}
	b := c.data[:n]
	c.data = c.data[n:]
	return b
}
