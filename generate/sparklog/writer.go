package sparklog

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"straggler/schema"
	"straggler/schema/synth"
)

// A Spark log has no room for these parts of a generated trace: racks, platforms and memory of machines, the order of attempts
// in which keys were allocated, the time at which a copy was requested, how a Spark 3 application ended, and bytes by location.

// ErrOneApplication is returned for a second application in a log.
var ErrOneApplication = errors.New("a Spark log holds one application; write each to a file of its own")

// Options of a Writer.
type Options struct {
	// Terse leaves out the accumulables of tasks, which repeat the metrics and are a third of a log.
	Terse bool
}

// Writer writes the events of one application. Close it at the end.
type Writer struct {
	w       io.Writer
	o       Options
	buf     []byte
	err     error
	started bool
	stages  map[string]*stage    // by native id; of jobs under way
	phases  map[schema.Key]*sent // submissions, of the same jobs
}

// stage is a stage as announced at the start of its job.
type stage struct {
	id      int64
	job     schema.Key
	tasks   int64
	name    string
	parents []string
	result  bool
	values  [len(metrics)]int64 // of its accumulables so far
	phases  []schema.Key
}

// sent is a submission of a stage.
type sent struct {
	stage  *stage
	number int32
	index  map[int64]int64 // task → position, where it was submitted again with the missing tasks
}

const block = 1 << 20

// NewWriter writes a log to w, uncompressed.
func NewWriter(w io.Writer, o Options) *Writer {
	return &Writer{w: w, o: o, buf: make([]byte, 0, block+64<<10), stages: map[string]*stage{}, phases: map[schema.Key]*sent{}}
}

// Close writes what is left. It does not close the writer below.
func (l *Writer) Close() error {
	l.flush()
	return l.err
}

func (l *Writer) flush() {
	if l.err == nil && len(l.buf) > 0 {
		_, l.err = l.w.Write(l.buf)
	}
	l.buf = l.buf[:0]
}

// Event writes the lines of the log for an event, if any.
func (l *Writer) Event(e *synth.Event) error {
	at := int64(e.Time) / 1000
	switch e.Kind {
	case synth.ApplicationStarted:
		if l.started {
			return ErrOneApplication
		}
		l.started = true
		l.head(e, at)
	case synth.ApplicationEnded:
		l.raw(`{"Event":"SparkListenerApplicationEnd","Timestamp":`).int(at).raw("}\n")
	case synth.ExecutorAdded:
		l.executorAdded(e.Machine, at)
	case synth.ExecutorRemoved:
		l.executorRemoved(e, at)
	case synth.JobStarted:
		l.jobStarted(e, at)
	case synth.JobEnded:
		l.jobEnded(e, at)
	case synth.PhaseSubmitted:
		l.stageSubmitted(e.Phase)
	case synth.PhaseCompleted:
		l.stageCompleted(e, at)
	case synth.AttemptStarted:
		l.taskStarted(e)
	case synth.AttemptEnded:
		l.taskEnded(e, false)
	case synth.OutputLost:
		l.taskEnded(e, true)
	}
	if len(l.buf) >= block {
		l.flush()
	}
	return l.err
}

func (l *Writer) raw(s string) *Writer {
	l.buf = append(l.buf, s...)
	return l
}

func (l *Writer) int(v int64) *Writer {
	l.buf = strconv.AppendInt(l.buf, v, 10)
	return l
}

func (l *Writer) bool(v bool) *Writer {
	l.buf = strconv.AppendBool(l.buf, v)
	return l
}

// text writes a JSON string with its quotes.
func (l *Writer) text(s string) *Writer {
	l.buf = append(l.buf, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			l.buf = append(l.buf, '\\', c)
		case c == '\n':
			l.buf = append(l.buf, '\\', 'n')
		case c == '\t':
			l.buf = append(l.buf, '\\', 't')
		case c < ' ':
			l.buf = fmt.Appendf(l.buf, `\u%04x`, c)
		default:
			l.buf = append(l.buf, c)
		}
	}
	l.buf = append(l.buf, '"')
	return l
}

// head writes the beginning of a log.
func (l *Writer) head(e *synth.Event, at int64) {
	a := e.Application
	l.raw(`{"Event":"SparkListenerLogStart","Spark Version":`).text(a.FrameworkVersion.Or("3.5.6")).raw("}\n")
	l.raw(`{"Event":"SparkListenerResourceProfileAdded","Resource Profile Id":0,"Executor Resource Requests":{"cores":{"Resource Name":"cores","Amount":1,"Discovery Script":"","Vendor":""},"memory":{"Resource Name":"memory","Amount":1024,"Discovery Script":"","Vendor":""},"offHeap":{"Resource Name":"offHeap","Amount":0,"Discovery Script":"","Vendor":""}},"Task Resource Requests":{"cpus":{"Resource Name":"cpus","Amount":1.0}}}` + "\n")
	l.blockManager("SparkListenerBlockManagerAdded", "driver", "driver").raw(`,"Maximum Memory":434031820,"Timestamp":`).int(at).
		raw(`,"Maximum Onheap Memory":434031820,"Maximum Offheap Memory":0}` + "\n")
	l.raw(`{"Event":"SparkListenerEnvironmentUpdate","JVM Information":{"Java Home":"/usr/lib/jvm/java-17","Java Version":"17.0.15","Scala Version":"version 2.12.18"},"Spark Properties":{`)
	for i, s := range e.Settings {
		if i > 0 {
			l.raw(",")
		}
		l.text(s.Name).raw(":").text(s.Value)
	}
	l.raw(`},"Hadoop Properties":{},"System Properties":{},"Metrics Properties":{},"Classpath Entries":{}}` + "\n")
	l.raw(`{"Event":"SparkListenerApplicationStart","App Name":`).text(a.Name.V).raw(`,"App ID":`).text(a.NativeID).
		raw(`,"Timestamp":`).int(at).raw(`,"User":`).text(a.User.Or("unknown")).raw("}\n")
}

func (l *Writer) blockManager(event, executor, host string) *Writer {
	return l.raw(`{"Event":"`).raw(event).raw(`","Block Manager ID":`).manager(executor, host)
}

func (l *Writer) manager(executor, host string) *Writer {
	return l.raw(`{"Executor ID":`).text(executor).raw(`,"Host":`).text(host).raw(`,"Port":7337}`)
}

func (l *Writer) executorAdded(m *schema.Machine, at int64) {
	l.raw(`{"Event":"SparkListenerExecutorAdded","Timestamp":`).int(at).raw(`,"Executor ID":`).text(m.Executor.V).
		raw(`,"Executor Info":{"Host":`).text(m.Machine).raw(`,"Total Cores":`).int(m.Slots.V).
		raw(`,"Log Urls":{},"Attributes":{},"Resources":{},"Resource Profile Id":0,"Registration Time":`).int(at).raw("}}\n")
	l.blockManager("SparkListenerBlockManagerAdded", m.Executor.V, m.Machine).raw(`,"Maximum Memory":434031820,"Timestamp":`).int(at).
		raw(`,"Maximum Onheap Memory":434031820,"Maximum Offheap Memory":0}` + "\n")
}

func (l *Writer) executorRemoved(e *synth.Event, at int64) {
	l.raw(`{"Event":"SparkListenerExecutorRemoved","Timestamp":`).int(at).raw(`,"Executor ID":`).text(e.Machine.Executor.V).
		raw(`,"Removed Reason":`).text(e.Reason).raw("}\n")
	l.blockManager("SparkListenerBlockManagerRemoved", e.Machine.Executor.V, e.Machine.Machine).raw(`,"Timestamp":`).int(at).raw("}\n")
}
