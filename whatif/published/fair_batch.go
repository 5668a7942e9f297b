package published

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/whatif/workload"
)

// Figures 8 and 9 of FAIR (§5.3): ten nodes with one map slot and one reduce slot, 30 jobs at random intervals, with sizes from
// a Zipf distribution from 1 to 400 maps and from 1 to a fifth as many reduces, 20 schedules.
const (
	batchSchedules = 20
	batchJobs      = 30
	batchMaps      = 400
	batchMap       = 10.0 // s, assumed
	batchCopying   = 0.2  // of the reducing of a job, assumed
	batchEarly     = 0.05 // share of the maps after which reduces start: 'as soon as its first few maps finish' (§5.1)
)

const batchNote = "20 schedules as in the paper, at mean intervals of 10, 30 and 60 s each, which it does not give. " +
	"Slowdown is relative to the time of the job alone with copy-compute splitting. " +
	"Assumed: a Zipf distribution with exponent 1, maps of 10 s, reduces that take in all as long as the maps of their job, " +
	"copy for a fifth of it and start after 5 % of the maps; a starved job kills tasks after 60 s."

// batchSchedule draws the jobs of a schedule.
func batchSchedule(seed uint64, gap float64) *workload.Plan {
	r := rand.New(rand.NewPCG(seed, 8))
	pl := &workload.Plan{}
	for range 10 {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Slots: [workload.Classes]int{1, 1}})
	}
	var upTo [batchMaps + 1]float64 // Σ 1/n
	for n := 1; n <= batchMaps; n++ {
		upTo[n] = upTo[n-1] + 1/float64(n)
	}
	at := 0.0
	for range batchJobs {
		u := r.Float64() * upTo[batchMaps]
		maps := max(slices.IndexFunc(upTo[:], func(x float64) bool { return x > u }), 1)
		reduces := 1 + r.IntN(max(maps/5, 1))
		at += gap * r.ExpFloat64()
		m, f := workload.PlanPhase{Kind: "map"}, workload.PlanPhase{Kind: "reduce", Class: workload.ReduceSlots, After: []int{0}, Early: batchEarly}
		for range maps {
			m.Tasks = append(m.Tasks, workload.PlanTask{Seconds: batchMap, Bytes: -1})
		}
		each := batchMap * float64(maps) / float64(reduces)
		for range reduces {
			f.Tasks = append(f.Tasks, workload.PlanTask{Seconds: (1 - batchCopying) * each, Fetch: batchCopying * each, Bytes: -1})
		}
		pl.Jobs = append(pl.Jobs, workload.PlanJob{Arrival: at, Phases: []workload.PlanPhase{m, f}})
	}
	return pl
}

// batch is the result of the schedules of an interval under a scheduler: when each ended, and the means over the schedules of
// the largest and of the mean slowdown of a job.
type batch struct {
	ends       []float64
	most, mean float64
}

// batches replays the schedules of an interval under a scheduler.
func (t *table) batches(ctx context.Context, gap float64, scheduler string) (b batch, err error) {
	for seed := range uint64(batchSchedules) {
		pl, of := batchSchedule(seed, gap), fmt.Sprint(gap, " ", seed)
		alone, err := solved(t.solved, "batch alone "+of, func() ([]float64, error) { return aloneTimes(ctx, pl) })
		if err != nil {
			return b, err
		}
		jobs, err := solved(t.solved, fmt.Sprint("batch under ", scheduler, " ", of), func() ([]float64, error) { return batchTimes(ctx, pl, scheduler, int64(seed)) })
		if err != nil {
			return b, err
		}
		end, slowest := 0.0, 0.0
		for j, took := range jobs {
			end, slowest = max(end, pl.Jobs[j].Arrival+took), max(slowest, took/alone[j])
			b.mean += took / alone[j] / batchJobs / batchSchedules
		}
		b.ends, b.most = append(b.ends, end), b.most+slowest/batchSchedules
	}
	return b, nil
}

// fairFigures is figures 8 and 9.
func fairFigures(ctx context.Context, t *table) error {
	const fifo, fifoSplit, fair, kills = "fifo", "fifo-split", "fair", "fair tfair=60"
	splits := []string{"copycompute", "copycompute reducers=6", "copycompute reducers=10"}
	var first, ahead, less, longest []float64
	var halves [3][]float64 // fair sharing, preemption, splitting
	behind := 1.0           // FIFO over the best other one, in schedules where FIFO is not best
	for _, gap := range []float64{10, 30, 60} {
		by := map[string]batch{}
		for _, s := range append([]string{fifo, fifoSplit, fair, kills}, splits...) {
			b, err := t.batches(ctx, gap, t.scheduler(s, fifo))
			if err != nil {
				return err
			}
			by[s] = b
		}
		won := 0.0
		for n := range batchSchedules {
			ours, theirs := min(by[fifo].ends[n], by[fifoSplit].ends[n]), min(by[fair].ends[n], by[kills].ends[n], by[splits[0]].ends[n])
			won, behind = won+better(ours, theirs)/batchSchedules, max(behind, ours/theirs)
		}
		mean := func(s string) float64 { return sum(by[s].ends) / batchSchedules }
		first, ahead = append(first, won), append(ahead, min(mean(fair), mean(kills), mean(splits[0]))/min(mean(fifo), mean(fifoSplit)))
		less = append(less, better(min(mean(fifo), mean(fifoSplit)), min(mean(fair), mean(kills), mean(splits[0]))))
		longest = append(longest, by[fifo].most)
		without := func(n int, before, after string) {
			halves[n] = append(halves[n], by[before].most/by[after].most, by[before].mean/by[after].mean)
		}
		without(0, fifo, fair)
		without(1, fair, kills)
		for _, s := range splits {
			without(0, fifoSplit, s) // 'FIFO and fair sharing with and without copy-compute splitting'
			without(2, fair, s)
		}
	}
	t.assume(batchNote)
	t.rebuilt("§5.3", "figure 8: mean time of the batches is less under FIFO than under fair sharing, at each interval (1) or not (0)", 1, slices.Min(less), 0,
		fmt.Sprintf("'Always best, even with copy-compute splitting': the best variant of fair sharing takes %s times as long. "+
			"FIFO is first in %s of the schedules, and takes at most %.1f %% longer in the others, "+
			"where the job that ends last had to wait for its turn.", listed(ahead), listed(first), 100*(behind-1)))
	t.baseline("§5.3", "figure 9: mean of the largest slowdowns under FIFO, at the interval at which it is largest",
		90, slices.Max(longest), 45, "'Routinely reach 90x'.")
	for n, x := range []struct{ without, note string }{
		{"fair sharing", " Without copy-compute splitting, and with it on machines that hold 3, 6 and 10 reduces, one of which computes."},
		{"preemption under fair sharing", ""},
		{"copy-compute splitting under fair sharing", " Machines hold 3, 6 and 10 reduces, one of which computes ('several times higher', §5.2)."},
	} {
		t.band("§5.3", "figure 9: slowdown is so many times as large without "+x.without, 2, halves[n],
			"'Each cut slowdown in half': the averages of maximum and of mean slowdowns."+x.note)
	}
	return nil
}

// batchTimes returns the time that each job of a plan takes under a scheduler.
func batchTimes(ctx context.Context, pl *workload.Plan, scheduler string, seed int64) ([]float64, error) {
	none, err := named("none")
	if err != nil {
		return nil, err
	}
	pool, err := pl.Build()
	if err != nil {
		return nil, err
	}
	o, err := play(ctx, pool, scheduler, none, seed, 0, false)
	if err != nil {
		return nil, err
	}
	return o.jobs, nil
}

// aloneTimes returns the time that each job of a plan takes alone on its machines, with copy-compute splitting.
func aloneTimes(ctx context.Context, pl *workload.Plan) ([]float64, error) {
	one := *pl
	one.Jobs = nil
	for n := range pl.Jobs { // far apart
		j := pl.Jobs[n]
		j.Arrival = 1e5 * float64(n)
		one.Jobs = append(one.Jobs, j)
	}
	jobs, err := batchTimes(ctx, &one, "fifo-split", 1)
	if err == nil && slices.Max(jobs) > 1e5 {
		err = fmt.Errorf("published: a job takes %g s alone", math.Round(slices.Max(jobs)))
	}
	return jobs, err
}
