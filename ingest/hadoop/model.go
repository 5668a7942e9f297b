package hadoop

import (
	"sort"
	"strings"

	"straggler/schema"
)

// job is a MapReduce job as any of the history formats tells it. Times are epoch milliseconds; unknown is 0 or less.
type job struct {
	id, name, user, queue string
	version               string
	submit, launch        int64
	finish                int64
	status                string // the log's own word
	complete              bool   // the log says how the job ended
	tasks                 map[taskKey]*task
	settings              []schema.Setting
	caveats               []schema.Caveat
}

type kind string

const (
	mapTask     kind = "map"
	reduceTask  kind = "reduce"
	setupTask   kind = "setup"
	cleanupTask kind = "cleanup"
)

var kinds = []kind{setupTask, mapTask, reduceTask, cleanupTask}

type taskKey struct {
	kind  kind
	index int64
}

type task struct {
	taskKey
	scheduled int64
	hosts     []place // where its input lies
	attempts  []*attempt
	byID      map[string]*attempt
}

// place is a host, and its rack where the log says it.
type place struct{ rack, host string }

type attempt struct {
	id            string
	number        int32
	start, finish int64
	mapEnd        int64 // anchors of progress: end of the map function, of shuffle, of sort
	shuffleEnd    int64
	sortEnd       int64
	place         place
	container     string
	status        schema.AttemptStatus
	reason        string
	locality      schema.Null[schema.Locality]
	speculative   schema.Null[bool]
	counters      counters
	splits        []int64 // ms spent in each n-th of the progress
	lostReason    string  // why its finished output was given up
	order         int     // position of its first record in the log
}

// counters are what the log counts of an attempt.
type counters struct {
	known                                       bool
	read, written                               schema.Null[int64] // file systems but the local one
	mapInput                                    schema.Null[int64] // bytes of the split, in old logs
	shuffle                                     schema.Null[int64]
	outputMaterialized, outputBytes             schema.Null[int64]
	localWritten                                schema.Null[int64]
	inputRecords, spilledRecords, reduceRecords schema.Null[int64]
	cpuMillis, gcMillis                         schema.Null[int64]
	physicalMemory                              schema.Null[int64]
}

func (j *job) task(k taskKey) *task {
	t := j.tasks[k]
	if t == nil {
		t = &task{taskKey: k, byID: map[string]*attempt{}}
		if j.tasks == nil {
			j.tasks = map[taskKey]*task{}
		}
		j.tasks[k] = t
	}
	return t
}

// attempt finds or makes the attempt of an id: an application master that was restarted writes recovered ones again.
func (t *task) attempt(id string, order int) *attempt {
	a := t.byID[id]
	if a == nil {
		a = &attempt{id: id, status: schema.Running, order: order}
		t.byID[id] = a
		t.attempts = append(t.attempts, a)
	}
	return a
}

// sortedTasks are the tasks of a kind by index.
func (j *job) sortedTasks(k kind) []*task {
	var ts []*task
	for _, t := range j.tasks {
		if t.kind == k {
			ts = append(ts, t)
		}
	}
	sort.Slice(ts, func(a, b int) bool { return ts[a].index < ts[b].index })
	return ts
}

// set records a counter by its name in any spelling that Hadoop has used: case, spaces, '-', '_' and '.' are
// one (Rumen matches them so too). The first name that a job's version writes wins.
func (c *counters) set(name string, v int64) {
	c.known = true
	n := counterName(name)
	switch n {
	case "fileblocksread":
		return
	case "filebytesread":
		return
	case "filebyteswritten":
		c.localWritten = schema.Some(v)
	case "mapinputbytes":
		c.mapInput = schema.Some(v)
	case "mapinputrecords":
		c.inputRecords = schema.Some(v)
	case "reduceinputrecords":
		c.reduceRecords = schema.Some(v)
	case "reduceshufflebytes":
		c.shuffle = schema.Some(v)
	case "mapoutputmaterializedbytes":
		c.outputMaterialized = schema.Some(v)
	case "mapoutputbytes":
		c.outputBytes = schema.Some(v)
	case "spilledrecords":
		c.spilledRecords = schema.Some(v)
	case "cpumilliseconds", "cputimespentms", "cputimespent(ms)":
		c.cpuMillis = schema.Some(v)
	case "gctimemillis", "gctimeelapsedms", "gctimeelapsed(ms)":
		c.gcMillis = schema.Some(v)
	case "physicalmemorybytes", "physicalmemory(bytes)snapshot":
		c.physicalMemory = schema.Some(v)
	default:
		if strings.HasSuffix(n, "bytesread") {
			c.read = schema.Some(c.read.Or(0) + v)
		} else if strings.HasSuffix(n, "byteswritten") {
			c.written = schema.Some(c.written.Or(0) + v)
		}
	}
}

func counterName(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' || c == '-' || c == '_' || c == '.':
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// parseID splits task_<cluster>_<job>_m_000001 and attempt_…_m_000001_0 into kind, index and number.
func parseID(id string) (k kind, index int64, number int32, ok bool) {
	parts := strings.Split(id, "_")
	if len(parts) < 5 {
		return "", 0, 0, false
	}
	switch parts[3] {
	case "m":
		k = mapTask
	case "r":
		k = reduceTask
	case "s":
		k = setupTask
	case "c":
		k = cleanupTask
	default:
		return "", 0, 0, false
	}
	index, ok = digits(parts[4])
	if ok && len(parts) > 5 {
		var n int64
		n, ok = digits(parts[5])
		number = int32(min(n, 1<<30))
	}
	return k, index, number, ok
}

func digits(s string) (int64, bool) {
	if s == "" || len(s) > 15 {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// kindOf reads a task type; setup and cleanup tasks carry map ids in the old history.
func kindOf(taskType string, fromID kind) kind {
	switch strings.ToUpper(taskType) {
	case "MAP":
		return mapTask
	case "REDUCE":
		return reduceTask
	case "SETUP", "JOB_SETUP":
		return setupTask
	case "CLEANUP", "JOB_CLEANUP", "TASK_CLEANUP":
		return cleanupTask
	}
	return fromID
}
