package hadoop

import (
	"fmt"
	"io"

	"straggler/ingest/read"
)

// avroEvents decodes the datums of an Avro-Binary history. It is used by one goroutine.
type avroEvents struct {
	schema   *avroType
	names    read.Interner
	counters counterNames

	b     []byte // of the datum
	i     int
	items int // array and map entries of this datum
	ev    *event
}

// event decodes the datum that b starts with and says how long it is. io.ErrUnexpectedEOF means that b ends inside it.
func (d *avroEvents) event(b []byte, e *event) (n int, err error) {
	if len(b) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	d.b, d.i, d.items, d.ev = b, 0, 0, e
	status := ""
	if d.schema.kind != avroRecord {
		return 0, fmt.Errorf("%w: the schema is not that of a record", errAvroSchema)
	}
	for i := range d.schema.fields {
		f := &d.schema.fields[i]
		switch string(f.name) {
		case "type":
			word, err := d.word(f.typ, 0)
			if err != nil {
				return 0, err
			}
			e.kind, status = kindOfEvent(word)
		case "event":
			if err := d.wrapped(f.typ, 0, d.body); err != nil {
				return 0, err
			}
		default:
			if err := d.skip(f.typ, 0); err != nil {
				return 0, err
			}
		}
	}
	if e.status == "" {
		e.status = status
	}
	if d.i == 0 {
		return 0, fmt.Errorf("%w: it has no bytes", errAvroDatum)
	}
	return d.i, nil
}

// wrapped gives the branch that a union takes, or the type itself, to read.
func (d *avroEvents) wrapped(t *avroType, depth int, read func(*avroType, int) error) error {
	if t.kind != avroUnion {
		return read(t, depth)
	}
	b, err := d.branch(t)
	if err != nil {
		return err
	}
	return read(b, depth+1)
}

// body reads the members of the record that the event is.
func (d *avroEvents) body(t *avroType, depth int) error {
	if t.kind != avroRecord {
		return d.skip(t, depth)
	}
	for i := range t.fields {
		f := &t.fields[i]
		read := func(t *avroType, depth int) error { return d.member(f.name, t, depth) }
		if err := d.wrapped(f.typ, depth+1, read); err != nil {
			return err
		}
	}
	return nil
}

// member reads a member of an event, as eventDecoder.body does.
func (d *avroEvents) member(name []byte, t *avroType, depth int) error {
	switch {
	case string(name) == "counters":
		return d.tally(t, depth)
	case string(name) == "clockSplits" && t.kind == avroArray:
		return d.splits(t, depth)
	case t.kind == avroInt || t.kind == avroLong:
		n, err := d.long()
		if at := d.ev.numberAt(name); at != nil && err == nil {
			*at = n
		}
		return err
	case (t.kind == avroString || t.kind == avroEnum) && d.ev.wants(name):
		text, err := d.word(t, depth)
		if err == nil {
			d.ev.take(name, text, &d.names)
		}
		return err
	}
	return d.skip(t, depth)
}

// tally reads counters: a record of groups, which are records with a name and a list of counts, which have names too.
func (d *avroEvents) tally(t *avroType, depth int) error {
	if t.kind != avroRecord {
		return d.skip(t, depth)
	}
	return d.each(t, depth, "groups", func(t *avroType, depth int) error {
		fileSystems := false
		return d.named(t, depth, func(name []byte) { fileSystems = ofFileSystems(name) }, "counts", func(t *avroType, depth int) error {
			k := notUsed
			return d.named(t, depth, func(name []byte) { k = d.counters.find(fileSystems, name) }, "value", func(t *avroType, depth int) error {
				if t.kind != avroLong && t.kind != avroInt {
					return d.skip(t, depth)
				}
				n, err := d.long()
				if err == nil {
					d.ev.counters.set(k, n)
				}
				return err
			})
		})
	})
}

// named reads a record: its name, and the member that is of use.
func (d *avroEvents) named(t *avroType, depth int, name func([]byte), member string, read func(*avroType, int) error) error {
	if t.kind != avroRecord {
		return d.skip(t, depth)
	}
	for i := range t.fields {
		f := &t.fields[i]
		var err error
		switch {
		case string(f.name) == "name" && f.typ.kind == avroString:
			var text []byte
			if text, err = d.word(f.typ, depth+1); err == nil {
				name(text)
			}
		case string(f.name) == member && f.typ.kind == avroArray:
			err = d.blocks(f.typ, depth+1, read)
		case string(f.name) == member:
			err = d.wrapped(f.typ, depth+1, read)
		default:
			err = d.skip(f.typ, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each reads the entries of one member of a record.
func (d *avroEvents) each(t *avroType, depth int, member string, read func(*avroType, int) error) error {
	return d.named(t, depth, func([]byte) {}, member, read)
}

func (d *avroEvents) splits(t *avroType, depth int) error {
	return d.blocks(t, depth, func(t *avroType, depth int) error {
		if t.kind != avroInt && t.kind != avroLong {
			return d.skip(t, depth)
		}
		n, err := d.long()
		if d.ev.splits == nil {
			d.ev.splits = make([]int64, 0, 12)
		}
		if err == nil && len(d.ev.splits) < maxSplits {
			d.ev.splits = append(d.ev.splits, n)
		}
		return err
	})
}

// blocks reads the counted blocks of an array or map; a negative count is followed by the block's size in bytes.
func (d *avroEvents) blocks(t *avroType, depth int, read func(*avroType, int) error) error {
	if depth > maxAvroDepth {
		return errAvroDepth
	}
	for {
		n, err := d.long()
		if err != nil || n == 0 {
			return err
		}
		if n < 0 {
			n = -n
			if _, err := d.long(); err != nil {
				return err
			}
		}
		if n < 0 {
			return fmt.Errorf("%w: a block of a negative count", errAvroDatum)
		}
		for range n {
			if err := d.visit(); err != nil {
				return err
			}
			if t.kind == avroMap {
				if _, err := d.text(); err != nil {
					return err
				}
			}
			if err := read(t.items, depth+1); err != nil {
				return err
			}
		}
	}
}

var errAvroDepth = fmt.Errorf("%w: deeper than %d levels", errAvroDatum, maxAvroDepth)

// visit bounds the work that values of no bytes can make: a schema may nest empty records in each other.
func (d *avroEvents) visit() error {
	if d.items++; d.items > maxAvroItems+64*d.i {
		return fmt.Errorf("%w: more entries than its bytes can hold", errAvroDatum)
	}
	return nil
}

// skip moves past a value.
func (d *avroEvents) skip(t *avroType, depth int) error {
	if depth > maxAvroDepth {
		return errAvroDepth
	}
	if err := d.visit(); err != nil {
		return err
	}
	switch t.kind {
	case avroNull:
		return nil
	case avroBoolean:
		return d.past(1)
	case avroInt, avroLong, avroEnum:
		_, err := d.long()
		return err
	case avroFloat:
		return d.past(4)
	case avroDouble:
		return d.past(8)
	case avroBytes, avroString:
		_, err := d.text()
		return err
	case avroFixed:
		return d.past(t.size)
	case avroRecord:
		for i := range t.fields {
			if err := d.skip(t.fields[i].typ, depth+1); err != nil {
				return err
			}
		}
		return nil
	case avroArray, avroMap:
		return d.blocks(t, depth, d.skip)
	case avroUnion:
		b, err := d.branch(t)
		if err != nil {
			return err
		}
		return d.skip(b, depth+1)
	}
	return fmt.Errorf("%w: a type of no kind", errAvroDatum)
}

func (d *avroEvents) branch(t *avroType) (*avroType, error) {
	n, err := d.long()
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= int64(len(t.union)) {
		return nil, fmt.Errorf("%w: a union of %d has no branch %d", errAvroDatum, len(t.union), n)
	}
	return t.union[n], nil
}

// word reads a string or the symbol of an enum; nothing of a value of another kind.
func (d *avroEvents) word(t *avroType, depth int) ([]byte, error) {
	switch t.kind {
	case avroString:
		return d.text()
	case avroEnum:
		n, err := d.long()
		if err != nil {
			return nil, err
		}
		if n < 0 || n >= int64(len(t.symbols)) {
			return nil, fmt.Errorf("%w: %s has no symbol %d", errAvroDatum, t.name, n)
		}
		return t.symbols[n], nil
	}
	return nil, d.skip(t, depth)
}

// long reads a zig-zag variable-length integer.
func (d *avroEvents) long() (int64, error) {
	var u uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if d.i >= len(d.b) {
			return 0, io.ErrUnexpectedEOF
		}
		b := d.b[d.i]
		d.i++
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(u>>1) ^ -int64(u&1), nil
		}
	}
	return 0, fmt.Errorf("%w: an integer of more than ten bytes", errAvroDatum)
}

func (d *avroEvents) text() ([]byte, error) {
	n, err := d.long()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxAvroString {
		return nil, fmt.Errorf("%w: a string of %d bytes; a datum may have %d", errAvroDatum, n, maxAvroString)
	}
	at := d.i
	err = d.past(int(n))
	return d.b[at:d.i], err
}

func (d *avroEvents) past(n int) error {
	if n > len(d.b)-d.i {
		d.i = len(d.b)
		return io.ErrUnexpectedEOF
	}
	d.i += n
	return nil
}
