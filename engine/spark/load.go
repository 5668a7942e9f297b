package spark

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"straggler/engine"
	"straggler/engine/sqltext"
	"straggler/engine/view"
	"straggler/schema"
	"straggler/store/parquet"
)

// Load creates a view over a file in the store's staging directory, which the executors read: one statement for any number of
// rows, which would otherwise pass through the server as text. The file remains until the engine is closed, because other
// tables may be recreated from it when a session is lost.
func (e *Engine) Load(ctx context.Context, name string, columns []engine.Column, next func() *engine.Batch) error {
	if err := engine.CheckName(name); err != nil {
		return fmt.Errorf("spark: %w", err)
	}
	if e.o.Locked {
		return fmt.Errorf("spark: %w: the engine is locked", engine.ErrStatement)
	}
	data, err := loadedFile(ctx, columns, next)
	if err != nil {
		return fmt.Errorf("spark: %w", err)
	}
	file, err := e.st.Stage(ctx, data)
	if err != nil {
		return err
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = quoteName(c.Name) + " " + view.Type(sqltext.Spark, c.Type)
	}
	e.mu.Lock()
	e.loaded = append(e.loaded, file)
	e.mu.Unlock()
	sql, err := parquetView(quoteName(name), list, []string{e.filePath(file.Name)})
	if err != nil {
		return err
	}
	return e.keep(ctx, sql, func() (*materialized, error) {
		m := &materialized{name: name, sql: sql, view: true}
		return m, e.make(ctx, m)
	})
}

// loadedFile returns a Parquet file of all batches.
func loadedFile(ctx context.Context, columns []engine.Column, next func() *engine.Batch) ([]byte, error) {
	of := make([]schema.Column, len(columns))
	for i, c := range columns {
		if c.Type != schema.BigInt && c.Type != schema.Double {
			return nil, fmt.Errorf("column %s is %s, and only BIGINT and DOUBLE are loaded", c.Name, c.Type)
		}
		of[i] = schema.Column{Name: c.Name, Type: c.Type, Nullable: true}
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, of, "")
	if err != nil {
		return nil, err
	}
	group := parquet.NewBuffer(of)
	end := func() error {
		if group.Rows() == 0 {
			return nil
		}
		err := w.WriteRowGroup(group)
		group.Reset()
		return err
	}
	for b := next(); b != nil; b = next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for row := range b.Len {
			group.AppendValues(func(i int) any {
				switch v := &b.Columns[i]; {
				case v.Null(row):
					return nil
				case of[i].Type == schema.Double:
					return v.Float64s[row]
				default:
					return v.Int64s[row]
				}
			})
			if group.Full() {
				if err := end(); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := errors.Join(end(), w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
