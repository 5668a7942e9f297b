package causes

import (
	"strings"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/schema"
	"straggler/schema/synth"
)

// places counts, over generated clusters, the places named by verdicts of a cause, by whether they are right.
func places(t *testing.T, cause schema.Cause, seeds int, set func(*synth.Options),
	truth func(*synth.Truth, *schema.Attempt) string) (right, wrong, silent int) {
	t.Helper()
	for seed := range uint64(seeds) {
		o := synth.Defaults()
		o.Seed = 500 + seed
		set(&o)
		_, tr, vs := generated(t, o)
		for i := range vs {
			v := &vs[i]
			if v.row.Cause != cause || v.truth.Seconds(cause) < 0.5*v.excess {
				continue
			}
			switch want := truth(tr, v.attempt); {
			case !v.row.Place.OK && want != "":
				silent++
			case v.row.Place.Or("") == want:
				right++
			default:
				wrong++
				if wrong < 3 {
					t.Logf("seed %d: attempt %d on %s of %s: place %q, want %q: %s", seed, v.attempt.AttemptID, v.attempt.Machine.V,
						v.attempt.Rack.V, v.row.Place.V, want, v.row.Evidence)
				}
			}
		}
	}
	t.Logf("%d right, %d wrong, %d silent", right, wrong, silent)
	return right, wrong, silent
}

// A rack's link, a machine's link and one slow source are distinguished; if the log has no racks, none is named.
func TestPlaceOfWaiting(t *testing.T) {
	slowLinks := func(o *synth.Options) {
		o.Shape.Sources, o.Work.NetworkBytesPer = 0.1, 50e6
		o.Cluster.Racks = 4
		o.Faults.Network.Factor = synth.Range{Low: 10, High: 25}
	}
	for _, c := range []struct {
		name  string
		set   func(*synth.Options)
		truth func(*synth.Truth, *schema.Attempt) string
	}{
		{"rack", func(o *synth.Options) { slowLinks(o); o.Faults.Network.Racks = 1 },
			func(_ *synth.Truth, a *schema.Attempt) string { return "rack " + a.Rack.V }},
		{"machines", func(o *synth.Options) { slowLinks(o); o.Faults.Network.Machines = 2 },
			func(_ *synth.Truth, a *schema.Attempt) string { return "machine " + a.Machine.V }},
		{"source", func(o *synth.Options) {
			slowLinks(o)
			o.Faults.Network.Sources, o.Faults.Network.Tasks, o.Faults.Network.Share = 1, 0.05, 0.6
		}, func(*synth.Truth, *schema.Attempt) string { return "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			right, wrong, silent := places(t, schema.Network, 6, c.set, c.truth)
			if right < 50 || wrong*20 > right || silent*3 > right {
				t.Errorf("%d places are right, %d wrong, %d not told", right, wrong, silent)
			}
		})
	}
	t.Run("without racks", func(t *testing.T) {
		_, wrong, _ := places(t, schema.Network, 2, func(o *synth.Options) { slowLinks(o); o.Faults.Network.Racks, o.Hide.Racks = 1, true },
			func(_ *synth.Truth, a *schema.Attempt) string { return "" })
		if wrong > 5 {
			t.Errorf("%d machines are blamed for their rack's link", wrong)
		}
	})
}

// If the first tasks on every machine wait equally, those on a slow machine are attributed to the machine, whose seconds
// cannot be separated from the wait's, and those elsewhere to the wait. If only the slow machine's tasks wait, for far longer
// than it slows their work, its link is the cause.
func TestSharedWaits(t *testing.T) {
	for _, shared := range []bool{true, false} {
		c := causestest.New(41, 8)
		c.Speed[3], c.Noise = 2.2, 0.05
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, c.Phase(240, 2, nil, func(t *fit.Task, body *float64) {
				t.Wait, t.Remote = 0.05, 60e6
				switch {
				case shared && t.Index < 32:
					t.Wait = 2.3
				case !shared && t.Index < 32 && t.Machine == 3:
					t.Wait = 6
				}
			}))
		}
		var slow, others int
		for _, r := range attributeAll(phases) {
			task := find(phases, r.AttemptID)
			if r.Rank != 1 || task.Wait < 2 {
				continue
			}
			want := schema.Network
			if task.Machine != 3 {
				others++
			} else if slow++; shared {
				want = schema.BadMachine
			}
			if r.Cause != want {
				t.Errorf("shared %v: task %d on machine %d waited %g of %.2f s: %s, want %s", shared, task.Index, task.Machine, task.Wait, task.Duration, r.Cause, want)
			}
		}
		if slow < 20 || shared && others < 100 {
			t.Fatalf("shared %v: %d outliers on the slow machine that waited, %d elsewhere", shared, slow, others)
		}
	}
}

// Tasks on five machines wait for blocks of a sixth, whose own messages queue behind these: its tasks start late, and its
// first ones get their code late. All of that is attributed to the network at that machine, even if another one, which runs
// two tasks, is late by chance. If all tasks wait and two machines are late, if the late machine also computes slowly, if its
// messages are mostly late by less than the cost of a lost packet, or if no task waits, delays are not attributed to a link
// and no machine is named.
func TestSlowSender(t *testing.T) {
	for _, c := range []struct {
		name               string
		wait, speed        float64
		late               int64   // machines from 0 that are late
		least              float64 // by at least this much, and mostly by at most twice as much
		delay              float64
		delayed, elsewhere schema.Cause
		// on machine 5 tasks wait this many times as long, so that it runs two, and are delayed for 0.7 s
		longer float64
		named  bool
	}{
		{"slow uplink", 2, 1, 1, 0.5, 2.5, schema.Network, schema.Network, 0, true},
		{"slow uplink, and a machine with two tasks", 2, 1, 1, 0.5, 2.5, schema.Network, schema.Network, 30, true},
		{"two machines are late", 2, 1, 2, 0.5, 2.5, schema.Scheduler, schema.Network, 0, false},
		{"the machine is slow", 2, 2.5, 1, 0.5, 2.5, "", schema.Network, 0, false},
		{"its messages are hardly late", 2, 1, 1, 0.08, 2.5, schema.Scheduler, schema.Network, 0, false},
		{"no wait", 0, 1, 1, 0.5, 2.5, schema.Scheduler, "", 0, false},
	} {
		cluster := causestest.New(71, 6)
		cluster.Slots = 2
		cluster.Speed[0] = c.speed
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, cluster.Phase(60, 1, nil, func(t *fit.Task, body *float64) {
				t.Remote = 1e6
				late := t.Machine < c.late
				if t.Wait = c.wait * (0.8 + 0.4*cluster.Rng.Float64()); t.Index%10 == 9 && !late {
					t.Wait *= 3
				}
				if c.longer > 0 && t.Machine == 5 {
					t.Delay, t.Wait = 0.7, c.longer*t.Wait
				}
				if late {
					t.Delay, t.Wait = c.least*(1+cluster.Rng.Float64()), t.Wait/2
					switch {
					case t.Index < 12:
						t.Convert = c.delay
					case t.Index%3 == 0:
						t.Delay = c.delay + t.Wait
					}
				}
			}))
		}
		l := model.NewLearner(3600, []string{"m0", "m1", "m2", "m3", "m4", "m5"}, nil)
		for _, p := range phases {
			l.Observe(p)
		}
		a := NewAttributor(l.Model())
		var delayed, elsewhere, first int
		for _, p := range phases {
			for _, r := range a.Attribute(p, nil) {
				task := find(phases, r.AttemptID)
				if r.Rank != 1 {
					continue
				}
				want := schema.Cause("")
				switch {
				case task.Delay >= c.delay:
					want, delayed = c.delayed, delayed+1
				case task.Machine >= c.late && task.Wait > 1.5*c.wait:
					want, elsewhere = c.elsewhere, elsewhere+1
				case task.Convert == c.delay && c.named:
					want, first = schema.Network, first+1
					if strings.Contains(r.Evidence, "queued behind") && !strings.Contains(r.Evidence, "its code came over that link too and took 2.50 s; that of the median first task took 5 ms") {
						t.Errorf("task %d: %s", task.Index, r.Evidence)
					}
				}
				named := r.Place.V == "machine m0" && r.Cause == schema.Network
				if want != "" && r.Cause != want || named != (want != "" && c.named) {
					t.Errorf("%s: task %d on m%d: %s at %q, want %s: %s", c.name, task.Index, task.Machine, r.Cause, r.Place.V, want, r.Evidence)
				}
			}
		}
		if delayed < 3 || c.wait > 0 && elsewhere < 20 || c.named && first < 6 {
			t.Errorf("%s: %d outliers that were delayed, %d that waited, %d first ones", c.name, delayed, elsewhere, first)
		}
	}
}
