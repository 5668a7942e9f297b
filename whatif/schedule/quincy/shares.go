package quincy

// divide computes how many slots each job must and may have, and sets the capacities that distinguish the four modes (§4.3):
//
//	fair         exactly its share: max-min fair shares of all slots, between the minimum and the maximum of the job
//	not fair     anything between its minimum and its maximum
//	no preemption   in either case at least what it runs, as that cannot be taken back
//
// If the minimum shares together exceed the cluster, they are reduced, the largest first.
func (s *Scheduler) divide() {
	s.unshared = false
	w := &s.shares
	w.low, w.high, w.jobs = w.low[:0], w.high[:0], w.jobs[:0]
	for j := range s.jobs {
		if b := &s.jobs[j]; b.live {
			low := 0
			if !s.o.Preempt {
				low = b.running
			}
			w.jobs = append(w.jobs, int32(j))
			w.low = append(w.low, low)
			w.high = append(w.high, max(low, min(b.share.Min, b.tasks)))
		}
	}
	w.fill(s.usable)
	for k, j := range w.jobs {
		b := &s.jobs[j]
		b.least = w.got[k]
		b.most = b.tasks
		if b.share.Max > 0 {
			b.most = max(b.least, min(b.share.Max, b.tasks))
		}
		w.low[k], w.high[k] = b.least, b.most
	}
	if s.o.Fair {
		w.fill(s.usable)
		for k, j := range w.jobs {
			s.jobs[j].least, s.jobs[j].most = w.got[k], w.got[k]
		}
	}
	for _, j := range w.jobs {
		b := &s.jobs[j]
		s.setUnscheduled(b, b.tasks-b.most, b.most-b.least)
	}
}

// shares is the working memory of divide.
type shares struct {
	jobs           []int32
	low, high, got []int // of each
}

// fill divides slots so that the smallest part is as large as possible, then the next, each within its bounds. The remainder of
// equal parts goes to the jobs in order. The lower bounds are met even if there are too few slots for them.
func (w *shares) fill(slots int) {
	at := func(level int) (sum int) {
		for k := range w.low {
			sum += min(max(level, w.low[k]), w.high[k])
		}
		return sum
	}
	level, over := 0, slots+1 // at level everything fits; at over it does not, or all have their maximum
	for over-level > 1 {
		if mid := (level + over) / 2; at(mid) <= slots {
			level = mid
		} else {
			over = mid
		}
	}
	left := slots - at(level)
	w.got = w.got[:0]
	for k := range w.low {
		part := min(max(level, w.low[k]), w.high[k])
		if more := min(max(level+1, w.low[k]), w.high[k]); more > part && left > 0 {
			part, left = more, left-1
		}
		w.got = append(w.got, part)
	}
}
