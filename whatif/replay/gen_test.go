package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"straggler/schema"
)

// gen makes traces of clusters that schedule in no sensible way: tasks wait though slots are idle, skip the queue, fail,
// are retried, copied and recomputed, executors come and go, logs lie about slots. Whatever happened, a replay must be
// able to repeat it.
type gen struct {
	*rand.Rand
	t    *schema.Trace
	keys schema.Key
	ms   int64 // the log's clock ticks in this many µs
}

func newGen(seed uint64) *gen {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 1)), t: &schema.Trace{}, keys: 1, ms: 1}
	if seed%2 == 0 {
		g.ms = 1000
	}
	return g
}

func (g *gen) key() schema.Key { g.keys++; return g.keys }

func (g *gen) tick(t int64) schema.Time { return schema.Time(1_600_000_000_000_000 + t/g.ms*g.ms) }

// trace makes a trace of a few applications.
func (g *gen) trace() *schema.Trace {
	shared := g.IntN(3) == 0
	if shared {
		for m := range 2 + g.IntN(4) {
			g.t.Machines = append(g.t.Machines, schema.Machine{Machine: fmt.Sprint("m", m), Slots: schema.Some(int64(1 + g.IntN(3)))})
		}
	}
	for range 1 + g.IntN(3) {
		g.application(shared)
	}
	return g.t
}

func (g *gen) application(shared bool) {
	app := g.key()
	g.t.Applications = append(g.t.Applications, schema.Application{ApplicationID: app, Framework: "spark"})
	declared := !shared && g.IntN(3) > 0
	var execs []schema.Machine
	for m := range 2 + g.IntN(4) {
		e := schema.Machine{Machine: fmt.Sprint("m", m), Slots: schema.Some(int64(1 + g.IntN(3)))}
		if !shared {
			e.ApplicationID, e.Executor = schema.Some(app), schema.Some(fmt.Sprint("e", m))
		}
		if declared {
			if g.IntN(3) == 0 {
				e.AddedTime = schema.Some(g.tick(int64(g.IntN(5_000_000))))
			}
			g.t.Machines = append(g.t.Machines, e)
		}
		execs = append(execs, e)
	}
	now := int64(g.IntN(3_000_000))
	for range 1 + g.IntN(4) {
		end := g.job(app, execs, now)
		if g.IntN(4) > 0 {
			now = end + int64(g.IntN(500_000)) // the driver thinks
		} else {
			now += int64(g.IntN(2_000_000))
		}
	}
}

func (g *gen) job(app schema.Key, execs []schema.Machine, now int64) int64 {
	job := schema.Job{JobID: g.key(), ApplicationID: app, SubmitTime: schema.Some(g.tick(now))}
	end := now
	var ends []int64
	var ids []schema.Key
	for n := range 1 + g.IntN(4) {
		release := now + int64(g.IntN(100_000))
		p := schema.Phase{PhaseID: g.key(), JobID: job.JobID, NativeID: fmt.Sprint(n), Kind: "result"}
		for q := range ids {
			if g.IntN(2) == 0 {
				continue
			}
			g.t.Edges = append(g.t.Edges, schema.Edge{JobID: job.JobID, FromPhase: ids[q], ToPhase: p.PhaseID})
			if g.IntN(4) > 0 {
				release = max(release, ends[q]+int64(g.IntN(50_000)))
			} else {
				release = max(release, now+int64(g.Float64()*float64(ends[q]-now)))
			}
		}
		p.SubmitTime = schema.Some(g.tick(release))
		e := g.phase(&p, app, execs, int64(p.SubmitTime.V)-1_600_000_000_000_000)
		g.t.Phases = append(g.t.Phases, p)
		ids, ends = append(ids, p.PhaseID), append(ends, e)
		end = max(end, e)
	}
	job.FinishTime = schema.Some(g.tick(end + int64(g.IntN(20_000))))
	g.t.Jobs = append(g.t.Jobs, job)
	return end
}

// phase launches tasks on the slots of its own view of the executors, which other phases know nothing of: so slots are
// overbooked now and then.
func (g *gen) phase(p *schema.Phase, app schema.Key, execs []schema.Machine, release int64) int64 {
	free := map[int][]int64{}
	for e := range execs {
		free[e] = make([]int64, execs[e].Slots.V)
	}
	last := release
	hold := g.IntN(3)
	for task := range 1 + g.IntN(12) {
		ready := release
		for number := range int32(3) {
			e := g.IntN(len(execs))
			if hold > 0 { // the executor that is free first
				for x := range execs {
					if slices.Min(free[x]) < slices.Min(free[e]) {
						e = x
					}
				}
			}
			slot := slices.Index(free[e], slices.Min(free[e]))
			start := max(ready, free[e][slot])
			if g.IntN(2) == 0 {
				start += int64(g.IntN(300_000))
			}
			start = start / g.ms * g.ms
			end := (start + int64(g.ExpFloat64()*400_000)) / g.ms * g.ms
			if g.IntN(20) == 0 {
				end = start
			}
			a := schema.Attempt{
				AttemptID: g.key(), PhaseID: p.PhaseID, JobID: p.JobID, ApplicationID: app, Task: int64(task), Number: number,
				Machine: schema.Some(execs[e].Machine), Executor: execs[e].Executor,
				StartTime: schema.Some(g.tick(start)), FinishTime: schema.Some(g.tick(end)), Status: schema.Success,
				InputBytes: schema.Some(int64(1000 + g.IntN(1000))),
			}
			free[e][slot] = end
			last = max(last, end)
			again := false
			switch g.IntN(12) {
			case 0: // fails
				a.Status, again, ready = schema.Failed, number < 2, end+int64(g.IntN(50_000))
			case 1: // is copied, and one of the two is killed
				again, ready = number < 2, start+int64(g.IntN(int(end-start)+1))
				a.Speculative = schema.Some(number > 0)
			case 2: // its output is lost later
				again, ready = number < 2, end+int64(g.IntN(400_000))
			}
			g.t.Attempts = append(g.t.Attempts, a)
			if !again {
				break
			}
		}
	}
	return last
}
