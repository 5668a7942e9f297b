package fit

import (
	"math"

	"straggler/stats"
)

// Fitter holds one phase as columns and fits it. It reuses its memory for the next phase and must not be used concurrently.
type Fitter struct {
	Tasks      []Task
	Rows       []int32 // the tasks that are fitted on: successful, with a body
	Part       [Parts][]float64
	Body       []float64             // of all tasks
	X          [Predictors][]float64 // of all tasks; unknown values replaced by the median
	Machines   Machines
	Regression Regression
	Outliers   OutlierComponent // how attempts are slow by themselves
	SlowStart  float64          // probability that the cold tasks of an executor are slow
	WindowS    float64          // length of the windows of time in which a machine's speed may change; 0: one window
	CPUFactor  []float64        // by machine: the processor time that it takes for the same work; nil: unknown

	coldFew        bool                  // under half of the fitted tasks are cold
	row            []int32               // the row of each task; -1 where it has none
	succeeded      map[int64]int32       // the successful attempt of a task
	y              []float64             // body / machine factor of the fitted ones, by rows
	slack          []float64             // gc / machine factor: it may have overlapped the body
	u              [Predictors][]float64 // (x − mid) / unitOf of the fitted ones
	unitOf         [Predictors]float64   // scale of the predictors of the fit
	weight         []float64             // of the fitted ones in the equations
	weighted       []float64             // the same times y, in units of unit
	prediction     []float64             // of the fitted ones, in units of unit
	residual       []float64             // ln(y / prediction) of the fitted ones
	unit           float64               // median of y
	lone           int                   // the row whose weight is loneWeight; -1: none
	loneWeight     float64
	given          Priors        // as Solve was given them
	shown          *workEvidence // by this fit; nil: not asked for yet
	machineFactor  []float64     // by local number, as Solve was given them; nil: 1
	cpu, cpuUnsure []float64     // of the fitted ones, see cpuResidual; as yet unknown where cpuScatter is
	cpuScatter     float64       // of ln(processor time); 0: not known yet
	cpuCorrelation float64       // with the residuals
	spans          []span        // of the tasks, by machine and start, see byStart
	started        []int32       // by machine: how many these are; -1: not sorted yet
	near           []Near
	tmp            []float64
}

// Load reads a phase: it splits durations, numbers the machines, finds the first tasks, and fills the columns.
func (f *Fitter) Load(tasks []Task) {
	n := len(tasks)
	f.Tasks = tasks
	f.Rows = f.Rows[:0]
	f.Body = grow(f.Body, n)
	f.row = growInts(f.row, n)
	for k := range f.Part {
		f.Part[k] = grow(f.Part[k], n)
	}
	cold := 0
	for i := range tasks {
		p, body := tasks[i].Split()
		for k := range p {
			f.Part[k][i] = p[k]
		}
		f.Body[i] = body
		f.row[i] = -1
		if tasks[i].Succeeded && body > 0 && !math.IsInf(body, 0) {
			f.row[i] = int32(len(f.Rows))
			f.Rows = append(f.Rows, int32(i))
			if tasks[i].Cold {
				cold++
			}
		}
	}
	f.coldFew = 2*cold < len(f.Rows)
	f.Machines.load(tasks, f.WindowS)
	f.started = f.started[:0]
	for k := range f.X {
		f.X[k] = grow(f.X[k], n)
	}
	for i := range tasks {
		t := &tasks[i]
		f.X[ByBytes][i], f.X[ByRecords][i], f.X[ByWritten][i], f.X[ByCPU][i] = t.Bytes, t.Records, t.Written, t.CPU
		f.X[ByRemote][i], f.X[BySpill][i], f.X[ByAway][i] = t.Remote, t.Spill, t.Away
	}
	f.Machines.markFirst(tasks, f.X[ByFirst])
	if len(f.Rows) < n {
		f.impute()
	}
}

// impute gives unsuccessful attempts the work of the successful attempt of the same task, since their own counts are partial.
func (f *Fitter) impute() {
	if f.succeeded == nil {
		f.succeeded = map[int64]int32{}
	}
	clear(f.succeeded)
	for _, i := range f.Rows {
		f.succeeded[f.Tasks[i].Index] = i
	}
	for i := range f.Tasks {
		j, ok := f.succeeded[f.Tasks[i].Index]
		if !ok || f.Tasks[i].Succeeded {
			continue
		}
		for k := ByBytes; k <= BySpill; k++ {
			f.X[k][i] = f.X[k][j]
		}
	}
}

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n, n+n/2)
	}
	return s[:n]
}

// MedianOf returns the median over the fitted tasks of the known values (not NaN), or 0 if there are none.
func (f *Fitter) MedianOf(value func(i int32) float64) float64 {
	f.tmp = f.tmp[:0]
	same := true // most parts are 0 for all
	for _, i := range f.Rows {
		if v := value(i); !math.IsNaN(v) {
			f.tmp = append(f.tmp, v)
			same = same && v == f.tmp[0]
		}
	}
	switch {
	case len(f.tmp) == 0:
		return 0
	case same:
		return f.tmp[0]
	}
	return stats.Median(f.tmp)
}

// SDOf returns the standard deviation about a median of the known values of the fitted tasks, estimated by the median absolute
// deviation and including the error of the median.
func (f *Fitter) SDOf(value func(i int32) float64, median float64) float64 {
	deviation := f.MedianOf(func(i int32) float64 { return math.Abs(value(i) - median) })
	return stats.MADScale * deviation * math.Sqrt(1+math.Pi/2/float64(max(1, len(f.Rows))))
}
