package schedule_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

var update = flag.Bool("update", false, "write the hashes of the policies' decisions")

// Whoever makes a replay faster changes no decision: testdata/decisions.txt has a hash, for each policy under each scheduler,
// of every attempt on planned clusters: its slot, when it started and ended, and whether it was killed. What the decisions have
// to be is not said here, but by the plain rules of package policy's tests and the laws beside this one. After a rule has
// changed on purpose:
//
//	go test ./whatif/schedule -run TestDecisions -update
func TestDecisions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round products and sums at once")
	}
	const file = "testdata/decisions.txt"
	var pools []*workload.Pool
	for seed := range uint64(6) {
		pl := plan(seed, seed%2 == 1)
		for j := range pl.Jobs { // long enough for policies that wait for a minute
			pl.Jobs[j].Arrival *= 10
			for ph := range pl.Jobs[j].Phases {
				for n := range pl.Jobs[j].Phases[ph].Tasks {
					task := &pl.Jobs[j].Phases[ph].Tasks[n]
					if task.Seconds *= 10; n%7 == 3 {
						task.Luck = 4
					}
				}
			}
		}
		pools = append(pools, pool(t, pl))
	}
	var got strings.Builder
	var sim replay.Sim
	for _, spec := range policy.Specs() {
		if spec.Ideal {
			continue
		}
		pol, err := policy.ByName(spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		if spec.Name == "dolly" { // which clones nothing with 5 % of a few slots
			for _, o := range [][2]string{{"budget", "0.5"}, {"ceiling", "2"}} {
				if pol, err = pol.With(o[0], o[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, sched := range plannable(t) {
			some := pools
			if sched.Name == "quincy" { // it solves a network at every instant
				if !slices.Contains([]string{"none", "late", "mantri", "spark3", "blacklist"}, spec.Name) {
					continue
				}
				some = pools[:1]
			}
			fmt.Fprintf(&got, "%s\t%s\t%016x\n", spec.Name, sched.Name, decided(t, &sim, some, pol, sched))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(data), "\n")
	for n, line := range strings.Split(got.String(), "\n") {
		if n >= len(want) || line != want[n] {
			t.Errorf("%s is not what %s has: decisions have changed", line, file)
		}
	}
}

// decided returns a hash of all attempts of replays.
func decided(t *testing.T, sim *replay.Sim, pools []*workload.Pool, pol policy.Policy, sched schedule.Scheduler) uint64 {
	t.Helper()
	sum := fnv.New64a()
	for seed, p := range pools {
		out := sim.Run(sched.Pool(p), replay.Options{Policy: pol.New(), Scheduler: sched.New(), Seed: int64(seed), Sigma: 0.1, Watch: func(x replay.Span) {
			fmt.Fprintln(sum, x.Phase, x.Task, x.Number, x.Slot, int64(x.Start), int64(x.End), x.Killed)
		}})
		if err := out.Err(); err != nil {
			t.Fatalf("%s under %s: %v", pol.Name, sched, err)
		}
	}
	return sum.Sum64()
}
