package workload

import (
	"strings"

	"straggler/schema"
)

// NoTime is an unknown instant.
const NoTime = int64(-1 << 63)

// LoggedAttempt has the fields of an attempt of a log that a replay needs.
type LoggedAttempt struct {
	ID       schema.Key
	Phase    schema.Key
	Task     int64
	Start    int64 // µs since 1970, NoTime where unknown
	Finish   int64
	Bytes    int64 // input bytes, -1 where unknown
	Records  int64
	Machine  int32 // index into Rows.Names, -1 where unknown
	Executor int32
	Number   int32
	Ending   Ending
	Local    Nearness
	reports  Curve
	Copy     bool // the log calls it speculative
	Again    bool // the log calls it a recomputation
	cold     bool // its executor was
	Measured Measured
}

// Measured is what the log measured of an attempt besides its input, in seconds and bytes; NaN if unknown.
type Measured struct {
	Wait    float32
	GC      float32
	Delay   float32
	Convert float32
	CPU     float32
	Remote  float32
	Written float32
	Spill   float32
}

// Ending is how an attempt ended.
type Ending uint8

const (
	Succeeded Ending = iota
	Failed           // failed, lost: the task is tried again
	Killed
	Unended // the log stops before its end
)

// Nearness is whether an attempt ran where its data was.
type Nearness uint8

const (
	NoLocality Nearness = iota // unknown, or the task had no preference
	Near
	Far
)

// Rows are the rows of a log that a replay needs.
type Rows struct {
	Applications []schema.Application
	Settings     []schema.Setting
	Jobs         []schema.Job
	Phases       []schema.Phase
	Edges        []schema.Edge
	Machines     []schema.Machine
	Factors      []float64 // of machines by index into Names, where they are known and need not be learnt
	Attempts     []LoggedAttempt
	Losses       []schema.Loss
	Names        []string // machines and executors

	First, Last int64 // earliest start and latest start or end of all attempts, where these are loaded in batches

	byName    map[string]int32
	points    []Point               // reports of progress
	outputs   map[schema.Key]int64  // bytes of attempts' outputs, where the log lost any
	remade    map[schema.Key]bool   // attempts that made a lost one again
	reporting int                   // the attempt that reports came of last
	programs  map[schema.Key]string // names of applications, by job
}

// Intern returns the index of a name.
func (r *Rows) Intern(name string) int32 {
	if i, ok := r.byName[name]; ok {
		return i
	}
	if r.byName == nil {
		r.byName = map[string]int32{}
	}
	i := int32(len(r.Names))
	name = strings.Clone(name)
	r.Names = append(r.Names, name)
	r.byName[name] = i
	return i
}

// Forget removes the attempts, for those of another batch.
func (r *Rows) Forget() {
	r.Attempts, r.points, r.reporting = r.Attempts[:0], nil, 0
	clear(r.outputs)
}

func (r *Rows) internNull(name schema.Null[string]) int32 {
	if !name.OK {
		return -1
	}
	return r.Intern(name.V)
}
