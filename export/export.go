package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/spelling"
	"straggler/table"
)

var (
	// ErrExists is returned when the directory is not empty.
	ErrExists = errors.New("the directory is not empty")
	// ErrNoTable is returned for the name of no table.
	ErrNoTable = errors.New("no such table")
	// ErrEncoding is returned for an encoding that exports cannot have.
	ErrEncoding = errors.New("no such encoding")
)

// Written is a file that was written.
type Written struct {
	Table string
	File  string // name in the directory
	Rows  int64
	Bytes int64
}

// Tables returns the named tables, in the order of the schema. Without names they are all that ingest fills, except ingests,
// which describes one store.
func Tables(names []string) ([]*schema.Table, error) {
	wanted := make(map[string]bool)
	for _, name := range names {
		if schema.ByName(name) == nil {
			return nil, fmt.Errorf("export: %w: %q; %s", ErrNoTable, name, spelling.Choices(name, schema.TableNames()))
		}
		wanted[name] = true
	}
	var out []*schema.Table
	for _, t := range schema.Tables() {
		if wanted[t.Name] || len(names) == 0 && !t.Result && t.Name != "ingests" {
			out = append(out, t)
		}
	}
	return out, nil
}

// Run writes tables into a directory that does not exist or is empty.
func Run(ctx context.Context, eng engine.Engine, tables []*schema.Table, dir, encoding string) (files []Written, err error) {
	enc, err := encodingOf(encoding)
	if err != nil {
		return nil, err
	}
	dir = filepath.Clean(dir)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("export: %s: %w; name a new or empty one", dir, ErrExists)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("export: %w", err)
	}
	temp := filepath.Join(filepath.Dir(dir), fmt.Sprintf(".%s.%08x", filepath.Base(dir), rand.Uint32()))
	if err := os.Mkdir(temp, 0o777); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	for _, t := range tables {
		w, err := write(ctx, eng, t, temp, enc)
		if err != nil {
			return nil, fmt.Errorf("export: %s: %w", t.Name, err)
		}
		files = append(files, w)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // removes an empty directory and no other
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return files, nil
}

func encodingOf(name string) (table.Encoding, error) {
	for _, known := range Encodings() {
		if enc, ok := table.Named(name); ok && name == known {
			return enc, nil
		}
	}
	return table.Encoding{}, fmt.Errorf("export: %w: %q; %s", ErrEncoding, name, spelling.Choices(name, Encodings()))
}

// write writes one table. The rows stream; the engine sorts them in bounded memory.
func write(ctx context.Context, eng engine.Engine, t *schema.Table, dir string, enc table.Encoding) (w Written, err error) {
	w = Written{Table: t.Name, File: t.Name + enc.Extensions[0]}
	rows, err := eng.Query(ctx, query(t))
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	f, err := os.OpenFile(filepath.Join(dir, w.File), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return w, err
	}
	out := bufio.NewWriterSize(f, 256<<10)
	w.Rows, err = enc.Write(out, rows, table.Options{})
	if err = errors.Join(err, out.Flush(), f.Sync()); err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil {
			w.Bytes = info.Size()
		}
	}
	return w, errors.Join(err, f.Close())
}

// query returns a table's rows in a deterministic order: by the clustering column and the key; tables without a key are
// sorted by all columns.
func query(t *schema.Table) string {
	var names, order []string
	if t.Cluster != "" {
		order = append(order, t.Cluster+" NULLS LAST")
	}
	primary := false
	for _, c := range t.Columns {
		names = append(names, c.Name)
		if c.Key == "primary" {
			order = append(order, c.Name+" NULLS LAST")
			primary = true
		}
	}
	if !primary {
		for _, name := range names {
			order = append(order, name+" NULLS LAST")
		}
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM " + t.Name + " ORDER BY " + strings.Join(order, ", ")
}

// Encodings returns the names of the encodings that ingest reads; the first is the default.
func Encodings() []string { return []string{"parquet", "csv", "jsonl"} }
