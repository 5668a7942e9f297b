package duckdb

import (
	"context"
	"fmt"
	"strings"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/engine"
	"straggler/schema"
)

// Load makes a session table of batches of rows, each of no more rows than a vector of DuckDB has.
func (d *Engine) Load(ctx context.Context, name string, columns []engine.Column, next func() *engine.Batch) error {
	if err := engine.CheckName(name); err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	if d.o.Locked {
		return fmt.Errorf("duckdb: %w: the engine is locked", engine.ErrStatement)
	}
	list, types := make([]string, len(columns)), make([]mapping.LogicalType, len(columns))
	for i, c := range columns {
		list[i] = quoteName(c.Name) + " " + string(c.Type)
		id := mapping.TypeBigInt
		if c.Type == schema.Double {
			id = mapping.TypeDouble
		}
		types[i] = mapping.CreateLogicalType(id)
		defer mapping.DestroyLogicalType(&types[i])
	}
	if err := d.exec(ctx, "CREATE OR REPLACE TABLE "+quoteName(name)+" ("+strings.Join(list, ", ")+")"); err != nil {
		return err
	}
	conn, err := d.connect()
	if err != nil {
		return err
	}
	defer d.release(conn)
	var to mapping.Appender
	defer mapping.AppenderDestroy(&to)
	if mapping.AppenderCreate(conn, "", name, &to) == mapping.StateError {
		return engineError(mapping.AppenderError(to))
	}
	chunk := mapping.CreateDataChunk(types)
	defer mapping.DestroyDataChunk(&chunk)
	for b := next(); b != nil; b = next() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("duckdb: %w", err)
		}
		if mapping.IdxT(b.Len) > mapping.VectorSize() {
			return fmt.Errorf("duckdb: %d rows at once, and a vector has %d", b.Len, mapping.VectorSize())
		}
		mapping.DataChunkReset(chunk)
		for i := range columns {
			fillVector(mapping.DataChunkGetVector(chunk, mapping.IdxT(i)), b.Len, columns[i].Type, &b.Columns[i])
		}
		mapping.DataChunkSetSize(chunk, mapping.IdxT(b.Len))
		if mapping.AppendDataChunk(to, chunk) == mapping.StateError {
			return engineError(mapping.AppenderError(to))
		}
	}
	if mapping.AppenderClose(to) == mapping.StateError {
		return engineError(mapping.AppenderError(to))
	}
	return nil
}

// fillVector copies n values into a vector of DuckDB.
func fillVector(to mapping.Vector, n int, t schema.Type, from *engine.Vector) {
	p := mapping.VectorGetData(to)
	if t == schema.Double {
		copy(unsafe.Slice((*float64)(p), n), from.Float64s)
	} else {
		copy(unsafe.Slice((*int64)(p), n), from.Int64s)
	}
	if from.Valid != nil {
		mapping.VectorEnsureValidityWritable(to)
		copy(unsafe.Slice((*uint64)(mapping.VectorGetValidity(to)), (n+63)/64), from.Valid)
	}
}
