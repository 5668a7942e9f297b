package synth

import (
	"cmp"
	"math"
	"slices"
)

// Copies by Spark's rule (TaskSetManager.checkSpeculatableTasks): when a share of the tasks has succeeded, a running task whose
// age is over multiplier × the median of the successful durations is copied, once, on another machine, if no other task waits.
// Checks are at multiples of the interval; those that could find nothing are omitted.

// speed is the distribution of a submission's durations so far.
type speed struct {
	durations median
	lookAt    int64 // the next queued check; 0 = none
	copies    []copyRequest
}

// copyRequest is a task that is to be copied.
type copyRequest struct {
	original ref
	since    int64
}

// addDuration adds the duration of a success.
func (s *sim) addDuration(r *run, lived int64) {
	if s.o.Speculation == nil || r.over {
		return
	}
	r.speed.durations.add(lived)
	s.planLook(r)
}

// threshold returns the age in milliseconds over which a task is copied; ok is false if too few have finished.
func (s *sim) threshold(r *run) (age int64, ok bool) {
	p := s.o.Speculation
	n := int(r.row.TaskCount.V)
	if n < 2 || r.speed.durations.len() < max(1, int(math.Floor(p.Quantile*float64(n)))) {
		return 0, false
	}
	return int64(max(p.Multiplier*r.speed.durations.value(), 1000*p.LeastS)), true
}

// planLook queues the first check that can find a slow task.
func (s *sim) planLook(r *run) {
	age, ok := s.threshold(r)
	if !ok || r.over {
		return
	}
	for r.head < len(r.live) && (!s.alive(r.live[r.head]) || s.slab[r.live[r.head].at].marked) {
		r.head++
	}
	if r.head == len(r.live) {
		return
	}
	step := int64(1000 * s.o.Speculation.IntervalS)
	first := max(s.slab[r.live[r.head].at].start+age+1, s.now+1)
	at := s.start + (first-s.start+step-1)/step*step
	if r.speed.lookAt > s.now && r.speed.lookAt <= at {
		return
	}
	r.speed.lookAt = at
	s.queue.push(event{at: at, kind: lookForSlow, run: r})
}

// lookForSlow marks the slow tasks of a submission.
func (s *sim) lookForSlow(r *run) {
	age, ok := s.threshold(r)
	if !ok || r.over {
		return
	}
	r.speed.lookAt = 0
	for _, l := range r.live[r.head:] {
		if !s.alive(l) || s.slab[l.at].marked {
			continue
		}
		a := &s.slab[l.at]
		if s.now-a.start <= age {
			break
		}
		a.marked = true
		r.speed.copies = append(r.speed.copies, copyRequest{l, s.now})
	}
	if len(r.speed.copies) > 0 && !slices.Contains(s.slow, r) {
		s.slow = append(s.slow, r)
		slices.SortFunc(s.slow, func(a, b *run) int {
			return cmp.Or(cmp.Compare(a.stage.id, b.stage.id), cmp.Compare(a.number, b.number))
		})
	}
	s.planLook(r)
}

// launchCopy starts one copy if there is a slot for one, and reports whether it did.
func (s *sim) launchCopy() bool {
	for i := 0; i < len(s.slow); i++ {
		r := s.slow[i]
		r.speed.copies = slices.DeleteFunc(r.speed.copies, func(w copyRequest) bool { return r.over || !s.alive(w.original) })
		if len(r.speed.copies) == 0 {
			s.slow = slices.Delete(s.slow, i, i+1)
			i--
			continue
		}
		for k, w := range r.speed.copies {
			original := &s.slab[w.original.at]
			at := s.slotElsewhere(s.execs[original.exec].machine)
			if at < 0 {
				continue
			}
			x := s.free[at]
			s.occupy(at)
			r.speed.copies = slices.Delete(r.speed.copies, k, k+1)
			r.recordTry(original.task, original.row.Number)
			s.launch(r, original.task, x, w.since, w.original)
			return true
		}
	}
	return false
}

// slotElsewhere returns a free slot on another machine, -1 if there is none.
func (s *sim) slotElsewhere(m *machine) int {
	first := s.drawSlot()
	for i := range s.free {
		at := (first + i) % len(s.free)
		if s.execs[s.free[at]].machine != m {
			return at
		}
	}
	return -1
}

// median is a running median: the lower half of the values in a heap with the largest on top, the upper half with the
// smallest on top. The lower half has as many values as the upper, or one more.
type median struct{ lower, upper []int64 } // lower holds negated values, so that both are heaps with the least on top

func (m *median) len() int { return len(m.lower) + len(m.upper) }

func (m *median) add(v int64) {
	if len(m.lower) == 0 || v <= -m.lower[0] {
		heapPush(&m.lower, -v)
	} else {
		heapPush(&m.upper, v)
	}
	switch {
	case len(m.lower) > len(m.upper)+1:
		heapPush(&m.upper, -heapPop(&m.lower))
	case len(m.upper) > len(m.lower):
		heapPush(&m.lower, -heapPop(&m.upper))
	}
}

func (m *median) value() float64 {
	if len(m.lower) > len(m.upper) {
		return float64(-m.lower[0])
	}
	return float64(m.upper[0]-m.lower[0]) / 2
}

func heapPush(h *[]int64, v int64) {
	*h = append(*h, v)
	a := *h
	for i := len(a) - 1; i > 0 && a[(i-1)/2] > a[i]; i = (i - 1) / 2 {
		a[i], a[(i-1)/2] = a[(i-1)/2], a[i]
	}
}

func heapPop(h *[]int64) int64 {
	a := *h
	top, n := a[0], len(a)-1
	a[0] = a[n]
	a = a[:n]
	for i := 0; ; {
		least := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < n && a[c] < a[least] {
				least = c
			}
		}
		if least == i {
			break
		}
		a[i], a[least] = a[least], a[i]
		i = least
	}
	*h = a
	return top
}
