package causes

import "math"

// bench holds one phase as columns, and all that fitting it needs. It is used again for the next phase.
type bench struct {
	tasks []Task
	rows  []int32         // the tasks that are fitted on: successful, with a body
	rowOf []int32         // the row of each task; -1 where it has none
	twin  map[int64]int32 // the successful attempt of a task
	part  [nParts][]float64
	body  []float64             // of all tasks
	x     [predictors][]float64 // of all tasks; unknown values replaced by the median
	first []float64
	y     []float64             // body / machine factor of the fitted ones, by rows
	slack []float64             // collecting / machine factor: it may have overlapped the body
	u     [predictors][]float64 // (x − mid) / scale of the fitted ones
	f     []float64
	r     []float64 // ln(y / prediction) of the fitted ones
	tmp   []float64
	unit  float64 // median of y: the unit of f
	local machines
	fit   fit
	known []float64 // factor of each machine, by local number, as solve was given it; nil: 1
	heard []hearing // by machine, see hearsay
	own   slowness  // how attempts are slow by themselves
	cpuOf []float64 // by machine: the processor time that it takes for the same work; nil: not known

	started [][]int32 // by machine: its tasks by start, see byStart
}

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n, n+n/2)
	}
	return s[:n]
}

// load takes a phase: splits durations, numbers its machines, finds who came first, and fills the columns.
func (b *bench) load(tasks []Task) {
	n := len(tasks)
	b.tasks = tasks
	b.rows = b.rows[:0]
	b.body = grow(b.body, n)
	b.rowOf = growInts(b.rowOf, n)
	for k := range b.part {
		b.part[k] = grow(b.part[k], n)
	}
	for i := range tasks {
		p, body := tasks[i].parts()
		for k := range p {
			b.part[k][i] = p[k]
		}
		b.body[i] = body
		b.rowOf[i] = -1
		if tasks[i].Succeeded && body > 0 && !math.IsInf(body, 0) {
			b.rowOf[i] = int32(len(b.rows))
			b.rows = append(b.rows, int32(i))
		}
	}
	b.local.load(tasks)
	for k := range b.started {
		b.started[k] = b.started[k][:0]
	}
	b.first = grow(b.first, n)
	b.local.first(tasks, b.first)
	for k := range b.x {
		b.x[k] = grow(b.x[k], n)
	}
	for i := range tasks {
		t := &tasks[i]
		b.x[byBytes][i], b.x[byRecords][i], b.x[byWritten][i], b.x[byCPU][i] = t.Bytes, t.Records, t.Written, t.CPU
		b.x[byRemote][i], b.x[bySpill][i], b.x[byAway][i] = t.Remote, t.Spill, t.Away
	}
	copy(b.x[byFirst], b.first)
	if len(b.rows) < n {
		b.lend()
	}
}

// lend gives attempts that did not succeed the work of the attempt that did: their own counts stop where they stopped.
func (b *bench) lend() {
	if b.twin == nil {
		b.twin = map[int64]int32{}
	}
	clear(b.twin)
	for _, i := range b.rows {
		b.twin[b.tasks[i].Index] = i
	}
	for i := range b.tasks {
		j, ok := b.twin[b.tasks[i].Index]
		if !ok || b.tasks[i].Succeeded {
			continue
		}
		for k := byBytes; k <= bySpill; k++ {
			b.x[k][i] = b.x[k][j]
		}
	}
}
