package google

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
)

// whole is a number that is text in BigQuery's JSON.
type whole int64

func (w *whole) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(bytes.Trim(text, `"`), (*int64)(w))
}

type resources2019 struct {
	CPUs   *float64 `parquet:"cpus,optional"`
	Memory *float64 `parquet:"memory,optional"`
}

// columns2019 are the types that BigQuery gives the columns when it exports them.
type columns2019 struct {
	Time           *whole         `parquet:"time,optional"`
	Type           *whole         `parquet:"type,optional"`
	Collection     *whole         `parquet:"collection_id,optional" json:"collection_id"`
	CollectionType *whole         `parquet:"collection_type,optional" json:"collection_type"`
	AllocSet       *whole         `parquet:"alloc_collection_id,optional" json:"alloc_collection_id"`
	Instance       *whole         `parquet:"instance_index,optional" json:"instance_index"`
	Machine        *whole         `parquet:"machine_id,optional" json:"machine_id"`
	User           *string        `parquet:"user,optional"`
	LogicalName    *string        `parquet:"collection_logical_name,optional" json:"collection_logical_name"`
	After          []whole        `parquet:"start_after_collection_ids,optional,list" json:"start_after_collection_ids"`
	Switch         *string        `parquet:"switch_id,optional" json:"switch_id"`
	Platform       *string        `parquet:"platform_id,optional" json:"platform_id"`
	Capacity       *resources2019 `parquet:"capacity,optional"`
	Start          *whole         `parquet:"start_time,optional" json:"start_time"`
	End            *whole         `parquet:"end_time,optional" json:"end_time"`
	Usage          *resources2019 `parquet:"average_usage,optional" json:"average_usage"`
}

// asParquet writes JSON lines as Parquet, except those of other tables.
func asParquet(t *testing.T, lines string) string {
	t.Helper()
	var rows []columns2019
	for line := range strings.Lines(lines) {
		if !strings.HasPrefix(line, `{"`) {
			continue
		}
		line = strings.ReplaceAll(line, `"FINISH"`, "6") // BigQuery's type is a number
		line = strings.ReplaceAll(line, `"cpu_usage_distribution":[0,0,0,0,0,0,0,0,0,0,0]`, `"type":null`)
		var row columns2019
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err, line)
		}
		rows = append(rows, row)
	}
	var buf bytes.Buffer
	if err := parquet.Write(&buf, rows); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// The tables give the same rows as Parquet and as JSON lines.
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
	for _, f := range parquet.SchemaOf(columns2019{}).Fields() {
		names = append(names, f.Name())
	}
	if m := sniff(ingest.Head{Name: "x.parquet", Bytes: []byte("PAR1"), Columns: names}); m.Confidence != 3 {
		t.Errorf("recognised as %+v", m)
	}
}

// A query has flattened the structures; names are joined with dots or underscores.
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
