package parquet

import (
	"bytes"
	"io"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"

	"straggler/cputime"
	"straggler/schema"
	"straggler/store/parquet/benchrows"
)

// BenchmarkRowGroup writes row groups and reports the processor time.
func BenchmarkRowGroup(b *testing.B) {
	b.Run("spark", func(b *testing.B) { benchmarkRowGroup(b, benchrows.Spark(RowGroupRows)) })
	b.Run("csv", func(b *testing.B) { benchmarkRowGroup(b, benchrows.CSV(RowGroupRows)) })
}

func benchmarkRowGroup(b *testing.B, rows []schema.Attempt) {
	buffer := bufferOf(rows, false)
	w, err := NewWriter(io.Discard, columnsOf[schema.Attempt](), "phase_id")
	if err != nil {
		b.Fatal(err)
	}
	order := cluster(buffer.columns[w.cluster].i64, &w.order)
	var used time.Duration
	for b.Loop() {
		start := cputime.Used()
		if err := w.writeRowGroup(buffer, order); err != nil {
			b.Fatal(err)
		}
		used += cputime.Used() - start
	}
	b.ReportMetric(float64(used)/float64(b.N*len(rows)), "cpu-ns/row")
}

// BenchmarkAppend copies rows into a buffer, some thousand at a time as formats emit them, and reports the processor time.
func BenchmarkAppend(b *testing.B) {
	b.Run("spark", func(b *testing.B) { benchmarkAppend(b, benchrows.Spark(1000)) })
	b.Run("csv", func(b *testing.B) { benchmarkAppend(b, benchrows.CSV(1000)) })
}

func benchmarkAppend(b *testing.B, rows []schema.Attempt) {
	buffer := NewBuffer(columnsOf[schema.Attempt]())
	var used time.Duration
	appended := 0
	for b.Loop() {
		start := cputime.Used()
		for buffer.Reset(); !buffer.Full(); {
			for at := 0; at < len(rows) && !buffer.Full(); {
				at += buffer.Append(unsafe.Pointer(&rows[at]), unsafe.Sizeof(rows[0]), len(rows)-at, 1)
			}
		}
		used += cputime.Used() - start
		appended += buffer.Rows()
	}
	b.ReportMetric(float64(used)/float64(appended), "cpu-ns/row")
}

// TestSameAsParquetGo: parquet-go writes the same rows into a file with the same statistics.
func TestSameAsParquetGo(t *testing.T) {
	rows := benchrows.Spark(3000)
	for i := range rows {
		if i%3 == 0 {
			rows[i].Machine, rows[i].InputBytes = schema.Null[string]{}, schema.Null[int64]{}
		}
	}
	data := fileOf(t, rows, nil, false)
	ours := opened(t, data)
	group := pq.Group{}
	for _, c := range ours.Root().Columns() {
		group[c.Name()] = pq.Encoded(pq.Leaf(c.Type()), &pq.Plain)
		if c.Optional() {
			group[c.Name()] = pq.Optional(group[c.Name()])
		}
	}
	levels := make([]pq.Row, len(rows))
	for i, f := range group.Fields() {
		for n, v := range readColumn(t, ours, f.Name()) {
			definition := 0
			if f.Optional() && v != nil {
				definition = 1
			}
			levels[n] = append(levels[n], pq.ValueOf(v).Level(0, definition, i))
		}
	}
	var to bytes.Buffer
	w := pq.NewWriter(&to, pq.NewSchema("schema", group))
	if _, err := w.WriteRows(levels); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	theirs := opened(t, to.Bytes())
	compared := 0
	for _, c := range columnsIn(t, to.Bytes()) {
		name := c.Path[0]
		if d := cmp.Diff(readColumn(t, theirs, name), readColumn(t, ours, name)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if c.Statistics.Min == nil || name == keyColumn {
			continue
		}
		compared++
		if d := cmp.Diff(statisticsOf(t, to.Bytes(), name), statisticsOf(t, data, name)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	if compared < 20 {
		t.Errorf("%d columns have statistics of parquet-go's", compared)
	}
}
