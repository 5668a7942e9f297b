package causes

import (
	"encoding/json"
	"strings"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/schema"
)

// pausedPhases returns phases in which the tasks of machine 2 occasionally collect for 4 s; spoil says how tasks elsewhere that
// run meanwhile wait for its blocks, given whether they do.
func pausedPhases(seed uint64, spoil func(t *fit.Task, meanwhile bool)) []*fit.Phase {
	c := causestest.New(seed, 6)
	var phases []*fit.Phase
	for range 6 {
		var from, to schema.Time
		phases = append(phases, c.Phase(240, 2, nil, func(t *fit.Task, body *float64) {
			if t.Machine == 2 && t.Index >= 120 && t.Index < 144 {
				t.GC = 4
				if from == 0 {
					from = t.Start.V
				}
				to = t.Start.V.Add(*body + t.GC)
			}
			end := t.Start.V.Add(*body)
			spoil(t, t.Machine != 2 && from != 0 && t.Start.V.Add(2) < to && end > from.Add(1))
		}))
	}
	return phases
}

// Tasks are as long as those in which machine 2 collects: half of a phase's other tasks end before the collection begins, and
// do not wait. Its time follows from those that wait.
func TestWaitForAPauseInShortPhases(t *testing.T) {
	c := causestest.New(37, 6)
	c.Slots = 2
	n := 0
	var phases []*fit.Phase
	for range 6 {
		phases = append(phases, c.Phase(34, 2, nil, func(t *fit.Task, body *float64) {
			t.Remote = 1e5
			switch {
			case t.Machine == 2 && t.Index < 12:
				t.GC = 2.8
			case t.Index >= 12 && t.Index < 22:
				t.Wait = 2.5
			}
		}))
	}
	for _, r := range attributeAll(phases) {
		if task := find(phases, r.AttemptID); r.Rank == 1 && task.Wait > 0 {
			if n++; r.Cause != schema.GC {
				t.Errorf("task %d on machine %d waited %g s: %s", task.Index, task.Machine, task.Wait, r.Cause)
			}
		}
	}
	if n < 50 {
		t.Fatalf("%d outliers that waited", n)
	}
}

// More than a third of the tasks that do not wait for a collection run during it. In one cluster they began before it and had
// their blocks by then; in the other they begin when it nearly ends, and most waits take a tenth of a second, as their bytes
// do. In a third cluster the machine collects again, and one of the tasks that begin meanwhile waits: that is no evidence
// about the first collection.
func TestWaitForAPauseBesideOthers(t *testing.T) {
	for _, c := range []struct {
		name               string
		tasks              int
		body, early, short float64 // early: by how much task 0 is shorter
		wait, gc           float64
		again              bool
	}{
		{"they had their blocks", 36, 2, 1, 0, 1.4, 2.1, false},
		{"short waits", 45, 1.4, 0.4, 0.1, 1.2, 2.9, false},
		{"it collects again", 60, 2, 1, 0, 1.4, 2.1, true},
	} {
		cluster := causestest.New(38, 6)
		cluster.Slots = 2
		n := 0
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, cluster.Phase(c.tasks, c.body, nil, func(t *fit.Task, body *float64) {
				t.Remote = 1.3e6
				switch {
				case t.Machine == 2 && (t.Index < 12 || c.again && t.Index >= 24 && t.Index < 36):
					t.GC = c.gc
				case c.again && t.Index == 40:
					t.Wait = c.wait
				case t.Index == 0:
					*body -= c.early
				case t.Index < 12:
				case t.Index >= 12 && t.Index < 22:
					t.Wait = c.wait
				case t.Index >= 33:
					t.Wait = c.short
				}
			}))
		}
		for _, r := range attributeAll(phases) {
			if task := find(phases, r.AttemptID); r.Rank == 1 && task.Wait == c.wait && task.Index < 36 {
				if n++; r.Cause != schema.GC {
					t.Errorf("%s: task %d on machine %d waited %g s: %s", c.name, task.Index, task.Machine, task.Wait, r.Cause)
				}
			}
		}
		if n < 40 {
			t.Fatalf("%s: %d outliers that waited", c.name, n)
		}
	}
}

// Machine 2 collects late in its tasks, when four of those that begin wait for it. Eight that began before waited as long as
// their bytes take: they do not show when it collected. The tasks on three machines began before it too, and had their
// blocks.
func TestShortWaitsBeforeAPause(t *testing.T) {
	cluster := causestest.New(39, 6)
	cluster.Slots, cluster.Noise = 2, 0.02
	n := 0
	var phases []*fit.Phase
	for range 6 {
		phases = append(phases, cluster.Phase(26, 1, nil, func(t *fit.Task, body *float64) {
			t.Remote = 5e6
			switch {
			case t.Index < 12 && t.Machine == 2:
				t.GC = 2.1
				*body = 4.5
			case t.Index < 12 && t.Machine < 4:
				*body = 5.9
			case t.Index >= 12 && t.Index < 20:
				t.Wait = 0.35
			case t.Index >= 20 && t.Index < 24:
				t.Wait = 1.4
			}
		}))
	}
	for _, r := range attributeAll(phases) {
		if task := find(phases, r.AttemptID); r.Rank == 1 && task.Wait == 1.4 {
			if n++; r.Cause != schema.GC {
				t.Errorf("task %d on machine %d: %s", task.Index, task.Machine, r.Cause)
			}
		}
	}
	if n < 20 {
		t.Fatalf("%d outliers that waited", n)
	}
}

// Tasks that wait for blocks while another machine collects wait for its process, which is gc there; the same waits at any
// time are due to the network.
func TestWaitForAPause(t *testing.T) {
	for _, link := range []bool{false, true} {
		n := 0
		phases := pausedPhases(31, func(t *fit.Task, meanwhile bool) {
			t.Wait, t.Remote = 0.01, 20e6
			if t.Machine != 2 && (!link && meanwhile && t.Index%4 == 0 || link && t.Index%7 == 0) {
				t.Wait = 3
			}
		})
		l := model.NewLearner(3600, []string{"m0", "m1", "m2", "m3", "m4", "m5"}, nil)
		for _, p := range phases {
			l.Observe(p)
		}
		a := NewAttributor(l.Model())
		var rows []schema.Attribution
		for _, p := range phases {
			rows = a.Attribute(p, rows)
		}
		for _, r := range rows {
			task := find(phases, r.AttemptID)
			if r.Rank != 1 || task.Wait < 3 {
				continue
			}
			n++
			want, place := schema.GC, "machine m2"
			if link {
				want, place = schema.Network, ""
			}
			if r.Cause != want || r.Place.V != place && !link {
				t.Errorf("slow link %v: task %d on machine %d waited %g s: %s at %q, want %s", link, task.Index, task.Machine, task.Wait, r.Cause, r.Place.V, want)
			}
		}
		if n < 20 {
			t.Fatalf("slow link %v: %d outliers that waited", link, n)
		}
	}
}

// Waits that coincide with a collection elsewhere are still due to the network if something else says so. Each case has one
// such reason, and waits that are real pauses where it needs them.
func TestWaitsThatAreNoPause(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *fit.Task, meanwhile bool)
		wait  float64 // of the tasks in question
	}{
		{"the tasks of the machine that collects wait as long", func(t *fit.Task, meanwhile bool) {
			if t.GC == 4 {
				t.Wait = 6
			} else if meanwhile {
				t.Wait = 3.5
			}
		}, 3.5},
		{"the others on the waiting machine wait anyway", func(t *fit.Task, meanwhile bool) {
			if t.Machine == 4 && t.Index%2 == 0 {
				t.Wait = 3.5
			} else if t.Machine != 4 && meanwhile {
				t.Wait = 3
			}
		}, 3.5},
		{"the machine collects all the time", func(t *fit.Task, _ bool) {
			if t.Machine == 2 {
				t.GC = 2
			} else if t.Index%9 == 0 {
				t.Wait = 3
			}
		}, 3},
		{"most machines collect at that time", func(t *fit.Task, _ bool) {
			if in := t.Index >= 120 && t.Index < 168; in && t.Index%2 == 0 {
				t.GC = 4
			} else if t.GC = 0; in {
				t.Wait = 3
			}
		}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			phases := pausedPhases(36, func(t *fit.Task, meanwhile bool) {
				t.Wait, t.Remote = 0.01, 20e6
				c.spoil(t, meanwhile)
			})
			n := 0
			for _, r := range attributeAll(phases) {
				if task := find(phases, r.AttemptID); r.Rank == 1 && task.Wait == c.wait {
					if n++; r.Cause != schema.Network {
						t.Errorf("task %d on machine %d waited %g s: %s", task.Index, task.Machine, c.wait, r.Cause)
					}
				}
			}
			if n < 20 {
				t.Fatalf("%d outliers that waited", n)
			}
		})
	}
}

// A task launched on a machine whose process collects starts late: that is gc. Delays at any time are due to the scheduler.
func TestLaunchedIntoAPause(t *testing.T) {
	for _, driver := range []bool{false, true} {
		c := causestest.New(32, 6)
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, c.Phase(240, 2, nil, func(t *fit.Task, body *float64) {
				if t.Machine == 2 && t.Index >= 120 && t.Index < 144 {
					if t.GC = 4; t.Index%2 == 0 {
						t.GC, t.Delay = 0, 4
					}
				}
				if driver && t.Index%9 == 0 && t.Machine != 2 {
					t.Delay = 4
				}
			}))
		}
		n := 0
		for _, r := range attributeAll(phases) {
			task := find(phases, r.AttemptID)
			if r.Rank != 1 || task.Delay < 4 {
				continue
			}
			n++
			want := schema.GC
			if driver {
				want = schema.Scheduler
			}
			if r.Cause != want {
				t.Errorf("driver %v: task %d on machine %d: %s, want %s", driver, task.Index, task.Machine, r.Cause, want)
			}
		}
		if n < 6 {
			t.Fatalf("driver %v: %d outliers that were delayed", driver, n)
		}
	}
}

// Tasks launched while their process collects start late. A delay of half a second, or of 0.12 s, may be due to the
// collection; one of 40 ms is as long as a message takes, whatever is collected meanwhile.
func TestShortDelaysInAPause(t *testing.T) {
	for _, c := range []struct {
		delay float64
		pause bool
	}{{0.5, true}, {0.12, true}, {0.04, false}} {
		cluster := causestest.New(32, 6)
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, cluster.Phase(240, 0.05, nil, func(t *fit.Task, body *float64) {
				if t.Machine == 2 && t.Index >= 120 && t.Index < 144 {
					if t.GC = 0.6; t.Index%2 == 0 {
						t.GC, t.Delay = 0, c.delay+0.01
					}
				}
			}))
		}
		n := 0
		for _, r := range attributeAll(phases) {
			task := find(phases, r.AttemptID)
			if task.Delay < c.delay || r.Rank != 1 {
				continue
			}
			n++
			if (r.Cause == schema.GC) != c.pause {
				t.Errorf("a delay of %g s is %s", c.delay, r.Cause)
			}
		}
		if n < 6 {
			t.Errorf("%d outliers that were delayed by %g s", n, c.delay)
		}
	}
}

// A tenth of a second of waiting for 30 or 200 kB is not due to a link; the same for 30 MB is.
func TestShortWaits(t *testing.T) {
	for _, bytes := range []float64{30e3, 200e3, 30e6} {
		c := causestest.New(33, 6)
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, c.Phase(120, 0.15, nil, func(t *fit.Task, body *float64) {
				t.Bytes, t.Remote, t.Wait = bytes, bytes, 0.002
				if t.Index%20 == 19 {
					t.Wait = 0.15
				}
			}))
		}
		n := 0
		for _, r := range attributeAll(phases) {
			if task := find(phases, r.AttemptID); r.Rank != 1 || task.Wait < 0.1 {
				continue
			}
			n++
			if network := r.Cause == schema.Network; network != (bytes > 1e6) {
				t.Errorf("%g bytes: %s, %s", bytes, r.Cause, r.Evidence)
			}
		}
		if n < 20 {
			t.Fatalf("%d outliers that waited", n)
		}
	}
}

// An input of 1.1 times the median does not explain 1.6 times the duration if tasks vary by a fifth: that variation is not
// due to the input.
func TestSlightlyLargerInputs(t *testing.T) {
	c := causestest.New(34, 6)
	c.Noise = 0.22
	n := 0
	var phases []*fit.Phase
	for range 6 {
		phases = append(phases, c.Phase(120, 2, func(i int) float64 { return 0.85 + 0.03*float64(i%11) }, nil))
	}
	for _, r := range attributeAll(phases) {
		if r.Rank == 1 {
			if n++; r.Cause == schema.DataSkew {
				t.Errorf("task %d: %s", find(phases, r.AttemptID).Index, r.Evidence)
			}
		}
	}
	if n < 10 {
		t.Fatalf("%d outliers", n)
	}
}

// If the first tasks of a phase on every machine load its code, that is startup; if all tasks occasionally deserialize for
// long, it is not.
func TestFirstConversions(t *testing.T) {
	for _, first := range []bool{true, false} {
		c := causestest.New(35, 6)
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, c.Phase(240, 2, nil, func(t *fit.Task, body *float64) {
				if first && t.Index < 24 || !first && t.Index%8 == 0 {
					t.Convert = 3
				}
			}))
		}
		n := 0
		for _, r := range attributeAll(phases) {
			if r.Rank != 1 {
				continue
			}
			n++
			want := schema.Deserialize
			if first {
				want = schema.Startup
			}
			var e Evidence
			if err := json.Unmarshal([]byte(r.Evidence), &e); err != nil {
				t.Fatal(err)
			}
			if r.Cause != want || !strings.Contains(e.Text, "3.00 s") {
				t.Errorf("first %v: task %d: %s, %s", first, find(phases, r.AttemptID).Index, r.Cause, e.Text)
			}
		}
		if n < 50 {
			t.Fatalf("%d outliers", n)
		}
	}
}

// A machine that is 1.7 times as slow handles messages late and converts slowly. Delays too short for the scheduler, or for
// large variables, are attributed to the machine there, and so is the share of its factor in the loading time of its first
// tasks. On a machine like the others they are attributed to the attempt itself, and to its start.
func TestLateMessagesOfASlowMachine(t *testing.T) {
	for _, slow := range []bool{true, false} {
		c := causestest.New(40, 6)
		if slow {
			c.Speed[2] = 1.7
		}
		n := map[schema.Cause]int{}
		var phases []*fit.Phase
		for range 8 {
			phases = append(phases, c.Phase(240, 0.2, nil, func(t *fit.Task, body *float64) {
				if t.Machine != 2 {
					return
				}
				switch {
				case t.Index < 24:
					t.Convert = 0.19
				case t.Index%3 == 0:
					t.Delay = 0.19
				case t.Index%3 == 1:
					t.Convert = 0.19
				}
			}))
		}
		for _, r := range attributeAll(phases) {
			if task := find(phases, r.AttemptID); r.Rank == 1 && task.Machine == 2 && (task.Delay > 0.1 || task.Convert > 0.1) {
				n[r.Cause]++
			}
		}
		if all := n[schema.BadMachine] + n[schema.Transient] + n[schema.Startup]; all < 50 || slow != (n[schema.BadMachine] == all) {
			t.Errorf("slow machine %v: %v", slow, n)
		}
	}
}

// A task whose process collects while it waits for blocks waits for that: a stopped process accepts none. A wait as long
// during which it collects for a fifth of the time is due to the network.
func TestCollectionsOfOneThatWaits(t *testing.T) {
	for _, c := range []struct {
		gc   float64
		want schema.Cause
	}{{2, schema.GC}, {0.4, schema.Network}} {
		cluster := causestest.New(41, 6)
		n := 0
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, cluster.Phase(240, 1, nil, func(t *fit.Task, body *float64) {
				if t.Wait, t.Remote = 0.01, 20e6; t.Index%31 == 30 {
					t.Wait, t.GC = 2.2, c.gc
					*body -= c.gc
				}
			}))
		}
		for _, r := range attributeAll(phases) {
			if task := find(phases, r.AttemptID); r.Rank == 1 && task.Wait > 2 {
				if n++; r.Cause != c.want {
					t.Errorf("collected for %g s: %s, %s", c.gc, r.Cause, r.Evidence)
				}
			}
		}
		if n < 30 {
			t.Errorf("%d outliers that waited", n)
		}
	}
}
