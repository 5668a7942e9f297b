package causes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// What copies of this program on other machines are told and answer, as bytes: the values of this package's own types,
// their unexported fields included, one after the other. Only the same version can read them.

// encode writes what v points to.
func encode(v any) []byte {
	return appendValue(nil, reflect.ValueOf(v).Elem())
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.String:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		return append(b, v.String()...)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			b = binary.AppendUvarint(b, uint64(v.Len()))
		}
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
		return b
	case reflect.Map:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for it := v.MapRange(); it.Next(); {
			b = appendValue(appendValue(b, it.Key()), it.Value())
		}
		return b
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendValue(b, v.Field(i))
		}
		return b
	case reflect.Pointer: // never nil
		return appendValue(b, v.Elem())
	}
	panic(fmt.Sprintf("causes: values of type %v can not be sent", v.Type()))
}

var errWire = errors.New("what another copy of straggler sent can not be read")

// decode reads what encode wrote into what v points to.
func decode(b []byte, v any) error {
	d := decoder{b}
	if err := d.value(reflect.ValueOf(v).Elem()); err != nil {
		return err
	}
	if len(d.rest) > 0 {
		return fmt.Errorf("%w: %d bytes too many", errWire, len(d.rest))
	}
	return nil
}

type decoder struct{ rest []byte }

func (d *decoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		b, err := d.take(1)
		if err == nil {
			v.SetBool(b[0] == 1)
		}
		return err
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(d.rest)
		if size <= 0 || v.OverflowInt(n) {
			return errWire
		}
		v.SetInt(n)
		d.rest = d.rest[size:]
		return nil
	case reflect.Uint64:
		n, size := binary.Uvarint(d.rest)
		if size <= 0 {
			return errWire
		}
		v.SetUint(n)
		d.rest = d.rest[size:]
		return nil
	case reflect.Float64:
		b, err := d.take(8)
		if err == nil {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		return err
	case reflect.String:
		n, err := d.length()
		if err != nil {
			return err
		}
		b, err := d.take(n)
		v.SetString(string(b))
		return err
	case reflect.Array:
		return d.elements(v)
	case reflect.Slice:
		n, err := d.length()
		if err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		return d.elements(v)
	case reflect.Map:
		return d.entries(v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if !f.CanSet() { // unexported: of our own package, so nobody else's business is touched
				f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
			}
			if err := d.value(f); err != nil {
				return err
			}
		}
		return nil
	}
	panic(fmt.Sprintf("causes: values of type %v can not be sent", v.Type()))
}

func (d *decoder) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := d.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) entries(v reflect.Value) error {
	n, err := d.length()
	if err != nil {
		return err
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), n))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := errors.Join(d.value(key), d.value(value)); err != nil {
			return err
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

// length is that of a text, a slice or a map: every element takes a byte at least.
func (d *decoder) length() (int, error) {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(len(d.rest)-size) {
		return 0, errWire
	}
	d.rest = d.rest[size:]
	return int(n), nil
}

func (d *decoder) take(n int) ([]byte, error) {
	if n > len(d.rest) {
		return nil, errWire
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b, nil
}
