package dask

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
)

// isPage recognises the pages of performance_report and get_task_stream(plot="save"): pages of Bokeh about Dask. Those of
// Dask's profiler have no tasks.
func isPage(head []byte) bool {
	b := bytes.TrimLeft(head, " \t\r\n")
	if len(b) == 0 || b[0] != '<' || !bytes.Contains(b, []byte("bokeh")) || bytes.Contains(b, []byte("<title>Dask Profile")) {
		return false
	}
	return bytes.Contains(b, []byte("Dask")) || bytes.Contains(b, []byte("distributed"))
}

// pageStart precedes the document of a page.
var pageStart = []byte("<script type=\"application/json\"")

// maxPage bounds the document of a page. A report of 100 000 spans, the most that the scheduler keeps, takes about 30 MB.
const maxPage = 128 << 20

var errNoStream = errors.New("the page has no task stream: it is not one of Dask's performance_report or get_task_stream")

// page reads the task stream drawn by a page.
func (r *reader) page(ctx context.Context, p ingest.Part, f *bufio.Reader) error {
	at, err := skipPast(f, pageStart)
	if err == nil {
		var n int64
		n, err = skipPast(f, []byte(">"))
		at += n
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", p.Name, errNoStream)
	} else if err != nil {
		return err
	}
	doc := &io.LimitedReader{R: f, N: maxPage}
	dec := read.NewJSON(doc)
	found := false
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := dec.ReadToken()
		switch {
		case err == nil:
		case doc.N <= 0:
			return fmt.Errorf("%s: %w: the page has more than %d bytes; write the stream with get_task_stream and json.dump instead", p.Name, ingest.ErrLimit, maxPage)
		default:
			return read.Broken(p, dec, r.out, err)
		}
		in, n := dec.StackIndex(dec.StackDepth())
		if dec.StackDepth() == 0 {
			break
		}
		if t.Kind() != '"' || in != '{' || n%2 == 0 || t.String() != "data" || dec.PeekKind() != '{' {
			continue
		}
		start := at + dec.InputOffset()
		v, err := dec.ReadValue()
		if err != nil {
			return read.Broken(p, dec, r.out, err)
		}
		if c, ok := columnsOf(v); ok {
			found = true
			if err := r.drawn(p, &c, start); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("%s: %w", p.Name, errNoStream)
	}
	if len(r.Trace.Phases) == 0 {
		r.out.Decoded(1) // the page, which records no task as ended
	}
	return nil
}

// skipPast reads past the next occurrence of text.
func skipPast(r *bufio.Reader, text []byte) (n int64, err error) {
	matched := 0
	for matched < len(text) {
		b, err := r.ReadByte()
		if err != nil {
			return n, err
		}
		n++
		switch { // the first byte of text occurs in it only once
		case b == text[matched]:
			matched++
		case b == text[0]:
			matched = 1
		default:
			matched = 0
		}
	}
	return n, nil
}

// drawing holds the columns of the stream: a row per span, in the order in which tasks ended. The centre of a bar is its
// 'start'.
type drawing struct {
	centre, length []float64 // epoch ms, ms
	key            []key
	name           []string
	worker, thread []string
	colour         []string
}

// columnsOf reads the columns of a data source of Bokeh 3 ({"type": "map", "entries": [[name, column], …]}) or earlier
// ({name: column, …}). It returns false if they are not a task stream.
func columnsOf(v jsontext.Value) (c drawing, ok bool) {
	if !bytes.Contains(v, []byte("worker_thread")) {
		return c, false
	}
	var named map[string]jsontext.Value
	if read.UnmarshalJSON(v, &named) != nil {
		return c, false
	}
	var entries [][2]jsontext.Value
	if json.Unmarshal(named["entries"], &entries) == nil {
		for _, e := range entries {
			var name string
			if json.Unmarshal(e[0], &name) == nil {
				named[name] = e[1]
			}
		}
	}
	c.centre, c.length = numbers(named["start"]), numbers(named["duration"])
	if read.UnmarshalJSON(named["key"], &c.key) != nil {
		return c, false
	}
	for name, to := range map[string]*[]string{"name": &c.name, "worker": &c.worker, "worker_thread": &c.thread, "color": &c.colour} {
		if read.UnmarshalJSON(named[name], to) != nil {
			return c, false
		}
	}
	n := len(c.centre)
	return c, len(c.length) == n && len(c.key) == n && len(c.name) == n && len(c.worker) == n && len(c.thread) == n && len(c.colour) == n
}

// numbers reads a column of floating-point numbers: a list, or an array in base64 of Bokeh 3 or earlier.
func numbers(v jsontext.Value) []float64 {
	var list []*float64
	if json.Unmarshal(v, &list) == nil {
		out := make([]float64, len(list))
		for i, n := range list {
			if out[i] = math.NaN(); n != nil {
				out[i] = *n
			}
		}
		return out
	}
	var array struct {
		Old   string         `json:"__ndarray__"`
		Array jsontext.Value `json:"array"`
		Type  string         `json:"dtype"`
	}
	if json.Unmarshal(v, &array) != nil || array.Type != "float64" {
		return nil
	}
	var bytes3 struct {
		Data string `json:"data"`
	}
	if array.Old == "" && json.Unmarshal(array.Array, &bytes3) == nil {
		array.Old = bytes3.Data
	}
	raw, err := base64.StdEncoding.DecodeString(array.Old)
	if err != nil {
		return nil
	}
	out := make([]float64, len(raw)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return out
}

// drawn turns the spans into tasks: the spans of a task are consecutive and have the same key and thread.
func (r *reader) drawn(p ingest.Part, c *drawing, offset int64) error {
	for i := 0; i < len(c.key); {
		t := streamTask{Key: key(html.UnescapeString(string(c.key[i]))), Worker: html.UnescapeString(c.worker[i]), Thread: key(c.thread[i])}
		computed := false
		first := i
		for ; i < len(c.key) && c.key[i] == c.key[first] && c.thread[i] == c.thread[first]; i++ {
			action := actionOf(c.name[i])
			if computed && action == "compute" { // the task ran again
				break
			}
			computed = computed || action == "compute"
			if c.colour[i] == "black" {
				t.Status = "error"
			}
			t.StartStops = append(t.StartStops, span{action, (c.centre[i] - c.length[i]/2) / 1000, (c.centre[i] + c.length[i]/2) / 1000})
		}
		if t.Key == "" && t.Worker == "" {
			read.Reject(r.out, p, offset, nil, fmt.Sprintf("span %d of the page's task stream has neither key nor worker", first))
			continue
		}
		r.out.Decoded(1)
		if err := r.task(&t); err != nil {
			return err
		}
	}
	return nil
}

// actionOf returns the action in the name of a span: transfer-sum is a transfer for sum.
func actionOf(name string) string {
	for _, action := range []string{"transfer", "deserialize", "disk-read", "disk-write"} {
		if strings.HasPrefix(name, action+"-") {
			return action
		}
	}
	return "compute"
}
