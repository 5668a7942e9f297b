package schedule

import (
	"cmp"
	"math"
	"slices"

	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Fair divides the slots of each class among pools, and a pool's among its jobs, by max-min fairness with minimum
// guarantees (FAIR §3). A free slot goes to the pool farthest below its guarantee, when none is to the pool farthest
// below its share, and there to the job farthest below its own.
//
// Slots come to a starved pool as tasks end. When one has been below its guarantee for tmin, or a job below its share
// for tfair, attempts of jobs above their share are killed, the last started first, and no job is brought below its
// share (FAIR §3.2). A time of 0 kills nothing.
type Fair struct {
	Tmin  float64 `option:"tmin" unit:"s" doc:"how long a pool may lack its minimum share before others are killed; 0: for ever"`
	Tfair float64 `option:"tfair" unit:"s" doc:"the same for a job and its fair share; 0: for ever"`
}

type fair struct {
	Fair
	class [workload.Classes]shares
	queue []int32 // of each job
	order []int32 // pools
	turns []int64
	list  []victim
}

// shares holds the shares of a class of slots.
type shares struct {
	pools   []poolShare
	jobs    []jobShare // by job
	claims  []Claim
	parts   []int
	members []int32 // jobs by pool
	first   []int32 // of each pool's members, and one past the last
	stale   bool
	ready   bool
}

type poolShare struct {
	share, demand, running int
	least                  int         // the smaller of its guarantee and its demand
	starved                replay.Time // since when it has less; −1: it has
}

type jobShare struct {
	share, demand int
	starved       replay.Time
}

func (f *fair) begin(c *replay.Cluster) {
	f.queue = make([]int32, c.NumJobs())
	for j := range f.queue {
		f.queue[j] = c.Queue(int32(j))
	}
	for k := range f.class {
		s := &f.class[k]
		s.ready, s.stale = true, true
		s.pools, s.jobs = make([]poolShare, len(c.Queues())), make([]jobShare, c.NumJobs())
		for q := range s.pools {
			s.pools[q].starved = -1
		}
		for j := range s.jobs {
			s.jobs[j].starved = -1
		}
	}
}

// see records whose demand has changed in a way that changes shares: when it falls below the share, or rises after having been
// met.
func (f *fair) see(c *replay.Cluster, changes []replay.Change) {
	if !f.class[0].ready {
		f.begin(c)
	}
	for n := range changes {
		x := &changes[n]
		switch x.What {
		case replay.SlotAdded, replay.SlotRemoved:
			f.class[0].stale, f.class[1].stale = true, true
			continue
		case replay.AttemptStarted:
			f.class[c.Class(x.Phase)].pools[f.queue[x.Job]].running++
		case replay.AttemptEnded, replay.AttemptKilled:
			f.class[c.Class(x.Phase)].pools[f.queue[x.Job]].running--
		}
		for k := range f.class {
			s := &f.class[k]
			if s.stale {
				continue
			}
			job, demand := &s.jobs[x.Job], demandOf(c, x.Job, workload.Class(k))
			s.stale = demand < job.share || job.share == job.demand && demand > job.demand
		}
	}
}

func demandOf(c *replay.Cluster, job int32, class workload.Class) int {
	return c.Wants(job, class) + c.JobRunning(job, class)
}

// divide recomputes the shares of a class if they may have changed.
func (f *fair) divide(c *replay.Cluster, class workload.Class) *shares {
	s := &f.class[class]
	if !s.stale {
		return s
	}
	s.stale = false
	f.group(c, class)
	s.claims = s.claims[:0]
	for q := range s.pools {
		p := &s.pools[q]
		p.demand = 0
		for _, j := range s.members[s.first[q]:s.first[q+1]] {
			s.jobs[j].demand = demandOf(c, j, class)
			p.demand += s.jobs[j].demand
		}
		least := int(c.Queues()[q].Min[class])
		p.least = min(least, p.demand)
		s.claims = append(s.claims, Claim{Min: least, Demand: p.demand})
	}
	s.parts = Shares(c.Slots(class), s.claims, s.parts[:0])
	for q, share := range s.parts {
		s.pools[q].share = share
	}
	for q := range s.pools {
		s.among(s.members[s.first[q]:s.first[q+1]], s.pools[q].share)
	}
	return s
}

// group lists the jobs that have not ended by their pools, those of a pool in order of submission.
func (f *fair) group(c *replay.Cluster, class workload.Class) {
	s := &f.class[class]
	n := len(s.pools)
	s.first = slices.Grow(s.first[:0], n+1)[:n+1]
	clear(s.first)
	jobs := c.Jobs()
	for _, j := range jobs {
		s.first[f.queue[j]]++
	}
	at := int32(0)
	for q := range s.first {
		at, s.first[q] = at+s.first[q], at
	}
	s.members = slices.Grow(s.members[:0], len(jobs))[:len(jobs)]
	for _, j := range jobs {
		q := f.queue[j]
		s.members[s.first[q]] = j
		s.first[q]++
	}
	copy(s.first[1:], s.first)
	s.first[0] = 0
}

// among divides the share of a pool among its jobs.
func (s *shares) among(jobs []int32, share int) {
	s.claims = s.claims[:0]
	for _, j := range jobs {
		s.claims = append(s.claims, Claim{Demand: s.jobs[j].demand})
	}
	s.parts = Shares(share, s.claims, s.parts[:0])
	for n, j := range jobs {
		s.jobs[j].share = s.parts[n]
	}
}

// before reports whether the jobs of pool a are served before those of pool b.
func (s *shares) before(a, b int32) bool {
	p, q := &s.pools[a], &s.pools[b]
	if x, y := max(p.least-p.running, 0), max(q.least-q.running, 0); x != y {
		return x > y
	}
	if x, y := p.share-p.running, q.share-q.running; x != y {
		return x > y
	}
	return a < b
}

func (f *fair) first(c *replay.Cluster, class workload.Class) int32 {
	s := f.divide(c, class)
	best, pool, most := int32(-1), int32(0), 0
	for q := range int32(len(s.pools)) {
		if best >= 0 && !s.before(q, pool) {
			continue
		}
		found := false
		for _, j := range s.members[s.first[q]:s.first[q+1]] {
			if c.Wants(j, class) == 0 {
				continue
			}
			if lack := s.jobs[j].share - c.JobRunning(j, class); !found || lack > most {
				best, pool, most, found = j, q, lack, true
			}
		}
	}
	return best
}

func (f *fair) jobs(c *replay.Cluster, class workload.Class, to []int32) []int32 {
	s := f.divide(c, class)
	f.order = f.order[:0]
	for q := range int32(len(s.pools)) {
		if s.first[q] < s.first[q+1] {
			f.order = append(f.order, q)
		}
	}
	slices.SortFunc(f.order, func(a, b int32) int {
		switch {
		case a == b:
			return 0
		case s.before(a, b):
			return -1
		}
		return 1
	})
	for _, q := range f.order {
		f.turns = f.turns[:0]
		for n, j := range s.members[s.first[q]:s.first[q+1]] {
			if c.Wants(j, class) > 0 { // what it lacks above, its place below: numbers sort fastest
				f.turns = append(f.turns, int64(c.JobRunning(j, class)-s.jobs[j].share)<<32|int64(n))
			}
		}
		slices.Sort(f.turns)
		for _, t := range f.turns {
			to = append(to, s.members[s.first[q]+int32(t&math.MaxUint32)])
		}
	}
	return to
}

// victim is an attempt of a job above its share.
type victim struct {
	job, phase int32
	running    replay.Running
}

func (f *fair) kill(c *replay.Cluster) replay.Time {
	if f.Tmin <= 0 && f.Tfair <= 0 {
		return 0
	}
	again := replay.Time(0)
	for k := range workload.Class(workload.Classes) {
		lack, at := f.starved(c, k)
		again = earlier(again, at)
		if lack > 0 {
			f.makeRoom(c, k, lack)
		}
	}
	return again
}

// starved counts the slots of a class that pools and jobs have lacked for too long, and returns when the next one will have.
func (f *fair) starved(c *replay.Cluster, class workload.Class) (lack int, again replay.Time) {
	s, now := f.divide(c, class), c.Now()
	due := func(since *replay.Time, missing int, after float64) int {
		switch {
		case after <= 0:
		case missing <= 0:
			*since = -1
		case *since < 0:
			*since = now
			again = earlier(again, now+replay.Seconds(after))
		case now-*since < replay.Seconds(after):
			again = earlier(again, *since+replay.Seconds(after))
		default:
			*since = now // and again after as long
			again = earlier(again, now+replay.Seconds(after))
			return missing
		}
		return 0
	}
	for q := range s.pools {
		lack += due(&s.pools[q].starved, s.pools[q].least-s.pools[q].running, f.Tmin)
	}
	fairly := 0
	for _, j := range c.Jobs() {
		fairly += due(&s.jobs[j].starved, min(s.jobs[j].share-c.JobRunning(j, class), c.JobWaiting(j, class)), f.Tfair)
	}
	return max(lack, fairly), again
}

// makeRoom kills a number of attempts of jobs above their share, the last started first.
func (f *fair) makeRoom(c *replay.Cluster, class workload.Class, lack int) {
	s := &f.class[class]
	f.list = f.list[:0]
	for _, j := range c.Jobs() {
		if c.JobRunning(j, class) <= s.jobs[j].share {
			continue
		}
		for _, ph := range c.Phases(j) {
			if c.Class(ph) != class {
				continue
			}
			for _, r := range c.Running(ph) {
				f.list = append(f.list, victim{j, ph, r})
			}
		}
	}
	slices.SortFunc(f.list, func(a, b victim) int {
		return cmp.Or(cmp.Compare(b.running.Start, a.running.Start), cmp.Compare(a.phase, b.phase),
			cmp.Compare(a.running.Task, b.running.Task), cmp.Compare(a.running.Number, b.running.Number))
	})
	lack -= c.Idle(class)
	for n := range f.list {
		if lack <= 0 {
			return
		}
		if v := &f.list[n]; c.JobRunning(v.job, class) > s.jobs[v.job].share && c.Kill(v.phase, v.running) {
			lack--
		}
	}
}
