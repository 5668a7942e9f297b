package parquetfile

import (
	"errors"
	"slices"
)

// A column that is not in lists can be read without its levels, which mostly are one run for a page: it has values only, or
// NULLs only.

// Fill reads the next values of the current page into out, with unknown in the places of NULLs. known, unless it is nil,
// receives which are not NULL.
func (c *Column[T]) Fill(out []T, unknown T, known []bool) (n int, err error) {
	return fill(c.Chunk, out, unknown, known, c.read)
}

// fill reads values with read.
func fill[T any](c *Chunk, out []T, unknown T, known []bool, read func([]T) error) (n int, err error) {
	if c.repeat > 0 {
		return 0, errors.New("its values are in lists")
	}
	n = min(c.inPage, len(out))
	out = out[:n]
	for len(out) > 0 {
		run, level := len(out), c.Field.MaxDefinition
		if c.defined > 0 {
			if run, level, err = c.definition.same(len(out)); err != nil {
				return 0, err
			}
		}
		switch {
		case run == 0:
			if run, err = c.mixedLevels(len(out)); err != nil {
				return 0, err
			}
			err = spread(out[:run], unknown, c.levels, c.Field.MaxDefinition, read)
			for i, l := range c.levels[:min(run, len(known))] {
				known[i] = l == c.Field.MaxDefinition
			}
		case level == c.Field.MaxDefinition:
			err = read(out[:run])
			set(known[:min(run, len(known))], true)
		case level > c.Field.MaxDefinition || level < 0:
			err = errLevel(level, c.Field.MaxDefinition)
		default:
			set(out[:run], unknown)
			set(known[:min(run, len(known))], false)
		}
		if err != nil {
			return 0, err
		}
		out, known = out[run:], known[min(run, len(known)):]
	}
	c.inPage -= n
	return n, nil
}

// mixedLevels reads up to n definition levels of a run of packed bits.
func (c *Chunk) mixedLevels(n int) (int, error) {
	n = min(n, c.definition.left)
	c.levels = slices.Grow(c.levels[:0], n)[:n]
	return n, levels(&c.definition, c.levels, c.Field.MaxDefinition)
}

// spread reads the values that are not NULL, and puts them in their places.
func spread[T any](out []T, unknown T, levels []int16, defined int16, read func([]T) error) error {
	present := 0
	for _, l := range levels {
		if l == defined {
			present++
		}
	}
	if err := read(out[:present]); err != nil {
		return err
	}
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i] == defined {
			present--
			out[i] = out[present]
		} else {
			out[i] = unknown
		}
	}
	return nil
}

func set[T any](to []T, value T) {
	for i := range to {
		to[i] = value
	}
}

// Mapped reads a column as results of a function of its values, which is called once for each entry of a dictionary.
type Mapped[T Value, U any] struct {
	*Column[T]
	of      func(T) U
	entries []U // of the dictionary
	scratch []T
}

// MappedOf reads a column as results of a function.
func MappedOf[T Value, U any](c *Column[T], of func(T) U) *Mapped[T, U] {
	return &Mapped[T, U]{Column: c, of: of}
}

// Fill is Column.Fill.
func (m *Mapped[T, U]) Fill(out []U, unknown U, known []bool) (n int, err error) {
	return fill(m.Chunk, out, unknown, known, m.read)
}

func (m *Mapped[T, U]) read(out []U) error {
	if err := m.open(); err != nil {
		return err
	}
	if of, ok := m.values.(*numbered[T]); ok {
		for _, v := range m.dictionary[len(m.entries):] {
			m.entries = append(m.entries, m.of(v))
		}
		return entriesOf(of, m.entries, out)
	}
	m.scratch = slices.Grow(m.scratch[:0], len(out))[:len(out)]
	if err := m.values.read(m.scratch); err != nil {
		return err
	}
	for i, v := range m.scratch {
		out[i] = m.of(v)
	}
	return nil
}
