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

// Format returns the format of a task stream, as a JSON list, as JSON lines, or within a performance report.
func Format() ingest.Format {
	return ingest.Format{
		Name: "dask",
		Doc:  "Dask task stream: the list returned by get_task_stream, as JSON, or the page of performance_report",
		Detail: `A task is an attempt, the prefix of its key is a phase, and the stream is one application with one job. An attempt lasts from the
start of its first span (transfer, deserialize, compute, disk) to the end of its last. A worker may fetch the input of a task while
the task's thread still runs another one: then queued_time is the start of the first span, and start_time the end of that other
task. fetch_wait_s and deserialize_s are the time in transfer and deserialize spans after start_time. output_bytes is nbytes, the
size of the result; input sizes and dependencies are not in the stream. The stream's buffer is bounded, so older tasks may be
missing without a trace.
The page of performance_report (dask-report.html, of Bokeh 0.13 to 3) has the same spans without nbytes; a task drawn in black
failed.`,
		Sniff:   sniff,
		Instead: instead,
		Read:    readLog,
	}
}

// instead recognises what dump_cluster_state writes: an object of the scheduler's and the workers' state, as YAML or msgpack.
func instead(h ingest.Head) string {
	if bytes.HasPrefix(h.Bytes, []byte("scheduler:\n  address: ")) ||
		len(h.Bytes) > 2 && bytes.HasPrefix(h.Bytes[1:], []byte("\xa9scheduler")) && bytes.Contains(h.Bytes, []byte("\xa9Scheduler")) {
		return "a dump of the state of a Dask cluster, which keeps no durations of ended tasks; give the list that get_task_stream returns, as JSON, or the page of performance_report"
	}
	return ""
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

// streamTask is an element of the stream. Old versions write spans as lists of three values.
type streamTask struct {
	Key        key      `json:"key"`
	Worker     string   `json:"worker"`
	Thread     key      `json:"thread"`
	Status     string   `json:"status"`
	NBytes     *float64 `json:"nbytes"`
	StartStops []span   `json:"startstops"`

	// Before 2018 each kind of span had its own pair of members.
	ComputeStart  *float64 `json:"compute_start"`
	ComputeStop   *float64 `json:"compute_stop"`
	TransferStart *float64 `json:"transfer_start"`
	TransferStop  *float64 `json:"transfer_stop"`
	DiskStart     *float64 `json:"disk_load_start"`
	DiskStop      *float64 `json:"disk_load_stop"`
}

// spans returns the spans, whatever version wrote them.
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

// key is a string, or a tuple whose first element is a string.
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
	r := &reader{Application: read.NewApplication(in, out, "dask"), out: out, computed: map[thread]float64{}}
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
	timeless  int64              // tasks without a usable span
	drawnOnly bool               // of a page
	computed  map[thread]float64 // end of each thread's last computation, in epoch seconds; a stream is in that order
}

type thread struct {
	worker string
	id     key
}

// part reads a list of tasks, concatenated tasks, or a page.
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
	r.spans(t.spans(), thread{t.Worker, t.Thread}, &row)
	return r.Add(n, &row)
}

// spans sets the times of a row from the valid spans.
func (r *reader) spans(spans []span, on thread, row *schema.Attempt) {
	said := len(spans)
	spans = slices.DeleteFunc(spans, func(s span) bool { return !s.usable() })
	if len(spans) < said {
		row.Quality |= schema.TimeRepaired
	}
	if len(spans) == 0 {
		row.Quality |= schema.PartialRow
		r.timeless++
		return
	}
	first, last := math.Inf(1), 0.0
	for _, s := range spans {
		first, last = min(first, s.start), max(last, s.stop)
	}
	start := max(first, r.threadFree(spans, on))
	if start > first {
		row.QueuedTime = micros(first)
	}
	row.StartTime, row.FinishTime = micros(start), micros(last)
	row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	row.FetchWaitS, row.DeserializeS = schema.Some(covered(spans, "transfer", start)), schema.Some(covered(spans, "deserialize", start))
}

func micros(seconds float64) schema.Null[schema.Time] { return read.RoundMicros(seconds * 1e6) }

func (s span) usable() bool { return s.stop >= s.start && micros(s.start).OK && micros(s.stop).OK }

// disorder is how long before the end of a thread's previous task the next may begin: pages round times to microseconds.
const disorder = 1e-3 // s

// threadFree returns the time at which the thread had ended its previous task, 0 if unknown. A thread runs one task at a
// time, so an end after the beginning of this task means that the stream is in another order, and is ignored.
func (r *reader) threadFree(spans []span, on thread) float64 {
	began, ended := math.Inf(1), 0.0
	for _, s := range spans {
		if s.action == "compute" {
			began, ended = min(began, s.start), max(ended, s.stop)
		}
	}
	if on.id == "" || ended == 0 {
		return 0
	}
	free := r.computed[on]
	r.computed[on] = ended
	if free > began+disorder {
		return 0
	}
	return min(free, began)
}

// covered returns the seconds after start that are covered by at least one span of the action: a task fetches from several
// workers at once.
func covered(spans []span, action string, start float64) float64 {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	seconds, until := 0.0, start
	for _, s := range spans {
		if s.action == action && s.stop > until {
			seconds += s.stop - max(s.start, until)
			until = s.stop
		}
	}
	return seconds
}

// hexadecimal matches a token of letters in a key.
var hexadecimal = regexp.MustCompile(`^([a-f]{8}|[0-9a-f]{32})$`)

// prefix returns the function of a key, such as sum for ('sum-9f3a…', 0) and sum-9f3a…: the words of letters up to the first
// word that is not, as in dask.utils.key_split.
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
	case len(name) == 32 && hexadecimal.MatchString(name): // the key is only a token
		return "data"
	case name[0] == '<': // <module.class object at 0x…>
		name, _, _ = strings.Cut(strings.Trim(name, "<>"), " ")
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return name
}

// host returns the machine in the address of a worker, tcp://10.0.0.1:3456.
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
