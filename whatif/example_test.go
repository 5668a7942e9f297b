package whatif_test

import (
	"context"
	"fmt"

	"straggler/whatif"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// patient is a policy of one's own: once half of a phase has finished, it copies every task that has run Times as long
// as the slowest of them.
type patient struct{ Times float64 }

func (p *patient) Look(v *replay.View, do *replay.Actions) replay.Again {
	done := v.Done()
	if 2*len(done) < v.Tasks() {
		return replay.Again{End: true} // look again when an attempt has ended
	}
	slowest := replay.Time(0)
	for _, d := range done[:v.Tasks()/2] {
		slowest = max(slowest, d.Took)
	}
	limit := replay.Time(p.Times * float64(slowest))
	next := replay.Again{End: true}
	for _, a := range v.Running() {
		if v.Copies(a.Task) > 1 || v.Launched(a.Task) > 0 {
			continue // it has its copy
		}
		if v.Elapsed(&a) >= limit {
			do.Copy(a.Task)
		} else if next.At == 0 || a.Start+limit < next.At {
			next.At = a.Start + limit
		}
	}
	return next
}

// Twenty tasks of about ten seconds, one of which takes two minutes on a machine that is as good as the others.
func ExampleCompare() {
	c := scenario.Cluster{Machines: scenario.Uniform(25, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{Kind: "map"}}}}}
	for n := range 20 {
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: 10 + float64(n%3)})
	}
	c.Jobs[0].Phases[0].Tasks[7].Luck = 11
	w := workload.Build(c.Rows())

	mine := policy.Own("patient", func() replay.Policy { return &patient{Times: 2} })
	s, err := whatif.Compare(context.Background(), w, whatif.Options{Policies: []policy.Policy{mine}, Errors: []float64{0.1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := s.Results[0]
	fmt.Printf("%s: %.0f s become %.0f s, with %.0f copy\n", r.Name, r.All.Before.Mean, r.All.After.Mean, r.All.Copies)
	fmt.Println(r.Verdict(s.ReplayErrorS))
	// Output:
	// patient: 121 s become 33 s, with 1 copy
	// saves
}
