package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// ErrParquet is a Parquet file that can not be read.
var ErrParquet = errors.New("unreadable Parquet file")

var parquetMagic = []byte("PAR1")

const (
	maxFooter    = 64 << 20 // bytes; a file of a thousand columns and row groups has a few
	parquetBatch = 4096     // rows
)

// parquetColumns are the names of a file's columns, from its footer.
func parquetColumns(f File) (names []string, err error) {
	defer recoverParquet(&err)
	r, err := openParquet(f)
	if err != nil {
		return nil, err
	}
	schema := r.MetaData().Schema.Root()
	for i := range schema.NumFields() {
		names = append(names, schema.Field(i).Name())
	}
	return names, nil
}

func openParquet(f File) (*pqfile.Reader, error) {
	var tail [8]byte
	if _, err := f.ReadAt(tail[:], max(f.Size()-8, 0)); err != nil && err != io.EOF {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(tail[:]); !bytes.Equal(tail[4:], parquetMagic) || n > maxFooter {
		return nil, fmt.Errorf("%w: it does not end in a footer of at most %d bytes; it may be cut", ErrParquet, maxFooter)
	}
	r, err := pqfile.NewParquetReader(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParquet, err)
	}
	return r, nil
}

// recoverParquet turns a panic of the Parquet library, which trusts the pages that it reads, into an error.
func recoverParquet(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrParquet, p)
	}
}

// EachBatch gives the rows of a Parquet file to take, some thousands at a time. A batch is valid until take returns.
func EachBatch(ctx context.Context, p Part, take func(arrow.RecordBatch) error) (err error) {
	defer recoverParquet(&err)
	f, err := p.OpenAt(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := openParquet(f)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	ar, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: parquetBatch}, memory.DefaultAllocator)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", p.Name, ErrParquet, err)
	}
	batches, err := ar.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", p.Name, ErrParquet, err)
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
		return fmt.Errorf("%s: %w: %w", p.Name, ErrParquet, err)
	}
	return nil
}
