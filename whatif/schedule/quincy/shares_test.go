package quincy

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
)

// A division by level is max-min fair: every part is within its bounds, no slot that a job wants is left over, and no job has
// more than one slot more than a job that wants more, unless that is its minimum. Remaining slots go to the first jobs.
func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var w shares
		lows, wanted := 0, 0
		for range 1 + r.IntN(8) {
			low := r.IntN(4)
			high := low + r.IntN(12)
			w.low, w.high = append(w.low, low), append(w.high, high)
			lows, wanted = lows+low, wanted+high
		}
		slots := lows + r.IntN(30)
		w.fill(slots)
		sum := 0
		for k, n := range w.got {
			sum += n
			if n < w.low[k] || n > w.high[k] {
				t.Fatalf("%+v of %d slots: part %d out of bounds", w, slots, k)
			}
			for i, m := range w.got {
				if n > w.low[k] && m < w.high[i] && (n > m+1 || n > m && k > i) {
					t.Fatalf("%+v of %d slots: %d has more than %d, which wants more", w, slots, k, i)
				}
			}
		}
		if sum != min(slots, wanted) {
			t.Fatalf("%+v: %d of %d slots", w, sum, slots)
		}
	}
}

// Slots are removed: with preemption the tasks there are preempted, without it they stay until they end. A returned task waits
// again and is started again.
func TestSlotsAndReturns(t *testing.T) {
	for _, preempt := range []bool{false, true} {
		s, err := New(Cluster{Rack: []int{0}, Slots: []int{2}}, Options{Fair: true, Preempt: preempt})
		if err != nil {
			t.Fatal(err)
		}
		j := s.AddJob(Share{})
		first, second := s.AddTask(j, Input{}), s.AddTask(j, Input{})
		check := func(want ...Change) {
			t.Helper()
			got, err := s.Schedule()
			if err != nil {
				t.Fatal(err)
			}
			if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Errorf("preempt %v: %v, want %v", preempt, got, want)
			}
		}
		check(Change{Start, first, 0}, Change{Start, second, 0})
		s.Return(first)
		check(Change{Start, first, 0})
		s.SetSlots(0, 0)
		if !preempt {
			check()
			s.Return(second)
			check()
			if s.Load(0) != 1 || s.Waiting() != 1 {
				t.Errorf("%d run and %d wait", s.Load(0), s.Waiting())
			}
			continue
		}
		check(Change{Preempt, first, 0}, Change{Preempt, second, 0})
		s.SetSlots(0, 2)
		machineDown(s, 0)
		check()
		s.SetSlots(0, 2)
		check(Change{Start, first, 0}, Change{Start, second, 0})
	}
}

// Without fair shares a task waits for a slot near its data as long as waiting costs less than moving the data: 1 GB from
// another machine of the rack costs 1, which is two seconds of waiting at 0.5.
func TestWaitsForItsData(t *testing.T) {
	s, err := New(Cluster{Rack: []int{0, 0}, Slots: []int{1, 1}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Bytes: 1e9, Machines: []Part{{0, 1e9}}}
	j := s.AddJob(Share{})
	s.AddTask(j, in)
	late := s.AddTask(j, in)
	started := -1.0
	for now := 0.0; now < 5 && started < 0; now += 0.125 {
		s.Advance(now)
		changes, err := s.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.Machine == 1 {
				started = now
			}
		}
	}
	if started < 2 || started > 2.25 {
		t.Errorf("task %d or the other went elsewhere after %g s", late, started)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		c Cluster
		o Options
	}{
		{Cluster{}, Options{}},
		{Cluster{Rack: []int{0}, Slots: []int{1, 2}}, Options{}},
		{Cluster{Rack: []int{-1}, Slots: []int{1}}, Options{}},
		{Cluster{Rack: []int{0}, Slots: []int{-1}}, Options{}},
		{Cluster{Rack: []int{0}, Slots: []int{1}}, Options{Prices: Prices{Wait: -1}}},
	} {
		if _, err := New(c.c, c.o); err == nil {
			t.Errorf("%+v %+v: no error", c.c, c.o)
		}
	}
	s, err := New(Cluster{Rack: []int{0}, Slots: []int{1}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(2)
	s.Advance(1)
	if _, err := s.Schedule(); !errors.Is(err, ErrTime) {
		t.Errorf("time goes backwards: %v", err)
	}
}

// machineDown removes a machine and the tasks that ran there.
func machineDown(s *Scheduler, m int) {
	for t := range s.tasks {
		if s.tasks[t].on == int32(m) {
			s.Return(Task(t))
		}
	}
	s.SetSlots(m, 0)
}
