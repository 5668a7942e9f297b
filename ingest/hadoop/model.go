package hadoop

import (
	"slices"
	"strings"

	"straggler/schema"
)

// job is a MapReduce job in the terms of every history format. Times are epoch milliseconds; unknown is 0 or less.
type job struct {
	id, name, user, queue string
	version               string
	submit, launch        int64
	finish                int64
	maps, reduces         int64  // as planned
	status                string // as written in the log
	complete              bool   // the log records how the job ended
	masters               int64  // number of its application masters
	tasks                 [numKinds][]*task
	byKey                 map[taskKey]*task
	last                  *task // most recently named by an event
	settings              []schema.Setting
	caveats               []schema.Caveat
}

// kind is the kind of a task, and of the phase that it belongs to.
type kind uint8

const (
	setupTask kind = iota
	mapTask
	reduceTask
	cleanupTask
	numKinds
)

func (k kind) String() string { return [numKinds]string{"setup", "map", "reduce", "cleanup"}[k] }

type taskKey struct {
	kind  kind
	index int64
}

type task struct {
	taskKey
	scheduled int64
	hosts     []location // where its input is
	attempts  []*attempt
	byID      map[string]*attempt // once there are many
}

// location is a host, and its rack if the log has it.
type location struct{ rack, host string }

type attempt struct {
	id            string
	number        int32
	start, finish int64
	copied        int64 // when a reduce had copied its input
	sorted        int64
	location      location
	container     string
	status        schema.AttemptStatus
	reason        string
	locality      schema.Null[schema.Locality]
	speculative   schema.Null[bool]
	counters      counters
	splits        []int64 // ms spent in each n-th of the progress
	lostReason    string  // why its finished output was discarded
	order         int     // position of its first record in the log
}

func (j *job) empty() bool { return len(j.byKey) == 0 }

func (j *job) task(k taskKey) *task {
	if j.last != nil && j.last.taskKey == k {
		return j.last
	}
	t := j.byKey[k]
	if t == nil {
		t = &task{taskKey: k}
		if j.byKey == nil {
			j.byKey = map[taskKey]*task{}
		}
		j.byKey[k] = t
		j.tasks[k.kind] = append(j.tasks[k.kind], t)
	}
	j.last = t
	return t
}

// fewAttempts is the number of attempts of a task up to which they are searched one by one.
const fewAttempts = 16

// attempt finds or creates the attempt with an id: a restarted application master writes recovered ones again.
func (t *task) attempt(id string, order int) *attempt {
	if t.byID != nil {
		if a := t.byID[id]; a != nil {
			return a
		}
	} else {
		for _, a := range t.attempts {
			if a.id == id {
				return a
			}
		}
	}
	a := &attempt{id: id, status: schema.Running, order: order}
	t.attempts = append(t.attempts, a)
	switch n := len(t.attempts); {
	case n == fewAttempts+1:
		t.byID = make(map[string]*attempt, 2*n)
		for _, a := range t.attempts {
			t.byID[a.id] = a
		}
	case n > fewAttempts:
		t.byID[id] = a
	}
	return a
}

// sort sorts the tasks by index.
func (j *job) sort() {
	for _, ts := range j.tasks {
		slices.SortFunc(ts, func(a, b *task) int { return int(max(-1, min(1, a.index-b.index))) })
	}
}

// parseID splits task_<cluster>_<job>_m_000001 and attempt_…_m_000001_0 into kind, index and number.
func parseID(id []byte) (k taskKey, number int32, ok bool) {
	rest := id
	for range 3 {
		i := indexByte(rest, '_')
		if i < 0 {
			return k, 0, false
		}
		rest = rest[i+1:]
	}
	if len(rest) < 3 || rest[1] != '_' {
		return k, 0, false
	}
	switch rest[0] {
	case 'm':
		k.kind = mapTask
	case 'r':
		k.kind = reduceTask
	case 's':
		k.kind = setupTask
	case 'c':
		k.kind = cleanupTask
	default:
		return k, 0, false
	}
	rest = rest[2:]
	end := indexByte(rest, '_')
	if end < 0 {
		end = len(rest)
	}
	if k.index, ok = digits(rest[:end]); ok && end < len(rest) {
		rest = rest[end+1:]
		if end = indexByte(rest, '_'); end < 0 {
			end = len(rest)
		}
		var n int64
		n, ok = digits(rest[:end])
		number = int32(min(n, 1<<30))
	}
	return k, number, ok
}

func indexByte(b []byte, c byte) int { // ids are short: a call costs more than the search
	for i := range b {
		if b[i] == c {
			return i
		}
	}
	return -1
}

func digits[S string | []byte](s S) (int64, bool) {
	if len(s) == 0 || len(s) > 15 {
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

// kindOf parses a task type.
func kindOf(taskType []byte) (kind, bool) {
	switch string(taskType) {
	case "MAP":
		return mapTask, true
	case "REDUCE":
		return reduceTask, true
	case "SETUP", "JOB_SETUP":
		return setupTask, true
	case "CLEANUP", "JOB_CLEANUP", "TASK_CLEANUP":
		return cleanupTask, true
	}
	switch word := strings.ToUpper(string(taskType)); {
	case word == string(taskType):
		return 0, false
	default:
		return kindOf([]byte(word))
	}
}
