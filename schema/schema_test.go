package schema

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestTablesAreDeclaredSoundly checks the declarations against the conventions that every reader relies on.
func TestTablesAreDeclaredSoundly(t *testing.T) {
	names := map[string]bool{}
	for _, table := range Tables() {
		if names[table.Name] || table.Doc == "" {
			t.Errorf("%s: declared twice or without a doc", table.Name)
		}
		names[table.Name] = true
		if table.Row.NumField() != len(table.Columns) {
			t.Errorf("%s: %d fields, %d columns: a field without a col tag", table.Name, table.Row.NumField(), len(table.Columns))
		}
		if table.Cluster != "" && table.Column(table.Cluster) == nil {
			t.Errorf("%s: clustered by unknown column %q", table.Name, table.Cluster)
		}
		columns := map[string]bool{}
		for i, c := range table.Columns {
			at := table.Name + "." + c.Name
			if columns[c.Name] {
				t.Errorf("%s: twice", at)
			}
			columns[c.Name] = true
			if c.Doc == "" {
				t.Errorf("%s: no doc", at)
			}
			if c.Key == "primary" && (i != 0 || c.Nullable) {
				t.Errorf("%s: a primary key is the first column and never NULL", at)
			}
			if c.Key != "" && c.Key != "primary" && (ByName(c.Key) == nil || ByName(c.Key).Columns[0].Key != "primary") {
				t.Errorf("%s: refers to %q, which has no primary key", at, c.Key)
			}
			for _, u := range []struct{ suffix, unit string }{{"_s", "s"}, {"_bytes", "bytes"}} {
				if strings.HasSuffix(c.Name, u.suffix) && c.Unit != u.unit {
					t.Errorf("%s: unit %q, want %q", at, c.Unit, u.unit)
				}
			}
			if strings.HasSuffix(c.Name, "_time") != (c.Type == Timestamp) && c.Name != "time" && !strings.HasPrefix(c.Name, "window_") {
				t.Errorf("%s: is %s; instants and only they end in _time", at, c.Type)
			}
			if c.Offset() != table.Row.Field(i).Offset {
				t.Errorf("%s: offset %d, want %d", at, c.Offset(), table.Row.Field(i).Offset)
			}
		}
	}
}

func TestTableOf(t *testing.T) {
	if got := TableOf[Attempt]().Name; got != "attempts" {
		t.Errorf("TableOf[Attempt] = %s", got)
	}
	if ByName("nosuch") != nil || TableOf[Attempt]().Column("nosuch") != nil {
		t.Error("found what is not there")
	}
	defer func() {
		if recover() == nil {
			t.Error("TableOf of a type that is no row must panic")
		}
	}()
	TableOf[struct{ X int64 }]()
}

func TestColumnsReadsAnyStruct(t *testing.T) {
	type row struct {
		A     Null[Time]    `col:"a"`
		Skip  int           // has no tag
		B     int32         `col:"b" unit:"x" doc:"y"`
		Word  Null[Verdict] `col:"word"`
		Plain bool          `col:"plain"`
	}
	got := Columns(reflect.TypeFor[row]())
	want := []Column{
		{Name: "a", Type: Timestamp, Nullable: true},
		{Name: "b", Type: Int, Unit: "x", Doc: "y"},
		{Name: "word", Type: String, Nullable: true, Values: []string{"healthy", "slow", "flaky", "unknown"}},
		{Name: "plain", Type: Bool},
	}
	for i := range got {
		got[i].offset = 0
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// sample returns a trace with one row in each table, whose first column is set.
func sample() *Trace {
	t := &Trace{}
	for i, table := range traceTables {
		rows := reflect.MakeSlice(reflect.SliceOf(table.Row), 1, 1)
		first := rows.Index(0).Field(0)
		if table.Columns[0].Nullable {
			first.Field(1).SetBool(true)
			first = first.Field(0)
		}
		if first.CanInt() {
			first.SetInt(int64(i) + 1)
		} else {
			first.SetString(table.Name)
		}
		t.rows(i).Set(rows)
	}
	return t
}

// A trace's methods work on all of its tables, and change the caller's rows only where these are shared.
func TestTraceHoldsEveryTable(t *testing.T) {
	var trace Trace
	trace.Append(sample())
	if !reflect.DeepEqual(&trace, sample()) {
		t.Error("Append: not the rows that were there")
	}
	var names []string
	for b := range trace.Batches() {
		names = append(names, b.Table().Name)
		clone := b.Clone()
		reflect.NewAt(b.Table().Row, b.Pointer()).Elem().SetZero()
		if reflect.NewAt(b.Table().Row, clone.Pointer()).Elem().IsZero() || clone.Len() != b.Len() {
			t.Errorf("%s: a clone shares its rows", b.Table().Name)
		}
	}
	var want []string
	for f := range reflect.TypeFor[Trace]().Fields() {
		want = append(want, f.Tag.Get("table"))
	}
	if !slices.Equal(names, want) {
		t.Errorf("Batches gives %v, want %v", names, want)
	}
	trace.Reset()
	for b := range trace.Batches() {
		t.Errorf("%s has %d rows after Reset", b.Table().Name, b.Len())
	}
	if cap(trace.Attempts) == 0 {
		t.Error("Reset gave the memory away")
	}
}

func TestBatch(t *testing.T) {
	b := BatchOf(sample().Jobs)
	if jobs, ok := RowsOf[Job](b); !ok || len(jobs) != 1 || b.Table() != TableOf[Job]() || *(*Job)(b.Pointer()) != jobs[0] {
		t.Errorf("%v rows of %s", b.Len(), b.Table().Name)
	}
	if _, ok := RowsOf[Phase](b); ok {
		t.Error("jobs are phases")
	}
	if b := BatchOf([]Outlier{{}}); b.AddTo(&Trace{}) {
		t.Error("a trace took a row of a result table")
	}
	if one, two := BatchOf(make([]Job, 1)).Size(), BatchOf(make([]Job, 2)).Size(); one < int64(reflect.TypeFor[Job]().Size()) || two != 2*one {
		t.Errorf("one job has %d bytes, two have %d", one, two)
	}
}

func TestKeys(t *testing.T) {
	input := InputKey("app-1", []byte("log"))
	allocated, direct := NewKeys(input, "attempts"), NewKeys(input, "attempts")
	for n := range int64(1000) {
		if k := allocated.Next(); k != direct.Nth(n) || k != direct.Nth(0)+n {
			t.Fatalf("key %d is %d; keys of a block are consecutive from %d", n, k, direct.Nth(0))
		}
	}
	const block = 1 << blockBits
	for _, n := range []int64{0, block - 1, block, 5*block + 3} {
		if k := direct.Nth(n); k <= 0 || k%block != n%block {
			t.Errorf("key %d is %d", n, k)
		}
	}
	if direct.Nth(block) == direct.Nth(0)+block {
		t.Error("the next block is next to the first: blocks are not scattered")
	}
	if NewKeys(input, "attempts").Nth(0) == NewKeys(input, "phases").Nth(0) || NewKeys(input, "attempts").Nth(0) == NewKeys(input+1, "attempts").Nth(0) {
		t.Error("two tables or inputs share a block")
	}
}

// TestKeysDoNotCollide allocates a block each for many inputs and tables: by the birthday bound n²/2^44 the 60 000 blocks
// here collide with probability 2e-4 for hashes drawn at random; these are fixed, so the test does not flicker.
func TestKeysDoNotCollide(t *testing.T) {
	seen := map[Key]int{}
	for i := range 20_000 {
		input := InputKey("app-"+strings.Repeat("x", i%7), []byte{byte(i), byte(i >> 8)})
		for _, table := range []string{"applications", "phases", "attempts"} {
			block := NewKeys(input, table).Nth(0) >> blockBits
			if before, ok := seen[block]; ok && before != i {
				t.Fatalf("inputs %d and %d share block %d", before, i, block)
			}
			seen[block] = i
		}
	}
}

func TestInputKey(t *testing.T) {
	head := make([]byte, 64<<10)
	grown := append(head[:len(head):len(head)], "more"...)
	if InputKey("a", head) != InputKey("a", grown) {
		t.Error("a log that has grown has another key")
	}
	if InputKey("a", head) == InputKey("b", head) || InputKey("a", head) == InputKey("a", head[1:]) {
		t.Error("different inputs share a key")
	}
	if InputKey("ab", nil) == InputKey("a", []byte("b")) {
		t.Error("name and content run together")
	}
	if InputKey("", nil) <= 0 {
		t.Error("negative key")
	}
}

func TestNull(t *testing.T) {
	if (Null[int64]{}).Or(7) != 7 || Some[int64](0).Or(7) != 0 {
		t.Error("Or: unknown gives the default, a known zero is a value")
	}
}

func TestTime(t *testing.T) {
	const u = Time(1_700_000_000_000_000)
	for _, c := range []struct {
		s    float64
		want Time
	}{{0, u}, {1.5, u + 1_500_000}, {0.0000004, u}, {0.0000006, u + 1}, {-0.0000006, u - 1}, {-2, u - 2_000_000}} {
		if got := u.Add(c.s); got != c.want {
			t.Errorf("Add(%v) = %d, want %d", c.s, got, c.want)
		}
	}
	if got := (u + 1).Sub(u); got != 1e-6 {
		t.Errorf("Sub = %v", got)
	}
	if got := FromMillis(1_700_000_000_000); got != u {
		t.Errorf("FromMillis = %d", got)
	}
	if got := u.Add(math.Pi).Sub(u); math.Abs(got-math.Pi) > 0.5e-6 {
		t.Errorf("Add then Sub is off by %v", got-math.Pi)
	}
}

func TestWordsAreDistinct(t *testing.T) {
	for _, table := range Tables() {
		for _, c := range table.Columns {
			seen := map[string]bool{}
			for _, w := range c.Values {
				if w == "" || seen[w] || strings.ToLower(w) != w {
					t.Errorf("%s.%s: word %q", table.Name, c.Name, w)
				}
				seen[w] = true
			}
		}
	}
}

func TestWriteText(t *testing.T) {
	var text strings.Builder
	if err := WriteText(&text, []*Table{ByName("edges"), ByName("progress")}); err != nil {
		t.Fatal(err)
	}
	const want = `edges: dependencies between phases
  job_id      BIGINT   not null  the job that both phases belong to; references jobs
  from_phase  BIGINT   not null  the phase that writes the output; references phases
  to_phase    BIGINT   not null  the phase that reads it; references phases
  pattern     STRING   not null  which outputs feed which tasks; one of all_to_all, one_to_one, many_to_one, unknown
  barrier     BOOLEAN  not null  to_phase starts only after from_phase has ended

progress: samples of the progress of attempts
  attempt_id  BIGINT     not null  the attempt; references attempts
  time        TIMESTAMP  not null  time of the sample
  progress    DOUBLE     not null  progress, 0 to 1 [fraction]
  bytes_read  BIGINT               input bytes read so far [bytes]
  source      STRING     not null  where the number comes from; one of reported, bucketed, synthetic
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}
