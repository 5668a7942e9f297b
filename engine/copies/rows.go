package copies

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// RowsStep is the step of copies that write their input rows unchanged. It is followed by = and the table.
const RowsStep = "rows"

// Rows are the rows of a table selected by a query, with phase_id among its columns; rows of a phase stay together.
type Rows struct {
	Table      *schema.Table
	SQL        string
	Order      string // columns, of which phase_id is the first
	Partitions int    // about as many files
	Tool       string // version of straggler
	// that the rows follow from, by the first key of each block of phases; none for those that are missing
	Inputs map[schema.Key]schema.Key
}

// rowsFile is the job's File of copies that write rows.
type rowsFile struct{ Inputs map[schema.Key]schema.Key }

// Write has copies write rows into the transaction.
func (r *Rows) Write(ctx context.Context, tx *store.Tx, eng engine.RemoteRunner) error {
	file, err := json.Marshal(rowsFile{Inputs: r.Inputs})
	if err != nil {
		return err
	}
	var columns, names []string
	for _, c := range rowColumns(r.Table) {
		names = append(names, c.Name)
		switch c.Type {
		case schema.String:
			columns = append(columns, engine.RemoteText(c.Name)+" AS "+c.Name)
		case schema.Timestamp:
			columns = append(columns, "unix_micros("+c.Name+") AS "+c.Name)
		default:
			columns = append(columns, c.Name)
		}
	}
	return Run(ctx, tx, eng, engine.RemoteJob{
		SQL: "SELECT " + strings.Join(columns, ", ") + " FROM (" + r.SQL + ") AS found", Columns: names, Order: r.Order, Partitions: r.Partitions,
		Verb: []string{"copy", RowsStep + "=" + r.Table.Name, "--version", r.Tool}, File: file,
	}, nil)
}

// rowColumns returns the columns of a table in the order in which copies read them; the first one keeps the rows of a phase
// together.
func rowColumns(t *schema.Table) []schema.Column {
	out := []schema.Column{*t.Column("phase_id")}
	for _, c := range t.Columns {
		if c.Name != "phase_id" {
			out = append(out, c)
		}
	}
	return out
}

// WriteRows is the side of a copy: it writes its input rows into a piece.
func WriteRows(ctx context.Context, a Assignment) error {
	w := NewWriter(ctx, a.Pieces)
	return w.Close(a.Out, w.writeRows(ctx, a))
}

func (w *Writer) writeRows(ctx context.Context, a Assignment) error {
	t := schema.ByName(strings.TrimPrefix(a.Step, RowsStep+"="))
	if t == nil || t.Column("phase_id") == nil {
		return fmt.Errorf("a copy has no step %q", a.Step)
	}
	data, err := ReadFile(ctx, a.File)
	if err != nil {
		return err
	}
	var know rowsFile
	if err := json.Unmarshal(data, &know); err != nil {
		return fmt.Errorf("%s: %w", a.File, err)
	}
	columns := rowColumns(t)
	fieldOf := make([]int, len(columns)) // of the row's struct
	for i, c := range columns {
		fieldOf[i] = slices.IndexFunc(t.Columns, func(x schema.Column) bool { return x.Name == c.Name })
	}
	const batch = 1024
	rows, n := reflect.MakeSlice(reflect.SliceOf(t.Row), batch, batch), 0
	first, input := schema.Key(0), schema.Key(0)
	flush := func() error {
		if n == 0 {
			return nil
		}
		err := cmp.Or(ctx.Err(), w.piece.Append(input, t.Batch(rows.Slice(0, n))))
		n = 0
		rows.Clear()
		return err
	}
	err = engine.ReadRemoteRows(a.In, len(columns), func(fields []engine.RemoteField) error {
		key, err := fields[0].Int()
		if err == nil {
			err = w.at(key)
		}
		if err != nil {
			return err
		}
		if block := key &^ (schema.BlockKeys - 1); n == 0 || block != first || n == batch {
			if err := flush(); err != nil {
				return err
			}
			first, input = block, know.Inputs[block]
		}
		for i := range columns {
			if err := set(rows.Index(n).Field(fieldOf[i]), &columns[i], fields[i]); err != nil {
				return fmt.Errorf("column %s: %w", columns[i].Name, err)
			}
		}
		n++
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// set puts a value into the field of a row.
func set(to reflect.Value, c *schema.Column, f engine.RemoteField) error {
	if c.Nullable {
		to.Field(1).SetBool(f.OK)
		if !f.OK {
			return nil
		}
		to = to.Field(0)
	}
	switch c.Type {
	case schema.Bool:
		v, err := f.Bool()
		to.SetBool(v)
		return err
	case schema.Int, schema.BigInt, schema.Timestamp:
		v, err := f.Int()
		if err == nil && to.OverflowInt(v) {
			err = strconv.ErrRange
		}
		to.SetInt(v)
		return err
	case schema.Double:
		v, err := f.Float()
		to.SetFloat(v)
		return err
	case schema.String:
		v, err := f.TextOf()
		to.SetString(v)
		return err
	}
	return fmt.Errorf("values of type %s are not sent to copies", c.Type)
}
