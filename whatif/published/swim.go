package published

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"straggler/whatif/workload"
)

// swimWindows is how many consecutive parts of a SWIM file the experiments take, each with as many jobs as they have.
const swimWindows = 5

const swimNote = "The band is over five consecutive parts of the given SWIM file, whose arrivals are scaled to take as long as the drawn ones. " +
	"A SWIM file has no durations, stragglers or task counts, which are drawn as without it."

// arrive gives the jobs of a plan, in the order of their arrival, the arrivals of a part of a SWIM file.
func (t *table) arrive(pl *workload.Plan, part int) error {
	n := len(pl.Jobs)
	order := make([]int, n)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(pl.Jobs[a].Arrival, pl.Jobs[b].Arrival) })
	from := t.arrivals[part*n : (part+1)*n]
	was, span := pl.Jobs[order[n-1]].Arrival-pl.Jobs[order[0]].Arrival, from[n-1]-from[0]
	if span <= 0 {
		return fmt.Errorf("%d jobs of the SWIM file, from number %d on, arrive at once", n, part*n)
	}
	for k, j := range order {
		pl.Jobs[j].Arrival = (from[k] - from[0]) / span * was
	}
	return nil
}

// dollySWIM is §5.2 under the arrivals of a SWIM file.
func (t *table) dollySWIM(ctx context.Context, x *trace, seed uint64, s straggling) error {
	p, err := t.policy("dolly", s.known()...)
	if err != nil {
		return err
	}
	var all, small []float64
	for part := range swimWindows {
		pl := x.cluster(seed, s, dollyLoad, dollyForms[0])
		if err := t.arrive(pl, part); err != nil {
			return err
		}
		pool, err := pl.Build()
		if err != nil {
			return err
		}
		g, err := gainsUnder(ctx, pool, p, 1)
		if err != nil {
			return err
		}
		all, small = append(all, g.all), append(small, g.small)
	}
	t.band("§5.2", x.name+": Dolly over "+x.deployed+", arrivals of a SWIM file", x.gain[x.deployed], all, swimNote)
	t.band("§5.2", x.name+": Dolly over "+x.deployed+", jobs of at most ten tasks, arrivals of a SWIM file", x.smallGain[x.deployed], small, swimNote)
	return nil
}

// fairSWIM is §6.1 under the arrivals of a SWIM file.
func (t *table) fairSWIM(ctx context.Context, w *workload.File) error {
	none, err := named("none")
	if err != nil {
		return err
	}
	var split []float64
	for part := range swimWindows {
		pl, err := w.Plan(ctx, int64(part+1), workload.Source{})
		if err != nil {
			return err
		}
		if err := t.arrive(pl, part); err != nil {
			return err
		}
		pool, err := pl.Build()
		if err != nil {
			return err
		}
		var took [2][]float64
		for n, s := range []string{"fifo", "copycompute"} {
			o, err := play(ctx, pool, t.scheduler(s, "fifo"), none, 1, 0, false)
			if err != nil {
				return err
			}
			for j, x := range o.jobs {
				if pool.JobName(j) == "bin0" {
					took[n] = append(took[n], x)
				}
			}
		}
		mean := 0.0
		for j, s := range took[1] {
			mean += took[0][j] / s / float64(len(took[1]))
		}
		split = append(split, mean)
	}
	t.band("§6.1", "figure 10: mean gain of jobs of 16 maps by fair sharing with copy-compute splitting over FIFO, "+
		"arrivals of a SWIM file", 3.45, split, swimNote)
	return nil
}
