package dask

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// The text around the documents of pages of Bokeh 1 and 3. A span's start is the middle of its bar, in milliseconds.
const (
	pageHead = "\n<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>Dask Performance Report</title><script src=\"https://cdn.bokeh.org/bokeh/release/bokeh-3.4.1.min.js\"></script></head>\n" +
		"<body><script type=\"application/json\" id=\"5f\">\n"
	pageTail = "\n</script></body></html>\n"

	// transfer 1000 to 1500 s, compute 1500 to 3500; compute again on the same thread; one that failed.
	columns = `"start":[1250000,2500000,4500000,6000000],"duration":[500000,2000000,1000000,1000000],"duration_text":["","","",""],` +
		`"key":["('sum-9f3a0b1c2d3e4f5a', 0)","('sum-9f3a0b1c2d3e4f5a', 0)","('sum-9f3a0b1c2d3e4f5a', 0)",["inc-&lt;x&gt;",1]],` +
		`"name":["transfer-sum","sum","sum","inc"],"color":["red","#440154","#440154","black"],` +
		`"worker":["tcp://10.0.0.1:4000","tcp://10.0.0.1:4000","tcp://10.0.0.1:4000","tcp://10.0.0.2:4000"],` +
		`"worker_thread":["a-1","a-1","a-1","b-1"],"y":[0,0,0,1],"alpha":[0.4,1,1,1]`
)

// entries writes columns in the form of Bokeh 3.
func entries(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"type":"map","entries":[`)
	for i, c := range strings.Split(strings.TrimSuffix(columns, "]"), `],"`) {
		name, list, ok := strings.Cut(strings.TrimPrefix(c, `"`), `":[`)
		if !ok {
			t.Fatal(c)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `["%s",[%s]]`, name, list)
	}
	return b.String() + `]}`
}

func TestPage(t *testing.T) {
	for name, doc := range map[string]string{
		"bokeh 1": `{"9c":{"roots":{"references":[{"attributes":{"data":{"other":[1]}},"type":"ColumnDataSource"},{"attributes":{"data":{` + columns + `}},"type":"ColumnDataSource"}]},"version":"1.4.0"}}`,
		"bokeh 3": `{"9c":{"version":"3.4.1","roots":[{"attributes":{"renderers":[{"data_source":{"attributes":{"data":` + entries(t) + `}}}]}}]}}`,
	} {
		page := []byte(pageHead + doc + pageTail)
		if m := Format().Sniff(ingest.Head{Name: "dask-report.html", Bytes: page, Whole: true}); m.Confidence < 1 {
			t.Errorf("%s: not recognised", name)
		}
		r := ingesttest.Conformance(t, Format(), ingesttest.Input("dask-report.html", page))
		if r.Err != nil || r.Counts.Rejects > 0 {
			t.Errorf("%s: error %v, rejects %+v", name, r.Err, r.Trace.Rejects)
			continue
		}
		var got []string
		for _, a := range r.Attempts {
			got = append(got, fmt.Sprint(a.NativeID, " ", a.Machine.V, " ", a.Status, " ", a.StartTime.V/1e6, " ", a.DurationS.V, " ", a.FetchWaitS.V))
		}
		want := []string{
			"('sum-9f3a0b1c2d3e4f5a', 0) 10.0.0.1 success 1000 2500 500", "('sum-9f3a0b1c2d3e4f5a', 0) 10.0.0.1 success 4000 1000 0",
			`["inc-<x>",1] 10.0.0.2 failed 5500 1000 0`,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestPageWithoutStream(t *testing.T) {
	for _, page := range []string{pageHead + `{"9c":{"roots":{"data":{"x":[1]}}}}` + pageTail, "<html>bokeh and Dask</html>"} {
		if r := ingesttest.Bytes(t, Format(), "x.html", []byte(page)); !errors.Is(r.Err, errNoStream) {
			t.Errorf("error %v", r.Err)
		}
	}
	r := ingesttest.Bytes(t, Format(), "x.html",
		[]byte(pageHead+`{"data":{"start":[],"duration":[],"key":[],"name":[],"color":[],"worker":[],"worker_thread":[]}}`+pageTail))
	if r.Err != nil || len(r.Attempts) != 0 || r.Caveats[len(r.Caveats)-1].Code != "no_tasks" {
		t.Errorf("an empty stream: error %v, caveats %+v", r.Err, r.Caveats)
	}
	if r := ingesttest.Bytes(t, Format(), "x.html", []byte(pageHead+`{"data":{"start":[1],`)); r.Err == nil || r.Counts.Rejects != 1 {
		t.Errorf("a cut page: error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
}

// Arrays may be in base64, in Bokeh 3 and earlier; here 1.5 and −2.
func TestArrays(t *testing.T) {
	for _, v := range []string{
		`[1.5,-2]`, `{"__ndarray__":"AAAAAAAA+D8AAAAAAAAAwA==","shape":[2],"dtype":"float64"}`,
		`{"type":"ndarray","array":{"type":"bytes","data":"AAAAAAAA+D8AAAAAAAAAwA=="},"shape":[2],"dtype":"float64","order":"little"}`,
	} {
		if d := cmp.Diff([]float64{1.5, -2}, numbers([]byte(v))); d != "" {
			t.Errorf("%s: %s", v, d)
		}
	}
}

// The examples in the documentation of dask.utils.key_split (dask 2024.4), and keys from real pages.
func TestPrefix(t *testing.T) {
	for k, want := range map[string]string{
		"x": "x", "x-1": "x", "x-1-2-3": "x", "('x-2', 1)": "x", "('x', 1)": "x", "hello-world-1": "hello-world",
		"ae05086432ca935f6eba409a8ecd4896": "data", "<module.submodule.myclass object at 0xdaf372": "myclass", "x-abcdefab": "x", "_(x)": "x",
		"local_shuffle-748bb4b5-f07d-4a9c-91fb-252a49b8e29d": "local_shuffle", `["random_sample-sum-83ba7414f90a",0,4]`: "random_sample-sum", "-": "-",
	} {
		if got := prefix(k); got != want {
			t.Errorf("%s: %s, want %s", k, got, want)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte(pageHead + `{"data":{` + columns + `}}` + pageTail))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, a := range ingesttest.Bytes(t, Format(), "x.html", b).Attempts {
			if a.DurationS.OK && !(a.DurationS.V >= 0) || a.Status == schema.Running {
				t.Errorf("%+v", a)
			}
		}
	})
}
