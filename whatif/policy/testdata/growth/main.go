// Command growth replays one phase under a policy, with settings: TestGrowth builds it with counters of its statements.
//
//	growth POLICY TASKS MACHINES [POLICY.OPTION=VALUE...]
package main

import (
	"errors"
	"os"
	"strconv"

	"straggler/schema"
	"straggler/whatif/heap"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

func main() {
	tasks, err := strconv.Atoi(os.Args[2])
	machines, err2 := strconv.Atoi(os.Args[3])
	chosen, err3 := policy.Choose(os.Args[1:2], os.Args[4:], nil, nil)
	if err := errors.Join(err, err2, err3); err != nil {
		panic(err)
	}
	pool := workload.Build(phase(tasks, machines)).Pools[0]
	o := replay.Options{Policy: chosen[0].New(), Seed: 1, Sigma: 0.03}
	if f := chosen[0].Durations(nil); f != nil {
		o.Took = f(pool)
	}
	var s replay.Sim
	if err := s.Run(pool, o).Err(); err != nil {
		panic(err)
	}
}

// phase returns the log of tasks of a minute or two that took the first free of the machines' slots, where one task in twenty is
// unlucky.
func phase(tasks, machines int) *workload.Rows {
	const slots = 4
	r := &workload.Rows{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}}, Jobs: []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: schema.Some(schema.Time(0))}},
		Phases: []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map", SubmitTime: schema.Some(schema.Time(0))}},
	}
	for m := range machines {
		name := strconv.Itoa(m)
		r.Intern(name)
		r.Machines, r.Factors = append(r.Machines, schema.Machine{Machine: name, Slots: schema.Some(int64(slots))}), append(r.Factors, 1)
	}
	var free heap.Heap[slot]
	for n := range machines * slots {
		free.Push(slot{0, n})
	}
	for task := range tasks {
		x := free.Pop()
		took := int64(60e6 + 1e6*(task*7%60))
		if task%20 == 7 {
			took *= int64(3 + task%5)
		}
		r.Attempts = append(r.Attempts, workload.LoggedAttempt{
			ID: schema.Key(10 + task), Phase: 3, Task: int64(task), Start: x.at, Finish: x.at + took,
			Bytes: int64(48<<20 + task*13%32<<20), Records: -1, Machine: int32(x.n / slots), Executor: -1,
		})
		free.Push(slot{x.at + took, x.n})
	}
	return r
}

// slot is when a slot is free.
type slot struct {
	at int64
	n  int
}

func (s slot) Before(t slot) bool { return s.at < t.at || s.at == t.at && s.n < t.n }
