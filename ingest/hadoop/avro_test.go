package hadoop

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
)

// A history re-encoded as Avro-Binary gives the same rows.
func TestBinaryEqualsJSON(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "jhist/*/*.jhist") {
		t.Run(name, func(t *testing.T) {
			binary := toBinary(t, b)
			in := ingesttest.Input(name, b)
			want := ingesttest.Read(t, JobHistory(), in, ingest.Limits{})
			again := ingesttest.Input(name, binary)
			again.Key = in.Key
			got := ingesttest.Read(t, JobHistory(), again, ingest.Limits{})
			if d := cmp.Diff(want.Trace, got.Trace); d != "" {
				t.Error(d)
			}
			if want.Decoded != got.Decoded || got.Decoded == 0 {
				t.Errorf("%d events in JSON, %d in binary", want.Decoded, got.Decoded)
			}
			for _, cut := range []int{len(binary) - 1, len(binary) - 1000} {
				r := ingesttest.Bytes(t, JobHistory(), name, binary[:cut])
				if len(r.Trace.Rejects) != 1 || r.Decoded == 0 {
					t.Errorf("cut at %d: %d events, rejects %v", cut, r.Decoded, r.Trace.Rejects)
				}
			}
		})
	}
}

// toBinary encodes the events of an Avro-JSON history according to the Avro specification.
func toBinary(t *testing.T, b []byte) []byte {
	t.Helper()
	parts := bytes.SplitN(b, []byte("\n"), 3)
	typ, err := parseAvro(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	out := append([]byte("Avro-Binary\n"), parts[1]...)
	out = append(out, '\n')
	dec := json.NewDecoder(bytes.NewReader(parts[2]))
	dec.UseNumber()
	for {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = appendAvro(t, out, typ, v)
	}
}

func appendAvro(t *testing.T, out []byte, typ *avroType, v any) []byte {
	t.Helper()
	count := func(n int) { out = binary.AppendVarint(out, int64(n)) } // the encoding of which is zig-zag too
	switch v := v.(type) {
	case bool:
		if v {
			return append(out, 1)
		}
		return append(out, 0)
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			t.Fatal(err)
		}
		return binary.AppendVarint(out, n)
	case string:
		if typ.kind == "enum" {
			count(slices.Index(typ.symbols, v))
			return out
		}
		count(len(v))
		return append(out, v...)
	case []any:
		if count(len(v)); len(v) == 0 {
			return out
		}
		for _, item := range v {
			out = appendAvro(t, out, typ.items, item)
		}
		count(0)
		return out
	case map[string]any:
		switch typ.kind {
		case "record":
			for _, f := range typ.fields {
				out = appendAvro(t, out, f.typ, v[f.name])
			}
			return out
		case "map":
			for _, name := range slices.Sorted(maps.Keys(v)) {
				count(1) // in its own block
				out = appendAvro(t, out, &avroType{kind: "string"}, name)
				out = appendAvro(t, out, typ.items, v[name])
			}
			count(0)
			return out
		}
	}
	if typ.kind != "union" {
		t.Fatalf("%v is no %s", v, typ.kind)
	}
	for i, branch := range typ.union {
		if v == nil && branch.kind == "null" {
			count(i)
			return out
		}
		for name, value := range asObject(v) {
			if name == branch.name || name == branch.kind {
				count(i)
				return appendAvro(t, out, branch, value)
			}
		}
	}
	t.Fatalf("%v is of no branch", v)
	return nil
}

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// The examples of the Avro specification: zig-zag numbers, a record, an array and a union.
func TestAvroSpecification(t *testing.T) {
	for _, c := range []struct{ typ, datum, want string }{
		{`"long"`, "\x00", `0`}, {`"long"`, "\x01", `-1`}, {`"long"`, "\x02", `1`}, {`"long"`, "\x7f", `-64`}, {`"long"`, "\x80\x01", `64`},
		{`{"type":"record","name":"test","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"}]}`, "\x36\x06foo", `{"a":27,"b":"foo"}`},
		{`{"type":"array","items":"long"}`, "\x04\x06\x36\x00", `[3,27]`},
		{`["null","string"]`, "\x00", `null`}, {`["null","string"]`, "\x02\x02\x61", `"a"`},
		// Not an example: a block with its size, and an enum.
		{`{"type":"array","items":"long"}`, "\x03\x04\x06\x36\x00", `[3,27]`}, {`{"type":"enum","name":"E","symbols":["A","B"]}`, "\x02", `"B"`},
	} {
		typ, err := parseAvro([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":` + c.typ + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		d := avroDecoder{schema: typ}
		text, n, err := d.json([]byte(c.datum + "more"))
		if want := `{"v":` + c.want + `}`; err != nil || string(text) != want || n != len(c.datum) {
			t.Errorf("%s of %x: %s and %d bytes, error %v; want %s", c.typ, c.datum, text, n, err, want)
		}
	}
}

// A schema may let a few bytes stand for any number of values; the memory for them is bounded.
func TestAvroBombs(t *testing.T) {
	for _, c := range []struct{ typ, datum string }{
		{`{"type":"array","items":"null"}`, string(binary.AppendVarint(nil, 1<<40))},
		{`{"type":"array","items":{"type":"record","name":"E","fields":[]}}`, string(binary.AppendVarint(nil, 1<<40))},
		{`{"type":"array","items":{"type":"enum","name":"E","symbols":["` + strings.Repeat("x", 1<<20) + `"]}}`,
			"\xfe\xff\x03" + strings.Repeat("\x00", 1<<20)},
		{`{"type":"record","name":"D","fields":[{"name":"a","type":["null","D"]}]}`, strings.Repeat("\x02", 16<<20)},
	} {
		typ, err := parseAvro([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":` + c.typ + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		d := avroDecoder{schema: typ}
		if _, _, err := d.json([]byte(c.datum)); !errors.Is(err, errAvroDatum) || len(d.text) > 2*maxRecord {
			t.Errorf("%.60s: error %v, %d bytes of text", c.typ, err, len(d.text))
		}
	}
}

func FuzzAvroDatum(f *testing.F) {
	f.Add([]byte(`{"type":"record","name":"a.R","fields":[{"name":"type","type":{"type":"enum","name":"T","symbols":["JOB_INITED"]}},{"name":"event","type":["null",{"type":"record","name":"E","fields":[{"name":"jobid","type":"string"},{"name":"m","type":{"type":"map","values":"long"}},{"name":"clockSplits","type":{"type":"array","items":"int"}}]}]}]}`), []byte{0, 2, 2, 'j', 2, 2, 'k', 8, 0, 4, 1, 2, 0})
	f.Add([]byte(`{"type":"record","name":"R","fields":[{"name":"event","type":{"type":"record","name":"Q","fields":[{"name":"a","type":["null","Q"]}]}}]}`), []byte{2, 2, 2, 0})
	f.Fuzz(func(t *testing.T, text, datum []byte) {
		typ, err := parseAvro(text)
		if err != nil {
			return
		}
		d := avroDecoder{schema: typ}
		text, n, err := d.json(datum)
		if err != nil {
			return
		}
		whole := bytes.Clone(text)
		if n <= 0 || n > len(datum) {
			t.Fatalf("%d of %d bytes", n, len(datum))
		}
		// The result for the datum does not depend on what follows it, and a prefix of it is not a datum.
		if again, m, err := d.json(datum[:n]); err != nil || m != n || !bytes.Equal(whole, again) {
			t.Errorf("%d bytes, then %d, %v: %s and %s", n, m, err, whole, again)
		}
		var e eventDecoder
		if e.event(whole, new(event)); !e.pull.End() {
			t.Errorf("%s: %s", e.pull.Why, whole)
		}
		if _, _, err := d.json(datum[:n-1]); err == nil {
			t.Error("a datum that is cut is read")
		}
	})
}
