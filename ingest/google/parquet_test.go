package google

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
)

// columns2019 are the types that BigQuery gives the columns when it exports them.
var columns2019 = func() *arrow.Schema {
	whole, text := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	resources := arrow.StructOf(arrow.Field{Name: "cpus", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, arrow.Field{Name: "memory", Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	var fields []arrow.Field
	for _, f := range []arrow.Field{
		{Name: "time", Type: whole}, {Name: "type", Type: whole}, {Name: "collection_id", Type: whole}, {Name: "collection_type", Type: whole},
		{Name: "instance_index", Type: whole}, {Name: "machine_id", Type: whole}, {Name: "user", Type: text}, {Name: "collection_logical_name", Type: text},
		{Name: "start_after_collection_ids", Type: arrow.ListOf(whole)}, {Name: "switch_id", Type: text}, {Name: "platform_id", Type: text},
		{Name: "capacity", Type: resources}, {Name: "start_time", Type: whole}, {Name: "end_time", Type: whole}, {Name: "average_usage", Type: resources},
	} {
		f.Nullable = true
		fields = append(fields, f)
	}
	return arrow.NewSchema(fields, nil)
}()

// asParquet writes JSON lines as Parquet, the lines that are none of the table left out.
func asParquet(t *testing.T, lines string) string {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, columns2019)
	for line := range strings.Lines(lines) {
		if !strings.HasPrefix(line, `{"`) {
			continue
		}
		line = strings.ReplaceAll(line, `"FINISH"`, "6") // BigQuery's type is a number
		line = strings.ReplaceAll(line, `"cpu_usage_distribution":[0,0,0,0,0,0,0,0,0,0,0]`, `"type":null`)
		if err := b.UnmarshalJSON([]byte(line)); err != nil {
			t.Fatal(err, line)
		}
	}
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(columns2019, &buf, nil, pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(b.NewRecordBatch())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// The tables as Parquet give the rows that they give as JSON lines.
func TestParquetEqualsJSON(t *testing.T) {
	lines, files := map[string]string{}, map[string]string{}
	for name, text := range trace2019 {
		var good []string
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, `{"`) && strings.HasSuffix(line, "}\n") && !strings.Contains(line, "WHAT") {
				good = append(good, line)
			}
		}
		lines[name] = strings.Join(good, "")
		files[strings.TrimSuffix(name, ".json")+".parquet"] = asParquet(t, lines[name])
	}
	want := ingesttest.Read(t, Format(), ingesttest.Directory("trace", lines), ingest.Limits{})
	in := &ingest.Input{Name: "trace", Base: "trace", Key: 7}
	for _, name := range []string{"collection_events", "instance_events", "machine_events", "instance_usage"} {
		data := files[name+"-000000000000.parquet"]
		in.Parts = append(in.Parts, ingesttest.Input(name+"-000000000000.parquet", []byte(data)).Parts[0])
	}
	got := ingesttest.Read(t, Format(), in, ingest.Limits{})
	if got.Err != nil || len(got.Attempts) == 0 || len(got.Machines) == 0 || len(got.MachineUsage) == 0 || len(got.Settings) == 0 {
		t.Fatalf("error %v, rows %v, rejects %v", got.Err, got.Counts.Rows, got.Trace.Rejects)
	}
	want.Trace.Rejects, got.Trace.Rejects = nil, nil
	if d := cmp.Diff(want.Trace, got.Trace); d != "" {
		t.Error(d)
	}
	var names []string
	for _, f := range columns2019.Fields() {
		names = append(names, f.Name)
	}
	if m := sniff(ingest.Head{Name: "x.parquet", Bytes: []byte("PAR1"), Columns: names}); m.Confidence != 3 {
		t.Errorf("recognised as %+v", m)
	}
}

// A query has taken the structures apart; names are told with dots or underscores.
func TestFlattenedCSV(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{
		"a.csv": "time,type,collection_id,instance_index,machine_id\n1000000,3,20,0,77\n5000000,FINISH,20,0,77\nshort,row\n",
		"b.csv": "time,machine_id,type,switch_id,platform_id,capacity_cpus\n0,77,1,sw,p,0.5\n",
		"c.csv": "start_time,end_time,collection_id,instance_index,machine_id,average_usage.cpus\n300000000,600000000,20,0,77,0.125\n",
	}), ingest.Limits{})
	if r.Err != nil || r.Counts.Rejects != 1 || r.Decoded != 7 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	if d := cmp.Diff([]string{"20/0/0 on 77 success  {4 true} rack sw"}, attempts(&r.Trace)); d != "" {
		t.Error(d)
	}
	if u := r.MachineUsage; len(u) != 1 || u[0].CPU.V != 0.25 {
		t.Errorf("usage %+v", u)
	}
}
