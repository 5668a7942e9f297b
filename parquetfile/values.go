package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// values are those of a page, which read returns in order.
type values[T Value] interface {
	// read fills out, or fails.
	read(out []T) error
}

// newValues reads values of an encoding. Bytes have a length, or 0 if each has its own.
func newValues[T Value](e Encoding, length int, data []byte, dictionary []T) (values[T], error) {
	var v any
	var err error
	switch e {
	case Plain:
		v = plain[T](length, data)
	case PlainDictionary, RLEDictionary:
		return newNumbered(data, dictionary)
	case RLE:
		v, err = runs[T](data)
	case DeltaBinaryPacked:
		v, err = differences[T](data)
	case DeltaLengthByteArray:
		v, err = lengths[T](data)
	case DeltaByteArray:
		v, err = prefixes[T](length, data)
	case ByteStreamSplit:
		v, err = streams[T](length, data)
	}
	if err != nil {
		return nil, err
	}
	of, ok := v.(values[T])
	if !ok {
		return nil, fmt.Errorf("%v of encoding %d", typeOf[T](length > 0), e)
	}
	return of, nil
}

// prefixed returns the bytes preceded by their length, and the rest.
func prefixed(data []byte) (first, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errValuesEnd
	}
	n := binary.LittleEndian.Uint32(data)
	if data = data[4:]; uint64(n) > uint64(len(data)) {
		return nil, nil, errValuesEnd
	}
	return data[:n], data[n:], nil
}

// plain decodes PLAIN.
func plain[T Value](length int, data []byte) any {
	var zero T
	switch any(zero).(type) {
	case bool:
		return &plainBools{data: data}
	case int32:
		return &fixed[int32]{data, 4, int32s}
	case int64:
		return &fixed[int64]{data, 8, int64s}
	case Int96:
		return &fixed[Int96]{data, 12, int96s}
	case float32:
		return &fixed[float32]{data, 4, float32s}
	case float64:
		return &fixed[float64]{data, 8, float64s}
	}
	if length > 0 {
		return &fixed[[]byte]{data, length, func(out [][]byte, data []byte) {
			for i := range out {
				out[i] = data[i*length : (i+1)*length : (i+1)*length]
			}
		}}
	}
	return &plainBytes{data}
}

// fixed are values that all take the same number of bytes.
type fixed[T Value] struct {
	data   []byte
	size   int
	decode func(out []T, data []byte)
}

func (v *fixed[T]) read(out []T) error {
	if len(out) > len(v.data)/v.size {
		return errValuesEnd
	}
	v.decode(out, v.data)
	v.data = v.data[len(out)*v.size:]
	return nil
}

func int32s(out []int32, data []byte) {
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
}

func int64s(out []int64, data []byte) {
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
}

func int96s(out []Int96, data []byte) {
	for i := range out {
		out[i] = Int96(data[12*i:])
	}
}

func float32s(out []float32, data []byte) {
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
}

func float64s(out []float64, data []byte) {
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
}

// plainBools are bits, the first in the lowest.
type plainBools struct {
	data []byte
	bit  int
}

func (v *plainBools) read(out []bool) error {
	if len(out) > 8*len(v.data)-v.bit {
		return errValuesEnd
	}
	for i := range out {
		out[i] = v.data[v.bit/8]>>(v.bit%8)&1 == 1
		v.bit++
	}
	return nil
}

// plainBytes are bytes preceded by their length.
type plainBytes struct{ data []byte }

func (v *plainBytes) read(out [][]byte) (err error) {
	for i := range out {
		if out[i], v.data, err = prefixed(v.data); err != nil {
			return err
		}
	}
	return nil
}

// numbered are numbers of dictionary entries: RLE_DICTIONARY.
type numbered[T Value] struct {
	numbers    hybrid[int32]
	dictionary []T
	scratch    []int32
}

func newNumbered[T Value](data []byte, dictionary []T) (values[T], error) {
	if dictionary == nil {
		return nil, errors.New("its dictionary is missing")
	}
	if len(data) == 0 {
		return nil, errValuesEnd
	}
	numbers, err := newHybrid[int32](data[1:], int(data[0]))
	return &numbered[T]{numbers: numbers, dictionary: dictionary}, err
}

func (v *numbered[T]) read(out []T) error { return entriesOf(v, v.dictionary, out) }

// entriesOf reads the next numbers, as entries of a list that belongs to the dictionary.
func entriesOf[T Value, U any](v *numbered[T], entries []U, out []U) error {
	for len(out) > 0 {
		run, number, err := v.numbers.same(len(out))
		if err != nil {
			return err
		}
		if run > 0 {
			if uint64(uint32(number)) >= uint64(len(entries)) {
				return errEntry(number, len(entries))
			}
			set(out[:run], entries[number])
			out = out[run:]
			continue
		}
		run = min(len(out), v.numbers.left)
		if cap(v.scratch) < run {
			v.scratch = make([]int32, run)
		}
		numbers := v.scratch[:run]
		if err := v.numbers.read(numbers); err != nil {
			return err
		}
		for i, n := range numbers {
			if uint64(uint32(n)) >= uint64(len(entries)) {
				return errEntry(n, len(entries))
			}
			out[i] = entries[n]
		}
		out = out[run:]
	}
	return nil
}

func errEntry(number int32, entries int) error {
	return fmt.Errorf("value %d of a dictionary of %d", uint32(number), entries)
}

// runs decodes RLE, for booleans.
func runs[T Value](data []byte) (any, error) {
	data, _, err := prefixed(data)
	if err != nil {
		return nil, err
	}
	bits, err := newHybrid[int16](data, 1)
	return &runBools{bits: bits}, err
}

type runBools struct {
	bits    hybrid[int16]
	scratch []int16
}

func (v *runBools) read(out []bool) error {
	if cap(v.scratch) < len(out) {
		v.scratch = make([]int16, len(out))
	}
	bits := v.scratch[:len(out)]
	if err := v.bits.read(bits); err != nil {
		return err
	}
	for i, b := range bits {
		out[i] = b == 1
	}
	return nil
}

// differences decodes DELTA_BINARY_PACKED, for integers.
func differences[T Value](data []byte) (any, error) {
	var zero T
	if _, ok := any(zero).(int32); ok {
		return newDelta[int32](data)
	}
	return newDelta[int64](data)
}

// lengths decodes DELTA_LENGTH_BYTE_ARRAY: the lengths of all values, and then their bytes.
func lengths[T Value](data []byte) (any, error) {
	sizes, err := newDelta[int32](data)
	if err != nil {
		return nil, err
	}
	data, err = sizes.rest()
	return &lengthBytes{sizes: sizes, data: data}, err
}

type lengthBytes struct {
	sizes   *delta[int32]
	data    []byte
	scratch []int32
}

func (v *lengthBytes) read(out [][]byte) error {
	if cap(v.scratch) < len(out) {
		v.scratch = make([]int32, len(out))
	}
	sizes := v.scratch[:len(out)]
	if err := v.sizes.read(sizes); err != nil {
		return err
	}
	for i, n := range sizes {
		if n < 0 || int(n) > len(v.data) {
			return errValuesEnd
		}
		out[i], v.data = v.data[:n:n], v.data[n:]
	}
	return nil
}

// prefixes decodes DELTA_BYTE_ARRAY: for each value, the length of the prefix shared with the previous one, and the rest.
func prefixes[T Value](length int, data []byte) (any, error) {
	shared, err := newDelta[int32](data)
	if err != nil {
		return nil, err
	}
	if data, err = shared.rest(); err != nil {
		return nil, err
	}
	rest, err := lengths[[]byte](data)
	if err != nil {
		return nil, err
	}
	return &prefixBytes{shared: shared, rest: rest.(*lengthBytes), length: length}, nil
}

type prefixBytes struct {
	shared  *delta[int32]
	rest    *lengthBytes
	length  int
	last    []byte
	scratch []int32
}

// maxShared bounds the bytes of values that are built at once from shared prefixes: a few bytes of differences may require any
// number.
const maxShared = 64 << 20

func (v *prefixBytes) read(out [][]byte) error {
	if cap(v.scratch) < len(out) {
		v.scratch = make([]int32, len(out))
	}
	shared := v.scratch[:len(out)]
	if err := v.shared.read(shared); err != nil {
		return err
	}
	if err := v.rest.read(out); err != nil {
		return err
	}
	all := 0
	for i, n := range shared {
		if n < 0 || int(n) > len(v.last) {
			return errValuesEnd
		}
		if all += int(n) + len(out[i]); all > maxShared {
			return fmt.Errorf("%d values take more than %d bytes", len(out), maxShared)
		}
		value := append(append(make([]byte, 0, int(n)+len(out[i])), v.last[:n]...), out[i]...)
		if v.length > 0 && len(value) != v.length {
			return fmt.Errorf("a value of %d bytes, where all have %d", len(value), v.length)
		}
		out[i], v.last = value, value
	}
	return nil
}

// streams decodes BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, and so on.
func streams[T Value](length int, data []byte) (any, error) {
	var zero T
	size := length
	switch any(zero).(type) {
	case int32, float32:
		size = 4
	case int64, float64:
		size = 8
	case bool, Int96:
		size = 0
	}
	if size == 0 {
		return nil, nil
	}
	if len(data)%size != 0 {
		return nil, errValuesEnd
	}
	n := len(data) / size
	whole := make([]byte, len(data))
	for i, b := range data {
		whole[i%n*size+i/n] = b
	}
	return plain[T](length, whole), nil
}
