package store

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash"
	"path"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
	"straggler/store/parquet"
)

// InputColumn is the last column of every file of a store: the input that each row was read from. Views hide it.
const InputColumn = "input_key"

// tableWriter writes the rows of one table. Callers fill one buffer under fillMu while a goroutine writes the previous one
// under writeMu: a single caller keeps two cores busy, and callers are at most one buffer ahead of the disk. The goroutine
// ends with its buffer; finish and drop wait for it.
type tableWriter struct {
	ctx     context.Context // when it ends, so does the writing
	fs      fileSystem
	dir     string
	prefix  string // of the names of its files
	table   *schema.Table
	columns []schema.Column // of its files

	fillMu sync.Mutex
	fill   *parquet.Buffer      // nil until the next row
	former *parquet.Buffer      // the previous one
	rows   map[schema.Key]int64 // appended, by input
	ended  bool

	spare atomic.Pointer[parquet.Buffer] // was written and may be reused

	sorts bool              // row groups are collected and written in the order of the table's Cluster
	held  []*parquet.Buffer // waiting for that, under writeMu

	writeMu sync.Mutex
	failed  error // of a buffer that was written asynchronously
	file    *dataFile
	files   int
	done    []FileRecord // Path is in dir
}

func newTableWriter(ctx context.Context, fs fileSystem, dir, prefix string, t *schema.Table) *tableWriter {
	return &tableWriter{ctx: ctx, fs: fs, dir: dir, prefix: prefix, table: t, columns: fileColumns(t), rows: make(map[schema.Key]int64)}
}

// fileColumns returns the columns of a table's files.
func fileColumns(t *schema.Table) []schema.Column {
	return append(slices.Clone(t.Columns), schema.Column{Name: InputColumn, Type: schema.BigInt})
}

// appendAll copies the rows of a batch.
func (w *tableWriter) appendAll(input schema.Key, b schema.Batch) error {
	p, stride := b.Pointer(), b.Table().Row.Size()
	for done := 0; done < b.Len(); {
		m, err := w.append(input, unsafe.Add(p, uintptr(done)*stride), stride, b.Len()-done)
		if err != nil {
			return err
		}
		done += m
	}
	return nil
}

// adopt adds a file that another program has written.
func (w *tableWriter) adopt(f FileRecord) {
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.done = append(w.done, f)
}

// adoptRows counts rows of an input in such files.
func (w *tableWriter) adoptRows(input schema.Key, n int64) {
	w.fillMu.Lock()
	defer w.fillMu.Unlock()
	w.rows[input] += n
}

// append copies as many rows as the buffer takes, returns their number, and starts writing a full buffer.
func (w *tableWriter) append(input schema.Key, p unsafe.Pointer, stride uintptr, n int) (int, error) {
	w.fillMu.Lock()
	if w.ended {
		w.fillMu.Unlock()
		return 0, errDone
	}
	b := w.buffer()
	n = b.Append(p, stride, n, input)
	w.rows[input] += int64(n)
	if !b.Full() {
		w.fillMu.Unlock()
		return n, nil
	}
	w.writeMu.Lock() // waits for the previous buffer
	if err := cmp.Or(w.failed, w.ctx.Err()); err != nil {
		w.writeMu.Unlock()
		w.fillMu.Unlock()
		return 0, err
	}
	w.fill, w.former = nil, b
	w.fillMu.Unlock()
	if w.sorts {
		defer w.writeMu.Unlock()
		if w.held = append(w.held, b); len(w.held) == sortedGroups {
			w.failed = w.writeSorted()
		}
		return n, w.failed
	}
	go func() {
		defer w.writeMu.Unlock()
		w.failed = w.write(b)
		b.Reset()
		w.spare.Store(b)
	}()
	return n, nil
}

// sortedGroups is the number of row groups of a compaction that are sorted together. A query for one phase, on a table that is
// read by phase, then reads one of them. An attempt of a Spark log takes about 300 bytes, so they take about 300 MB.
const sortedGroups = 8

// writeSorted writes the waiting row groups.
func (w *tableWriter) writeSorted() error {
	by := slices.IndexFunc(w.columns, func(c schema.Column) bool { return c.Name == w.table.Cluster })
	err := parquet.Sort(w.held, by, parquet.NewBuffer(w.columns), w.write)
	w.held = nil
	return err
}

// buffer returns the one to fill. A second one is created only if rows are appended while the first is being written.
func (w *tableWriter) buffer() *parquet.Buffer {
	if w.fill != nil {
		return w.fill
	}
	if w.fill = w.spare.Swap(nil); w.fill == nil {
		w.fill = parquet.NewBuffer(w.columns)
	}
	if w.former != nil {
		w.fill.Follow(w.former)
	}
	return w.fill
}

// errBroken is returned when writing rows has panicked in the writing goroutine.
var errBroken = errors.New("the writer panicked, which is a bug in straggler; please report it")

// write appends a buffer to the file as a row group.
func (w *tableWriter) write(b *parquet.Buffer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store: %s: %w: %v\n%s", w.table.Name, errBroken, p, debug.Stack())
		}
	}()
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.file == nil {
		if err := w.create(); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if err := w.file.rows.WriteRowGroup(b); err != nil {
		return fmt.Errorf("store: writing %s: %w", w.file.name, err)
	}
	if w.file.rows.Groups() == fileGroups {
		return w.closeFile()
	}
	return nil
}

// fileGroups is the number of row groups in a file before the next one is begun; it bounds the size of a footer.
const fileGroups = 64

// create begins a file in staging.
func (w *tableWriter) create() error {
	name := fmt.Sprintf("%s%s-%d.parquet", w.prefix, w.table.Name, w.files)
	f, err := w.fs.Create(path.Join(w.dir, name))
	if err != nil {
		return err
	}
	w.files++
	d := &dataFile{name: name, out: newChecksumWriter(f)}
	if d.rows, err = parquet.NewWriter(d.out, w.columns, w.table.Cluster); err != nil {
		f.Close()
		return err
	}
	w.file = d
	return nil
}

// closeFile ends the file, if there is one.
func (w *tableWriter) closeFile() error {
	d := w.file
	if d == nil {
		return nil
	}
	w.file = nil
	err := d.rows.Close()
	if cerr := d.out.close(err == nil); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("store: writing %s: %w", d.name, err)
	}
	w.done = append(w.done, FileRecord{Path: d.name, Bytes: d.rows.Bytes(), Rows: d.rows.Rows(), Checksum: d.out.checksum()})
	return nil
}

// finish writes what is still in memory.
func (w *tableWriter) finish() error {
	w.fillMu.Lock()
	defer w.fillMu.Unlock()
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.ended = true
	if w.failed != nil {
		return w.failed
	}
	switch {
	case w.fill == nil || w.fill.Rows() == 0:
	case w.sorts:
		w.held = append(w.held, w.fill)
	default:
		if err := w.write(w.fill); err != nil {
			return err
		}
	}
	if len(w.held) > 0 {
		if err := w.writeSorted(); err != nil {
			return err
		}
	}
	return w.closeFile()
}

// drop stops writing and discards the file.
func (w *tableWriter) drop() {
	w.fillMu.Lock()
	defer w.fillMu.Unlock()
	w.writeMu.Lock()
	defer w.writeMu.Unlock()
	w.ended = true
	if w.file != nil {
		w.file.out.close(false)
		w.file = nil
	}
}

// dataFile is a Parquet file that is being written.
type dataFile struct {
	name string
	rows *parquet.Writer
	out  *checksumWriter
}

// checksumWriter writes a file of the store and computes its checksum.
type checksumWriter struct {
	to  file
	buf *bufio.Writer
	sum hash.Hash64
}

func newChecksumWriter(to file) *checksumWriter {
	return &checksumWriter{to, bufio.NewWriterSize(to, 64<<10), xxhash.New()}
}

func (w *checksumWriter) Write(p []byte) (int, error) {
	n, err := w.buf.Write(p)
	w.sum.Write(p[:n])
	return n, err
}

func (w *checksumWriter) checksum() string { return checksumText(w.sum.Sum64()) }

// close closes the file; a complete one is flushed and synced first.
func (w *checksumWriter) close(whole bool) error {
	var err error
	if whole {
		if err = w.buf.Flush(); err == nil {
			err = w.to.Sync()
		}
	}
	if cerr := w.to.Close(); err == nil {
		err = cerr
	}
	return err
}
