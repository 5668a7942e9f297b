// Package parquet reads Parquet files: from a file it takes the names of the columns, from a part of an input the rows, some
// thousands at a time. The library trusts the pages that it reads; what it does with damaged ones becomes an error here.
package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"straggler/ingest"
)

// ErrUnreadable is returned when a Parquet file cannot be read.
var ErrUnreadable = errors.New("unreadable Parquet file")

// Magic is what a Parquet file starts and ends with.
const Magic = "PAR1"

const (
	maxFooter = 64 << 20 // bytes; a file of a thousand columns and row groups has a few
	batchRows = 4096
)

// Columns are the names of a file's columns, from its footer.
func Columns(f ingest.File) (names []string, err error) {
	defer recovered(&err)
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	schema := r.MetaData().Schema.Root()
	for i := range schema.NumFields() {
		names = append(names, schema.Field(i).Name())
	}
	return names, nil
}

// EachBatch gives the rows of a Parquet file to take, some thousands at a time. A batch is valid until take returns.
func EachBatch(ctx context.Context, p ingest.Part, take func(arrow.RecordBatch) error) (err error) {
	defer recovered(&err)
	f, err := p.OpenAt(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	ar, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", p.Name, ErrUnreadable, err)
	}
	batches, err := ar.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", p.Name, ErrUnreadable, err)
	}
	defer batches.Release()
	for batches.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(batches.RecordBatch()); err != nil {
			return err
		}
	}
	if err := batches.Err(); err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w: %w", p.Name, ErrUnreadable, err)
	}
	return nil
}

func open(f ingest.File) (*pqfile.Reader, error) {
	var tail [8]byte
	if _, err := f.ReadAt(tail[:], max(f.Size()-8, 0)); err != nil && err != io.EOF {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(tail[:]); string(tail[4:]) != Magic || n > maxFooter {
		return nil, fmt.Errorf("%w: it does not end in a footer of at most %d bytes; it may be cut", ErrUnreadable, maxFooter)
	}
	r, err := pqfile.NewParquetReader(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return r, nil
}

// recovered turns a panic of the Parquet library, which trusts the pages that it reads, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrUnreadable, p)
	}
}
