package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"straggler/schema"
)

// Loader is an engine that can load rows.
type Loader interface {
	Engine

	// Load creates a session table from batches of rows, replacing one of that name. All columns are numbers.
	Load(ctx context.Context, name string, columns []Column, next func() *Batch) error
}

// Gatherer is an engine that can compute all rows of a query with all its threads before it returns the first, whereas
// streaming uses one thread.
type Gatherer interface {
	Gather(ctx context.Context, sql string) (*Rows, error)

	// Few reports whether its tables have so few rows that gathering is faster than streaming.
	Few() bool
}

// Streamer is an engine that can stream the rows of a query on one thread, with less processor time than several threads take
// together.
type Streamer interface {
	Stream(ctx context.Context, sql string) (*Rows, error)
}

// InProcess returns the engine if it is in this process and loads rows, so that Go code can process its rows here. For other
// engines copies of the program do that, or SQL.
func InProcess(eng Engine) (Loader, bool) {
	if _, many := eng.(RemoteRunner); many {
		return nil, false
	}
	l, ok := eng.(Loader)
	return l, ok
}

// loadRows is how many rows are gathered at once.
const loadRows = 2048

// Load creates a session table from structs, in batches, by the names in their `col` tags: the reverse of Read.
func Load[R any](ctx context.Context, eng Loader, name string, batches iter.Seq2[[]R, error]) error {
	of := schema.Columns(reflect.TypeFor[R]())
	columns, b := make([]Column, len(of)), &Batch{Columns: make([]Vector, len(of))}
	for i, c := range of {
		if c.Type != schema.BigInt && c.Type != schema.Double {
			return fmt.Errorf("loading %s: column %s is %s, and only BIGINT and DOUBLE are taken", name, c.Name, c.Type)
		}
		columns[i] = Column{Name: c.Name, Type: c.Type}
	}
	next, stop := iter.Pull2(batches)
	defer stop()
	var rows []R
	var failed error
	err := eng.Load(ctx, name, columns, func() *Batch {
		for more := true; len(rows) == 0; {
			if rows, failed, more = next(); !more || failed != nil {
				return nil
			}
		}
		b.Len = min(len(rows), loadRows)
		for i := range of {
			gather(unsafe.Pointer(&rows[0]), unsafe.Sizeof(rows[0]), b.Len, &of[i], &b.Columns[i])
		}
		rows = rows[b.Len:]
		return b
	})
	return cmp.Or(failed, err)
}

// gather fills a vector with a field of n structs that start at p.
func gather(p unsafe.Pointer, stride uintptr, n int, c *schema.Column, to *Vector) {
	at := unsafe.Add(p, c.Offset())
	if c.Type == schema.Double {
		to.Float64s = gathered(to.Float64s, at, stride, n)
	} else {
		to.Int64s = gathered(to.Int64s, at, stride, n)
	}
	if !c.Nullable {
		return
	}
	to.Valid = Resized(to.Valid, (n+63)/64)
	clear(to.Valid)
	for i := range n {
		if *(*bool)(unsafe.Add(at, uintptr(i)*stride+sizes[c.Type])) {
			to.Valid[i>>6] |= 1 << (i & 63)
		}
	}
}

func gathered[T any](to []T, at unsafe.Pointer, stride uintptr, n int) []T {
	to = Resized(to, n)
	for i := range to {
		to[i] = *(*T)(unsafe.Add(at, uintptr(i)*stride))
	}
	return to
}
