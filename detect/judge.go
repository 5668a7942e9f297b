package detect

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
)

// stageTasks judges the attempts of one stage after another, reusing its memory.
type stageTasks struct {
	part   *part
	stored *storedRows

	buf        []byte
	rows       taskRows // of an execution
	past       taskRows // of the executions that others are compared with: each by task
	candidates []candidate
	details    []candidateDetail
	keys       []int64
	sorter     keySorter
	column     []float64

	executions              []pastExecution // that have tasks others are compared with
	at                      []int32         // by place: index + 1 of the one of them at that place, or 0
	seconds, bytes, records history
	usual, factor           float64 // of the task in seconds, by its own history
	found                   []foundSlow
}

// pastExecution locates the tasks of an execution in stageTasks.past.
type pastExecution struct {
	from, to int32
	dense    bool // it has each task from 0 on exactly once
}

// candidate is what is compared of an attempt of candidates.sql. Most candidates turn out not to be slow, and are visited task
// by task, in another order than they are read: the fewer bytes, the more of a stage stays in the processor's cache.
type candidate struct {
	d         float64
	task      int64
	execution int32 // of the stage
	place     int32 // of that execution, or 0 if the task is not a partition and has no history of its own
}

// candidateDetail is the rest of a candidate; NaN is unknown.
type candidateDetail struct {
	attempt        int64
	bytes, records float64
}

// addCandidate adds an attempt. Its place is that of its execution, if its task is a partition.
func (s *stageTasks) addCandidate(c candidate, isPartition bool, detail candidateDetail) {
	if !isPartition {
		c.place = 0
	}
	s.candidates, s.details = append(s.candidates, c), append(s.details, detail)
}

// resetCandidates discards the candidates, but keeps the memory.
func (s *stageTasks) resetCandidates() {
	s.candidates, s.details = s.candidates[:0], s.details[:0]
}

// foundSlow is a candidate that is slow.
type foundSlow struct {
	execution int
	slow      slowAttempt
}

// judge finds the attempts of a stage's executions that are slow compared with the others. Those of a task are judged in the
// order of executions, since each is compared with nearly the same times as the previous one.
func (s *stageTasks) judge(stage []timedExecution) error {
	if err := s.read(stage); err != nil {
		return err
	}
	s.find(stage)
	s.keys = s.keys[:0]
	for i := range s.found {
		s.keys = append(s.keys, int64(s.found[i].execution))
	}
	slow := make([]slowAttempt, 0, len(s.found))
	for _, i := range s.sorter.order(s.keys) {
		e := &stage[s.found[i].execution]
		slow = append(slow, s.found[i].slow)
		from := len(slow) - len(e.slow) - 1
		e.slow = slow[from:len(slow):len(slow)]
	}
	for i := range stage {
		if slow := stage[i].slow; !slices.IsSortedFunc(slow, bySlowAttempt) {
			slices.SortFunc(slow, bySlowAttempt)
		}
	}
	return nil
}

// find finds the slow ones among the candidates, task by task, and within a task in the order of executions.
func (s *stageTasks) find(stage []timedExecution) {
	s.keys = s.keys[:0]
	for i := range s.candidates {
		s.keys = append(s.keys, s.candidates[i].task)
	}
	s.setPlaces(stage, true)
	defer s.setPlaces(stage, false)
	s.seconds.begin(s.past.duration)
	s.bytes.begin(s.past.bytes)
	s.records.begin(s.past.records)
	s.found, s.usual = s.found[:0], math.NaN()
	for _, i := range s.sorter.order(s.keys) {
		if slow, ok := s.judgeOne(i, stage); ok {
			s.found = append(s.found, foundSlow{int(s.candidates[i].execution), slow})
		}
	}
}

// setPlaces records in s.at the places of the executions that have tasks others are compared with, or clears it.
func (s *stageTasks) setPlaces(stage []timedExecution, known bool) {
	if n := int(stage[len(stage)-1].place) + 1; n > len(s.at) {
		s.at = append(s.at, make([]int32, n-len(s.at))...)
	}
	s.executions = s.executions[:0]
	for k := range stage {
		e := &stage[k]
		if s.at[e.place] = 0; known && e.from < e.to {
			s.executions = append(s.executions, pastExecution{int32(e.from), int32(e.to), e.dense})
			s.at[e.place] = int32(len(s.executions))
		}
	}
}

// read collects the candidates of a stage's executions, and the tasks of the executions that others are compared with.
func (s *stageTasks) read(stage []timedExecution) error {
	s.resetCandidates()
	s.past.reset()
	for k := range stage {
		e := &stage[k]
		e.from = s.past.len()
		switch {
		case e.scanned == nil:
			for _, at := range s.stored.of[e.phase] {
				s.take(k, e, &s.stored.rows, at[0], at[1])
			}
		case e.past:
			s.rows.reset()
			if err := s.part.file.readTimes(&e.scanned.times, &s.rows, &s.buf); err != nil {
				return err
			}
			s.take(k, e, &s.rows, 0, s.rows.len())
		case e.mayHaveCandidates():
			packed, err := s.part.file.readPacked(&e.scanned.times, &s.buf)
			if err != nil {
				return err
			}
			s.takeCandidates(k, e, &packed)
		}
		if e.past {
			s.orderPast(e)
		}
	}
	return nil
}

// take keeps the candidates among some rows of the k-th execution, and, if others are compared with it, the tasks that
// succeeded and took time.
func (s *stageTasks) take(k int, e *timedExecution, rows *taskRows, from, to int) {
	if e.mayHaveCandidates() {
		for i := from; i < to; i++ {
			if d, mark := rows.duration[i], rows.mark[i]; e.isCandidate(d, mark) {
				s.addCandidate(candidate{d, rows.task[i], int32(k), int32(e.place)}, mark&timeNoPartition == 0,
					candidateDetail{rows.attempt[i], rows.bytes[i], rows.records[i]})
			}
		}
	}
	if !e.past {
		return
	}
	p := &s.past
	for i := from; i < to; i++ {
		if d := rows.duration[i]; schema.IsDuration(d) && d > 0 && (len(rows.mark) == 0 || rows.mark[i]&timeSucceeded != 0) {
			p.task = append(p.task, rows.task[i])
			p.duration, p.bytes, p.records = append(p.duration, d), append(p.bytes, rows.bytes[i]), append(p.records, rows.records[i])
		}
	}
}

// takeCandidates keeps the candidates among the rows of the k-th execution, which no other is compared with.
func (s *stageTasks) takeCandidates(k int, e *timedExecution, rows *packedTimes) {
	for i := range rows.rows {
		if d, mark := rows.duration.at(i), rows.mark(i); e.isCandidate(d, mark) {
			s.addCandidate(candidate{d, rows.task.at(i), int32(k), int32(e.place)}, mark&timeNoPartition == 0,
				candidateDetail{rows.attempt.at(i), rows.bytes.at(i), rows.records.at(i)})
		}
	}
}

// orderPast sorts the tasks of an execution that others are compared with.
func (s *stageTasks) orderPast(e *timedExecution) {
	p := &s.past
	e.to = p.len()
	tasks := p.task[e.from:]
	if !slices.IsSorted(tasks) {
		order := s.sorter.order(tasks)
		s.keys = s.keys[:0]
		for _, i := range order {
			s.keys = append(s.keys, tasks[i])
		}
		copy(tasks, s.keys)
		for _, column := range [][]float64{p.duration[e.from:], p.bytes[e.from:], p.records[e.from:]} {
			s.column = s.column[:0]
			for _, i := range order {
				s.column = append(s.column, column[i])
			}
			copy(column, s.column)
		}
	}
	e.dense = true
	for i, t := range tasks {
		e.dense = e.dense && t == int64(i)
	}
}

// judgeOne reports whether the i-th candidate is slow compared with its own history, or else that of its stage;
// slower_than_usual.sql has the formulas.
func (s *stageTasks) judgeOne(i int32, stage []timedExecution) (slowAttempt, bool) {
	c := &s.candidates[i]
	byTask := false
	if c.place > 0 {
		if s.extend(&s.seconds, c.task, int64(c.place)) {
			s.usual = math.NaN() // not known yet
		}
		byTask = len(s.seconds.sorted) >= 3
	}
	if byTask && !s.mayExceedOwn(c.d) {
		return slowAttempt{}, false
	}
	own := &stage[c.execution]
	usual, factor := s.usual, s.factor
	if !byTask {
		usual, factor = own.usualS, own.factor()
	}
	ticks := 2 * own.tickS
	if c.d <= usual*factor || c.d <= usual+ticks {
		return slowAttempt{}, false
	}
	if work := s.workRatio(i, byTask, own); c.d <= usual*work*factor || c.d <= usual*work+ticks {
		return slowAttempt{}, false
	}
	return slowAttempt{s.details[i].attempt, c.d / usual, c.d - usual, slowerThanUsual}, true
}

// mayExceedOwn returns false if a duration is within what is usual by the history of its task, of at least three times. Else
// it sets s.usual and s.factor.
func (s *stageTasks) mayExceedOwn(d float64) bool {
	// The usual time is at least the 25th percentile and so the time at the rank below it.
	times := s.seconds.sorted
	if !(schema.OutlierRatio*times[(len(times)-1)/4] < d) {
		return false
	}
	if !math.IsNaN(s.usual) {
		return true
	}
	n := float64(len(times))
	p10, p25, p50 := quantileOf(times, 0.1), quantileOf(times, 0.25), quantileOf(times, 0.5)
	if d <= leastLimit(n, p10, p25, p50) {
		return false
	}
	spread := max(math.Log(p25/p10)/0.6071, 0.01)
	s.usual, s.factor = min(p50, p25*math.Exp(0.6745*spread)), factorOf(n, spread*math.Sqrt(1+1/n))
	return true
}

// factor returns how much longer than usual a task of the execution may take by chance, by the history of its stage.
func (e *timedExecution) factor() float64 {
	n, sd := float64(e.compared), 0.0
	if of := math.Sqrt(e.withinRun*e.withinRun + e.betweenRuns*e.betweenRuns*(1+1/n)); !math.IsNaN(of) {
		sd = of
	}
	return factorOf(n, sd)
}

// workRatio returns the input of the i-th candidate over the usual one, where that has grown, else 1.
func (s *stageTasks) workRatio(i int32, byTask bool, own *timedExecution) float64 {
	detail := &s.details[i]
	for _, input := range [...]struct {
		of    float64
		past  *history
		stage float64
	}{{detail.bytes, &s.bytes, own.usualBytes}, {detail.records, &s.records, own.usualRecords}} {
		if math.IsNaN(input.of) {
			continue
		}
		usual := orNull(input.stage)
		if byTask {
			s.extend(input.past, s.candidates[i].task, own.place)
			usual = schema.Null[float64]{OK: len(input.past.sorted) > 0}
			if usual.OK {
				usual.V = quantileOf(input.past.sorted, 0.5)
			}
		}
		if r := ratioOf(input.of, usual); r.OK {
			return max(1, r.V)
		}
	}
	return 1
}

// leastLimit returns a lower bound of usual × factor for a task with n earlier times, usually close to it, computed without the
// logarithm and the exponentials: ln q ≥ 2(q−1)/(q+1) for q ≥ 1, and exp x ≥ 1 + x + x²/2 for x ≥ 0. Rounding errors are far
// under 1e-9.
func leastLimit(n, p10, p25, p50 float64) float64 {
	q := p25 / p10
	spread := max(2*(q-1)/((q+1)*0.6071), 0.01)
	x, y := 0.6745*spread, normalFactor(n)*spread
	return min(p50, p25*(1+x+x*x/2)) * max(schema.OutlierRatio, 1+y+y*y/2) * (1 - 1e-9)
}

// normalFactor returns the largest number of standard deviations by which a time exceeds the usual one by chance, if the
// deviation is known from n times.
func normalFactor(n float64) float64 { return 2.33 + 3.73/(n-1) + 5.72/((n-1)*(n-1)) }

// factorOf returns how much longer than usual a task may take by chance: sd is the deviation of one more value, in logarithms.
func factorOf(n, sd float64) float64 {
	return max(schema.OutlierRatio, math.Exp(normalFactor(n)*sd))
}

// history is a figure of a task in earlier executions of its stage.
type history struct {
	of           []float64 // the figure of all tasks
	task         int64
	stride, next int64     // of the places of the executions with known figures
	sorted       []float64 // in ascending order, if known
	places       []int32   // of the executions of these figures
}

func (h *history) begin(of []float64) { h.of, h.stride = of, 0 }

// follow changes the history to that of a task by a stride. If it has the same task with a longer stride, which is a multiple,
// some of the figures are kept.
func (h *history) follow(task, stride int64) {
	n := 0
	if h.stride > 0 && h.task == task && stride > h.stride {
		for i, place := range h.places {
			if (int64(place)-1)%stride == 0 {
				h.sorted[n], h.places[n] = h.sorted[i], place
				n++
			}
		}
		h.next = 1 + (h.next+stride-2)/stride*stride
	} else {
		h.next = 1
	}
	h.task, h.stride, h.sorted, h.places = task, stride, h.sorted[:n], h.places[:n]
}

// extend changes the history to that of a task as the execution at a place is compared with it, and reports whether it was
// another. Candidates of a task arrive in the order of executions.
func (s *stageTasks) extend(h *history, task, place int64) (changed bool) {
	if stride := strideAt(place); h.stride != stride || h.task != task {
		h.follow(task, stride)
		changed = true
	}
	for ; h.next < place; h.next += h.stride {
		k := s.at[h.next]
		if k == 0 {
			continue
		}
		e := &s.executions[k-1]
		if n := int64(e.to - e.from); e.dense {
			if 0 <= task && task < n {
				h.add(h.of[int64(e.from)+task], h.next)
			}
		} else {
			tasks := s.past.task[e.from:e.to]
			for i, _ := slices.BinarySearch(tasks, task); int64(i) < n && tasks[i] == task; i++ {
				h.add(h.of[int(e.from)+i], h.next)
			}
		}
		changed = true
	}
	return changed
}

// add inserts the figure of an execution among the others, if it is known.
func (h *history) add(v float64, place int64) {
	if math.IsNaN(v) {
		return
	}
	h.sorted, h.places = append(h.sorted, v), append(h.places, int32(place))
	sorted, places := h.sorted, h.places[:len(h.sorted)]
	i := len(sorted) - 1
	for ; i > 0 && sorted[i-1] > v; i-- {
		sorted[i], places[i] = sorted[i-1], places[i-1]
	}
	sorted[i], places[i] = v, int32(place)
}

// keySorter sorts rows by key, stably.
type keySorter struct{ rows, starts []int32 }

// order returns the places of keys in sorted order. It uses a counting sort for small numbers, which tasks mostly have.
func (s *keySorter) order(keys []int64) []int32 {
	s.rows = slices.Grow(s.rows[:0], len(keys))[:len(keys)]
	if len(keys) == 0 {
		return s.rows
	}
	most := slices.Max(keys)
	if slices.Min(keys) < 0 || most > int64(16*len(keys)+1024) {
		for i := range s.rows {
			s.rows[i] = int32(i)
		}
		slices.SortFunc(s.rows, func(i, j int32) int { return cmp.Or(cmp.Compare(keys[i], keys[j]), cmp.Compare(i, j)) })
		return s.rows
	}
	s.starts = slices.Grow(s.starts[:0], int(most)+2)[:most+2]
	clear(s.starts)
	for _, k := range keys {
		s.starts[k+1]++
	}
	for k := range s.starts[1:] {
		s.starts[k+1] += s.starts[k]
	}
	for i, k := range keys {
		s.rows[s.starts[k]] = int32(i)
		s.starts[k]++
	}
	return s.rows
}

// ratioOf returns a / b, or NULL if a value is unknown or b is 0.
func ratioOf(a float64, b schema.Null[float64]) schema.Null[float64] {
	return schema.Null[float64]{V: a / b.V, OK: !math.IsNaN(a) && b.OK && b.V != 0}
}

func orNaN(v schema.Null[float64]) float64 {
	if !v.OK {
		return math.NaN()
	}
	return v.V
}
