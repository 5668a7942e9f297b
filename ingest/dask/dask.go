package dask

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// Format is a task stream, as a JSON list, as JSON lines, or within a performance report.
func Format() ingest.Format {
	return ingest.Format{
		Name: "dask",
		Doc:  "Dask task stream: the list that get_task_stream gives, as JSON, or the page of performance_report",
		Detail: `A task is an attempt, the prefix of its key a phase, the stream one application with one job. start_time and finish_time
are the first and last span (transfer, deserialize, compute, disk), fetch_wait_s is the time in transfer spans,
deserialize_s in deserialize ones. output_bytes is nbytes, the size of the result; what was read is not in the stream.
The stream's buffer is bounded: older tasks may be missing, and nothing says so. The page of performance_report
(dask-report.html, of Bokeh 0.13 to 3) holds the same spans without nbytes; a task drawn black failed. Dependencies are not
in the stream. Pages were tried on real files; for lists none was available, and the layout is that of the writer's source.`,
		Sniff: sniff,
		Read:  readLog,
	}
}

func sniff(h ingest.Head) ingest.Match {
	if isPage(h.Bytes) {
		return ingest.Match{Confidence: 1, Why: "a page of Bokeh about Dask"}
	}
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	if len(b) > 0 && (b[0] == '[' || b[0] == '{') && bytes.Contains(b, []byte(`"worker"`)) &&
		(bytes.Contains(b, []byte(`"startstops"`)) || bytes.Contains(b, []byte(`"compute_start"`))) {
		return ingest.Match{Confidence: ingest.Certain, Why: "objects with worker and startstops, or compute_start"}
	}
	return ingest.Match{}
}

// streamTask is an element of the stream. Old versions write spans as lists of three.
type streamTask struct {
	Key        key      `json:"key"`
	Worker     string   `json:"worker"`
	Status     string   `json:"status"`
	NBytes     *float64 `json:"nbytes"`
	StartStops []span   `json:"startstops"`

	// Before 2018 each kind of span had a pair of members of its own.
	ComputeStart  *float64 `json:"compute_start"`
	ComputeStop   *float64 `json:"compute_stop"`
	TransferStart *float64 `json:"transfer_start"`
	TransferStop  *float64 `json:"transfer_stop"`
	DiskStart     *float64 `json:"disk_load_start"`
	DiskStop      *float64 `json:"disk_load_stop"`
}

// spans are those of any version.
func (t *streamTask) spans() []span {
	all := t.StartStops
	for _, s := range []struct {
		action      string
		start, stop *float64
	}{{"compute", t.ComputeStart, t.ComputeStop}, {"transfer", t.TransferStart, t.TransferStop}, {"disk-read", t.DiskStart, t.DiskStop}} {
		if s.start != nil && s.stop != nil {
			all = append(all, span{s.action, *s.start, *s.stop})
		}
	}
	return all
}

// key is a text, or a tuple whose first element is one.
type key string

func (k *key) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		*k = key(s)
	} else {
		*k = key(v.Clone())
	}
	return nil
}

type span struct {
	action      string
	start, stop float64 // epoch seconds
}

func (s *span) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '[' {
		var v []jsontext.Value
		if err := json.UnmarshalDecode(dec, &v); err != nil {
			return err
		}
		if len(v) < 3 {
			return errors.New("a span has three parts")
		}
		return errors.Join(json.Unmarshal(v[0], &s.action), json.Unmarshal(v[1], &s.start), json.Unmarshal(v[2], &s.stop))
	}
	var v struct {
		Action string  `json:"action"`
		Start  float64 `json:"start"`
		Stop   float64 `json:"stop"`
	}
	err := json.UnmarshalDecode(dec, &v)
	*s = span{v.Action, v.Start, v.Stop}
	return err
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := &reader{Application: read.NewApplication(in, out, "dask"), out: out}
	r.Job(in.Base)
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, r.part(ctx, p))
	}
	return errors.Join(append(errs, r.finish())...)
}

type reader struct {
	*read.Application
	out       *ingest.Sink
	timeless  int64 // tasks without a usable span
	drawnOnly bool  // of a page
}

// part reads a list of tasks, one object after the other, or a page.
func (r *reader) part(ctx context.Context, p ingest.Part) error {
	file, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	f := bufio.NewReaderSize(file, 64<<10)
	if head, _ := f.Peek(1 << 10); len(bytes.TrimLeft(head, " \t\r\n")) > 0 && bytes.TrimLeft(head, " \t\r\n")[0] == '<' {
		r.drawnOnly = true
		return r.page(ctx, p, f)
	}
	return read.EachObject(ctx, p, read.NewJSON(read.JSONNumbers(f)), r.out, func(v jsontext.Value) (unusable, err error) {
		var t streamTask
		if err := read.UnmarshalJSON(v, &t); err != nil {
			return fmt.Errorf("not a task of a task stream: %w", err), nil
		}
		if t.Key == "" && t.Worker == "" {
			return errNoKey, nil
		}
		return nil, r.task(&t)
	})
}

var errNoKey = errors.New("not a task of a task stream: it has neither key nor worker")

func (r *reader) task(t *streamTask) error {
	n := r.Phase(0, prefix(string(t.Key)), "function")
	row := r.Attempt(n)
	row.Task, row.NativeID = r.Task(n), read.Text(string(t.Key))
	row.Executor, row.Machine = read.NullText(t.Worker), read.NullText(host(t.Worker))
	switch strings.ToLower(t.Status) {
	case "ok", "":
		row.Status = schema.Success
	case "error":
		row.Status = schema.Failed
	default:
		row.Status = schema.UnknownStatus
	}
	if t.NBytes != nil && *t.NBytes >= 0 && *t.NBytes < 1<<62 {
		row.OutputBytes = schema.Some(int64(*t.NBytes))
	}
	r.spans(t.spans(), &row)
	return r.Add(n, &row)
}

// spans sets times from the spans that make sense.
func (r *reader) spans(spans []span, row *schema.Attempt) {
	var transfer, deserialize []span
	for _, s := range spans {
		if !(s.start > 0 && s.stop >= s.start && s.stop < 1e11) {
			row.Quality |= schema.TimeRepaired
			continue
		}
		read.Widen(&row.StartTime, &row.FinishTime, read.RoundMicros(s.start*1e6), read.RoundMicros(s.stop*1e6))
		switch s.action {
		case "transfer":
			transfer = append(transfer, s)
		case "deserialize":
			deserialize = append(deserialize, s)
		}
	}
	if !row.StartTime.OK {
		row.Quality |= schema.PartialRow
		r.timeless++
		return
	}
	row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	row.FetchWaitS, row.DeserializeS = schema.Some(covered(transfer)), schema.Some(covered(deserialize))
}

// covered is for how many seconds at least one of the spans lasted: a task fetches from several workers at once.
func covered(spans []span) float64 {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	seconds, until := 0.0, math.Inf(-1)
	for _, s := range spans {
		if s.stop > until {
			seconds += s.stop - max(s.start, until)
			until = s.stop
		}
	}
	return seconds
}

// hexadecimal is what a token of letters in a key looks like.
var hexadecimal = regexp.MustCompile(`^([a-f]{8}|[0-9a-f]{32})$`)

// prefix is the function that a key stands for, ('sum-9f3a…', 0) and sum-9f3a… are of sum: words of letters up to the first
// that is none, as dask.utils.key_split has it.
func prefix(k string) string {
	words := strings.Split(k, "-")
	name := words[0]
	if r, _ := utf8.DecodeRuneInString(name); !unicode.IsLetter(r) {
		name, _, _ = strings.Cut(name, ",")
		name = strings.Trim(name, "_'()[]\"")
	}
	for _, w := range words[1:] {
		if w == "" || hexadecimal.MatchString(w) || strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }) >= 0 {
			break
		}
		name += "-" + w
	}
	switch {
	case name == "":
		return k
	case len(name) == 32 && hexadecimal.MatchString(name): // a key that is a token alone
		return "data"
	case name[0] == '<': // <module.class object at 0x…>
		name, _, _ = strings.Cut(strings.Trim(name, "<>"), " ")
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return name
}

// host is the machine of a worker's address, tcp://10.0.0.1:3456.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return address
}

func (r *reader) finish() error {
	r.Widen()
	r.Caveat("bounded_buffer", "the scheduler keeps a bounded number of tasks: older ones may be missing")
	r.Caveat("no_edges", "the stream does not say which task waited for which")
	r.Caveat("no_input_bytes", "the stream does not have what tasks read: slowness is judged by duration alone")
	if r.drawnOnly && len(r.Trace.Phases) == 0 {
		r.Caveat("no_tasks", "the page's task stream is empty: no task ended while the report was made")
	}
	r.CaveatOf(r.timeless, "no_times", "tasks have no usable span")
	return r.Emit()
}
