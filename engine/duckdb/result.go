package duckdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/engine"
	"straggler/engine/sqltext"
	"straggler/store"
)

// result is one statement, its result and its connection.
type result struct {
	d          *Engine
	ctx        context.Context
	conn       mapping.Connection
	stmt       mapping.PreparedStatement
	res        mapping.Result
	chunk      mapping.DataChunk
	converters []vectorConverter
	batch      engine.Batch
	held       bool // the result is in heldTable
	closed     bool
}

func (r *result) prepare(sql string, guarded bool) error {
	r.d.unions.note(sql)
	all, err := r.extract(sql)
	defer mapping.DestroyExtracted(&all)
	if err != nil {
		return err
	}
	if guarded {
		if err := r.checkTree(sql); err != nil {
			return err
		}
	}
	if mapping.PrepareExtractedStatement(r.conn, all, 0, &r.stmt) == mapping.StateError {
		return engineError(mapping.PrepareError(r.stmt))
	}
	if guarded {
		return checkType(mapping.PreparedStatementType(r.stmt))
	}
	return nil
}

// extract parses exactly one statement. The caller must destroy the result, even after an error.
func (r *result) extract(sql string) (all mapping.ExtractedStatements, _ error) {
	if strings.ContainsRune(sql, 0) {
		return all, errors.New("duckdb: the statement has a zero byte in it")
	}
	switch n := mapping.ExtractStatements(r.conn, sql, &all); {
	case n == 0:
		if msg := mapping.ExtractStatementsError(all); msg != "" {
			return all, engineError(msg)
		}
		return all, errors.New("duckdb: there is no statement")
	case n > 1:
		return all, fmt.Errorf("duckdb: %w: one statement at a time, and these are %d (a PIVOT counts as one when its values are listed: ON column IN (…))",
			engine.ErrStatement, n)
	}
	return all, nil
}

// castSQL returns the prepared query with lists, dates and other values without a portable type cast to text by DuckDB, and
// whether there are any.
func (r *result) castSQL(sql string) (string, bool) {
	if mapping.PreparedStatementType(r.stmt) != mapping.StatementTypeSelect {
		return "", false
	}
	need := false
	list := make([]string, mapping.PreparedStatementColumnCount(r.stmt))
	for i := range list {
		t := mapping.PreparedStatementColumnLogicalType(r.stmt, mapping.IdxT(i))
		_, cast := typeOf(t).portable()
		mapping.DestroyLogicalType(&t)
		list[i] = fmt.Sprintf("#%d", i+1)
		if cast {
			need = true
			list[i] = "CAST(" + list[i] + " AS VARCHAR)"
		}
		list[i] += " AS " + quoteName(mapping.PreparedStatementColumnName(r.stmt, mapping.IdxT(i)))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + sqltext.DuckDB.Trim(sql) + "\n)", need
}

// execute starts the statement. With a streaming result most of the work is done while it is read, by one thread; with whole
// set, all threads compute all rows first.
func (r *result) execute(ctx context.Context, whole bool) error {
	return r.interruptible(ctx, func() error {
		if whole {
			if mapping.ExecutePrepared(r.stmt, &r.res) == mapping.StateError {
				return engineError(mapping.ResultError(&r.res))
			}
			return nil
		}
		var pending mapping.PendingResult
		defer mapping.DestroyPending(&pending)
		if bindings.PendingPreparedStreaming(r.stmt, &pending) == mapping.StateError {
			return engineError(mapping.PendingError(pending))
		}
		if mapping.ExecutePending(pending, &r.res) == mapping.StateError {
			return engineError(mapping.ResultError(&r.res))
		}
		return nil
	})
}

// interruptEvery is how often a cancelled statement is interrupted until it ends.
const interruptEvery = 5 * time.Millisecond

// interruptible runs a call into DuckDB that the context can cancel.
func (r *result) interruptible(ctx context.Context, call func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	if ctx.Done() == nil {
		return call()
	}
	ended, stopped := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		for {
			mapping.Interrupt(r.conn)
			select {
			case <-ended:
				return
			case <-time.After(interruptEvery):
			}
		}
	})
	err := call()
	close(ended)
	if !stop() {
		<-stopped // or it could interrupt the next statement of the connection
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("duckdb: %w", ctx.Err())
	}
	return err
}

// run runs a statement to its end. It does not prepare it, because DuckDB plans a prepared statement that reads Parquet files a
// second time when it runs.
func (r *result) run(ctx context.Context, sql string) error {
	r.d.unions.note(sql)
	all, err := r.extract(sql)
	mapping.DestroyExtracted(&all)
	if err != nil {
		return err
	}
	return r.interruptible(ctx, func() error {
		if mapping.Query(r.conn, sql, &r.res) == mapping.StateError {
			return engineError(mapping.ResultError(&r.res))
		}
		return nil
	})
}

// describe returns the columns of the result, and whether DuckDB has to cast any of them.
func (r *result) describe() (columns []engine.Column, cast bool) {
	n := int(mapping.ColumnCount(&r.res))
	columns = make([]engine.Column, n)
	r.converters = make([]vectorConverter, n)
	r.batch.Columns = make([]engine.Vector, n)
	for i := range n {
		t := mapping.ColumnLogicalType(&r.res, mapping.IdxT(i))
		from := typeOf(t)
		mapping.DestroyLogicalType(&t)
		to, castIt := from.portable()
		cast = cast || castIt
		r.converters[i] = vectorConverter{from: from, to: to}
		columns[i] = engine.Column{Name: mapping.ColumnName(&r.res, mapping.IdxT(i)), Type: to, Native: from.String()}
	}
	return columns, cast
}

func (r *result) Next(ctx context.Context) (*engine.Batch, error) {
	if r.chunk.Ptr != nil {
		mapping.DestroyDataChunk(&r.chunk)
	}
	err := r.interruptible(ctx, func() error {
		r.chunk = mapping.FetchChunk(r.res)
		if msg := mapping.ResultError(&r.res); r.chunk.Ptr == nil && msg != "" {
			return engineError(msg)
		}
		return nil
	})
	if err != nil || r.chunk.Ptr == nil {
		return nil, err
	}
	r.batch.Len = int(mapping.DataChunkGetSize(r.chunk))
	for i := range r.converters {
		if err := r.converters[i].read(mapping.DataChunkGetVector(r.chunk, mapping.IdxT(i)), r.batch.Len, &r.batch.Columns[i]); err != nil {
			return nil, fmt.Errorf("duckdb: column %s: %w", mapping.ColumnName(&r.res, mapping.IdxT(i)), err)
		}
	}
	return &r.batch, nil
}

func (r *result) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.chunk.Ptr != nil {
		mapping.DestroyDataChunk(&r.chunk)
	}
	mapping.DestroyResult(&r.res)
	mapping.DestroyPrepare(&r.stmt)
	if r.held {
		mapping.Query(r.conn, "DROP TABLE IF EXISTS temp."+heldTable, &r.res)
		mapping.DestroyResult(&r.res)
	}
	r.d.release(r.conn)
	return nil
}

// damageSigns are phrases in DuckDB's errors about damaged Parquet files: their pages, their columns, and the Thrift structures
// that describe them.
var damageSigns = []string{"Failed to read file", "Could not read enough bytes from file", "TProtocolException",
	"TTransportException", "don't know what type", "invalid TType", "orrupt"}

// aboutStatement reports whether an error is about the text of a statement, which may contain any phrase.
func aboutStatement(msg string) bool {
	for _, kind := range []string{"Parser Error:", "Binder Error:", "Catalog Error:", "Conversion Error:"} {
		if strings.HasPrefix(msg, kind) {
			return true
		}
	}
	return false
}

// engineError wraps an error of DuckDB, with advice if it is about a file of the store.
func engineError(msg string) error {
	if !aboutStatement(msg) {
		for _, sign := range damageSigns {
			if strings.Contains(msg, sign) {
				return fmt.Errorf("duckdb: %w: %s; straggler store verify lists what is", store.ErrDamaged, msg)
			}
		}
		for _, sign := range []string{"Invalid Error:", "IO Error:"} {
			if strings.Contains(msg, sign) {
				return fmt.Errorf("duckdb: %s; straggler store verify shows whether a file of the store is damaged", msg)
			}
		}
	}
	return fmt.Errorf("duckdb: %s", msg)
}
