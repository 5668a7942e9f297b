package google

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read/parquet"
	"straggler/schema"
)

// BigQuery also exports the tables of 2019 as Parquet, with the columns of the JSON: whole numbers as such, resources as
// structures. CSV needs a query that flattens these, and names the columns average_usage.cpus or average_usage_cpus.

// set stores the value of a column, and ignores columns that are not used.
func (v *record2019) set(column, text string) {
	if text == "" || text == "null" || text == "NULL" {
		return
	}
	for _, n := range []struct {
		column string
		dst    *number
	}{
		{"time", &v.Time}, {"type", &v.Type}, {"collection_id", &v.CollectionID}, {"collection_type", &v.CollectionType}, {"alloc_collection_id", &v.AllocSet},
		{"instance_index", &v.InstanceIndex}, {"machine_id", &v.MachineID}, {"start_time", &v.StartTime}, {"end_time", &v.EndTime},
	} {
		if n.column == column {
			i, err := strconv.ParseInt(text, 10, 64)
			*n.dst = number{i, text, err == nil}
			return
		}
	}
	switch column {
	case "user":
		v.User = text
	case "collection_logical_name":
		v.LogicalName = text
	case "switch_id":
		v.SwitchID = text
	case "platform_id":
		v.PlatformID = text
	case "capacity_cpus", "average_usage_cpus":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			v.Capacity.CPUs, v.AverageUsage.CPUs = &f, &f // a table has only one of them
		}
	case "start_after_collection_ids":
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
			if id, err := strconv.ParseInt(word, 10, 64); err == nil && len(v.StartAfter) < 1000 {
				v.StartAfter = append(v.StartAfter, number{id, word, true})
			}
		}
	}
}

// parquet reads a Parquet file of one of the tables.
func (r *reader) parquet(ctx context.Context, t *table, p ingest.Part) error {
	var b block
	d := decoder{out: &b}
	row := int64(0)
	return parquet.EachBatch(ctx, p, func(rows *parquet.Batch) error {
		b.reset()
		for i := range rows.Rows {
			var v record2019
			for c, name := range rows.Columns {
				v.setValue(plainColumn(name), rows.Value(i, c))
			}
			if row++; d.record(t, &v) {
				b.decoded++
				continue
			}
			b.rejects = append(b.rejects,
				schema.Reject{SourceFile: p.Name, Reason: "row " + strconv.FormatInt(row, 10) +
					" does not fit a table of the trace; see 'straggler formats google'"})
		}
		return r.fold(&b)
	})
}

// setValue stores a value from a Parquet file, and of a list its items: some writers wrap each in a structure of one field.
func (v *record2019) setValue(column string, value parquet.Value) {
	switch value.Kind {
	case parquet.Struct:
		for i, name := range value.Fields() {
			v.setValue(column+"_"+plainColumn(name), value.Items()[i])
		}
	case parquet.List:
		for _, item := range value.Items() {
			if item.Kind == parquet.Struct && len(item.Items()) == 1 {
				item = item.Items()[0]
			}
			v.setValue(column, item)
		}
	case parquet.Int, parquet.Text, parquet.Float, parquet.Float32:
		v.set(column, value.String())
	}
}

// header2019 returns the columns of a flattened CSV file, or nil if line is not its header.
func header2019(line []byte) (columns []string) {
	for _, name := range bytes.Split(line, []byte(",")) {
		columns = append(columns, plainColumn(string(name)))
	}
	if !ofColumns(columns) {
		return nil
	}
	return columns
}

// ofColumns reports whether columns are those of a table of 2019.
func ofColumns(columns []string) bool {
	has := map[string]bool{}
	for _, c := range columns {
		has[plainColumn(c)] = true
	}
	events := has["time"] && has["type"]
	return events && has["collection_id"] || events && has["machine_id"] && (has["switch_id"] || has["platform_id"]) ||
		has["start_time"] && has["end_time"] && has["collection_id"] && has["machine_id"]
}

func plainColumn(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Trim(name, " \"`")), ".", "_")
}

// flat decodes a row of a flattened CSV file.
func (d *decoder) flat(t *table, columns []string, fields [][]byte) bool {
	if len(fields) != len(columns) {
		return false
	}
	var v record2019
	for i, f := range fields {
		v.set(columns[i], string(bytes.Trim(f, ` "`)))
	}
	return d.record(t, &v)
}
