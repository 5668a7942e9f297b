package table

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
	"straggler/store/parquet"
)

const evil = "a|b\x1b[31m\u202Egnp\u009b\"c\",<script>\r\n`x`\\ \U000E0041"

func sample() *Fixed {
	f := NewFixed("name", "bytes BIGINT", "ratio DOUBLE", "ok BOOLEAN", "small INTEGER", "at TIMESTAMP")
	f.Add("plain", int64(9007199254740993), 1.5, true, int32(-7), schema.Time(1_795_231_839_830_500))
	f.Add("", int64(0), math.NaN(), false, int32(0), schema.Time(0))
	f.Add(nil, nil, nil, nil, nil, nil)
	f.Add(evil, int64(-1), math.Inf(-1), true, int32(1), schema.Time(-1))
	return f
}

func encode(t *testing.T, name string, rows Rows, o Options) string {
	t.Helper()
	e, ok := Named(name)
	if !ok {
		t.Fatalf("no encoding %q", name)
	}
	var b bytes.Buffer
	if _, err := e.Write(&b, rows, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	f := NewFixed("cause", "seconds DOUBLE", "n BIGINT")
	f.Add("data_skew", 1234.56789, int64(12))
	f.Add("日本", 0.000012345, int64(3))
	f.Add(nil, 12345678.9, nil)
	want := `cause         seconds     n
─────────  ──────────  ────
data_skew     1234.57    12
日本       1.2345e-05     3
NULL         12345679  NULL
`
	if got := encode(t, "table", f, Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextFits(t *testing.T) {
	f := NewFixed("a", "b")
	f.Add(strings.Repeat("x", 100), "short")
	f.Add("y", strings.Repeat("日", 40))
	for _, line := range strings.Split(strings.TrimSpace(encode(t, "table", f, Options{MaxWidth: 40})), "\n") {
		if n := len([]rune(line)); n > 40 {
			t.Errorf("a line of %d characters where 40 fit: %s", n, line)
		}
	}
	f = NewFixed("n BIGINT")
	for i := range 2000 {
		f.Add(int64(i))
	}
	if got := encode(t, "table", f, Options{MaxRows: 5}); !strings.Contains(got, "… 1995 more") || strings.Count(got, "\n") != 8 {
		t.Errorf("five of 2000 rows are\n%s", got)
	}
}

// Nothing that a log holds may command a terminal, whatever the encoding.
// A value is shown to some length: the whole of a long one would be padded into each row. Other encodings have all of it.
func TestLongValue(t *testing.T) {
	long := strings.Repeat("x", 5000)
	rows := func() Rows {
		f := NewFixed("a", strings.Repeat("n", 5000))
		f.Add(long, "b")
		f.Add("short", strings.Repeat("é", 1000))
		return f
	}
	got := encode(t, "table", rows(), Options{})
	for line := range strings.Lines(got) {
		if n := len([]rune(line)); n > 2*maxCell+len(gap)+1 {
			t.Errorf("a line of %d characters", n)
		}
	}
	if !strings.Contains(got, strings.Repeat("x", maxCell-1)+"… ") || !strings.Contains(got, strings.Repeat("é", 1000)) {
		t.Errorf("%.3000s", got)
	}
	if !strings.Contains(encode(t, "csv", rows(), Options{}), long) {
		t.Error("csv lacks a part of the value")
	}
}

func TestTerminalIsSafe(t *testing.T) {
	for _, e := range Encodings() {
		if e.Binary {
			continue
		}
		got := encode(t, e.Name, sample(), Options{Terminal: true})
		for _, bad := range []string{"\x1b", "\u202E", "\u009b", "\r", "\U000E0041"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s lets %q through", e.Name, bad)
			}
		}
	}
}

func TestCSVReadsBack(t *testing.T) {
	got := encode(t, "csv", sample(), Options{})
	records, err := csv.NewReader(strings.NewReader(got)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 5 || strings.Join(records[0], " ") != "name bytes ratio ok small at" {
		t.Fatalf("records %q", records)
	}
	if want := "plain 9007199254740993 1.5 true -7 2026-11-21T03:30:39.8305Z"; strings.Join(records[1], " ") != want {
		t.Errorf("got %q, want %q", records[1], want)
	}
	if want := strings.ReplaceAll(evil, "\r\n", "\n"); records[4][0] != want { // the reader's doing, not the writer's
		t.Errorf("got %q, want %q", records[4][0], want)
	}
	lines := strings.Split(got, "\n")
	if !strings.HasPrefix(lines[2], `"",0,`) || lines[3] != ",,,,," {
		t.Errorf("empty text and NULL look alike: %q, %q", lines[2], lines[3])
	}
}

func TestJSONReadsBack(t *testing.T) {
	d := json.NewDecoder(strings.NewReader(encode(t, "json", sample(), Options{})))
	d.UseNumber()
	var got []map[string]any
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || fmt.Sprint(got[0]["bytes"]) != "9007199254740993" || got[1]["ratio"] != nil || got[2]["name"] != nil || got[3]["name"] != evil {
		t.Errorf("got %v", got)
	}
	twice := NewFixed("x", "x", "x_2")
	twice.Add("1", "2", "3")
	var rows []map[string]string
	if err := json.Unmarshal([]byte(encode(t, "json", twice, Options{})), &rows); err != nil || len(rows[0]) != 3 {
		t.Errorf("columns of one name: %v, %v", rows, err)
	}
	var none []any
	if err := json.Unmarshal([]byte(encode(t, "json", NewFixed("x"), Options{})), &none); err != nil || len(none) != 0 {
		t.Errorf("no rows: %v, %v", none, err)
	}
}

func TestJSONLinesReadBack(t *testing.T) {
	lines := strings.SplitAfter(encode(t, "jsonl", sample(), Options{}), "\n")
	if len(lines) != 5 || lines[4] != "" {
		t.Fatalf("lines %q", lines)
	}
	for i, line := range lines[:4] {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil || len(got) != 6 {
			t.Errorf("line %d: %v, %v", i, got, err)
		}
	}
	if got := encode(t, "jsonl", NewFixed("x"), Options{}); got != "" {
		t.Errorf("no rows: %q", got)
	}
}

func TestMarkdown(t *testing.T) {
	f := NewFixed("a|b", "n BIGINT")
	f.Add("x|*y*<b>", int64(1))
	f.Add("two\nlines", nil)
	want := "| a\\|b | n |\n|---|---:|\n| x\\|\\*y\\*&lt;b&gt; | 1 |\n| two\\\\nlines |  |\n"
	if got := encode(t, "md", f, Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The engine reads what was written, value by value.
func TestParquetReadsBack(t *testing.T) {
	ctx := context.Background()
	big := NewFixed("i BIGINT", "s")
	for i := range 2*parquet.RowGroupRows + 3 {
		big.Add(int64(i), fmt.Sprint(i))
	}
	dir := t.TempDir()
	for name, f := range map[string]*Fixed{"sample": sample(), "big": big, "empty": NewFixed("x", "x DOUBLE")} {
		if err := os.WriteFile(filepath.Join(dir, name+".parquet"), []byte(encode(t, "parquet", f, Options{})), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2, MemoryBytes: 1 << 28})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	read := func(sql, name string) string {
		rows, err := eng.Query(ctx, fmt.Sprintf(sql, "read_parquet('"+filepath.Join(dir, name+".parquet")+"')"))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		return encode(t, "csv", rows, Options{})
	}
	if got, want := read("SELECT * FROM %s", "sample"), encode(t, "csv", sample(), Options{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := read("SELECT count(*) AS n, sum(i)::BIGINT AS i, count(DISTINCT s) AS s FROM %s", "big"),
		fmt.Sprintf("n,i,s\n%d,%d,%d\n", 2*parquet.RowGroupRows+3, (2*parquet.RowGroupRows+3)*(parquet.RowGroupRows+1), 2*parquet.RowGroupRows+3); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := read("SELECT * FROM %s", "empty"); got != "x,x_2\n" {
		t.Errorf("no rows: %q", got)
	}
}

func TestForFile(t *testing.T) {
	for name, want := range map[string]string{"a.csv": "csv", "a.JSON": "json", "a.jsonl": "jsonl", "a.ndjson": "jsonl",
		"d.d/a.md": "md", "x.parquet": "parquet", "a.txt": "table"} {
		if e, ok := ForFile(name); !ok || e.Name != want {
			t.Errorf("%s is %q, want %q", name, e.Name, want)
		}
	}
	if e, ok := ForFile("report.xlsx"); ok {
		t.Errorf("report.xlsx is taken for %s", e.Name)
	}
}
