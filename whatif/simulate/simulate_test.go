package simulate_test

import (
	"context"
	"reflect"
	"regexp"
	"testing"

	"straggler/whatif/simulate"
	"straggler/whatif/workload"
)

// simulated runs the first seed of an example and gives its runs by scheduler and policy, in order.
func simulated(t *testing.T, name string) []simulate.Result {
	t.Helper()
	w, err := simulate.Example(name)
	if err != nil {
		t.Fatal(err)
	}
	return runsOf(t, w)
}

func runsOf(t *testing.T, w *workload.File) []simulate.Result {
	t.Helper()
	w.Seeds = 1
	s, err := simulate.Run(context.Background(), w, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Runs
}

// lossless returns the example of losses without them.
func lossless(t *testing.T) []simulate.Result {
	t.Helper()
	text, err := simulate.ExampleText("losses")
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^  losses:\n.*\n`).ReplaceAll(text, nil)
	w, err := simulate.Parse("losses.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Cluster.Losses) > 0 {
		t.Fatal("there are losses still")
	}
	return runsOf(t, w)
}

// Every example is read and runs, under all its schedulers and policies the same jobs, and again to the same.
func TestExamples(t *testing.T) {
	for _, w := range simulate.Examples() {
		t.Run(w.Name, func(t *testing.T) {
			runs := simulated(t, w.Name)
			for _, r := range runs {
				x := &r.Run
				if x.Jobs != runs[0].Run.Jobs || x.Tasks != runs[0].Run.Tasks || x.Jobs == 0 {
					t.Errorf("%s + %s: %d jobs of %d tasks; the first has %d of %d", x.Scheduler, x.Policy, x.Jobs, x.Tasks,
						runs[0].Run.Jobs, runs[0].Run.Tasks)
				}
				if !(x.MedianS <= x.P95S && x.P95S <= x.MakespanS && x.MeanS <= x.MakespanS && x.MeanS > 0) {
					t.Errorf("%s + %s: median %v s, mean %v s, 95 %% %v s of %v s in all", x.Scheduler, x.Policy, x.MedianS, x.MeanS, x.P95S, x.MakespanS)
				}
				if x.NodeLocal.OK && !(x.NodeLocal.V >= 0 && x.NodeLocal.V <= x.RackLocal.V && x.RackLocal.V <= 1) {
					t.Errorf("%s + %s: %v ran on a machine with their data, %v in a rack with it", x.Scheduler, x.Policy, x.NodeLocal.V, x.RackLocal.V)
				}
				if x.WastedSlotS < 0 || x.WastedSlotS > x.TotalSlotS {
					t.Errorf("%s + %s: %v of %v slot seconds wasted", x.Scheduler, x.Policy, x.WastedSlotS, x.TotalSlotS)
				}
			}
			if again := simulated(t, w.Name); !reflect.DeepEqual(runs, again) {
				t.Error("two runs differ")
			}
		})
	}
}

// What the papers say of the workloads holds in them.
func TestExamplesShowWhatTheyAreFor(t *testing.T) {
	of := func(runs []simulate.Result, scheduler, policy string) *simulate.Result {
		for i := range runs {
			if runs[i].Run.Scheduler == scheduler && runs[i].Run.Policy == policy {
				return &runs[i]
			}
		}
		t.Fatalf("there is no run of %s + %s", scheduler, policy)
		return nil
	}
	runs := simulated(t, "batch") // FAIR §5.3: 300 s with FIFO, 400 s with fair sharing
	if fifo, fair := of(runs, "fifo", "none").Run.MakespanS, of(runs, "fair", "none").Run.MakespanS; fifo != 300 || fair != 400 {
		t.Errorf("batch: %v s with fifo, %v s with fair; FAIR §5.3 says 300 and 400", fifo, fair)
	}
	// FAIR table 3, jobs of 3 maps: 2 % on a machine with their data, 75 % with delay scheduling
	runs = simulated(t, "small-jobs")
	if fair, delay := of(runs, "fair", "none").Run.NodeLocal.V, of(runs, "delay t1=15 t2=15", "none").Run.NodeLocal.V; fair > 0.1 || delay < 0.75 {
		t.Errorf("small jobs: %v of their tasks near the data, with delay scheduling %v", fair, delay)
	}
	runs = simulated(t, "quincy") // QUINCY §6: less data moved than by greedy queues
	greedy, quincy := of(runs, "fifo", "none").Run.RemoteBytes, of(runs, "quincy fair=false preempt=false", "none").Run.RemoteBytes
	if 2*quincy > greedy {
		t.Errorf("quincy reads %d bytes from other machines, fifo %d", quincy, greedy)
	}
	runs = simulated(t, "losses") // MANTRI §5.3: with outputs protected less has to be made again while others wait
	for _, x := range [][2]string{{"protect", "none"}, {"mantri-protect", "mantri"}} {
		if with, without := of(runs, "fifo", x[0]).Run.MeanS, of(runs, "fifo", x[1]).Run.MeanS; with >= without {
			t.Errorf("jobs take %v s with %s, %v s with %s", with, x[0], without, x[1])
		}
	}
	if with, without := of(runs, "fifo", "none").Run.TotalSlotS, of(lossless(t), "fifo", "none").Run.TotalSlotS; with <= without {
		t.Errorf("slots are used for %v s where outputs are lost, %v s where none is", with, without)
	}
	runs = simulated(t, "mantri") // MANTRI §6.3: it ends jobs earlier than the others, at less cost than LATE and Dryad
	mantri := of(runs, "fifo", "mantri")
	for _, other := range []string{"none", "hadoop", "mapreduce", "dryad", "late"} {
		if x := of(runs, "fifo", other); mantri.Run.MeanS >= x.Run.MeanS {
			t.Errorf("jobs take %v s with mantri, %v s with %s", mantri.Run.MeanS, x.Run.MeanS, other)
		}
	}
}
