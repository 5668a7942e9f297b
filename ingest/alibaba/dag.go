package alibaba

import (
	"strconv"
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// edges adds the dependencies among the tasks of the job. Those that would close a cycle are left out.
func (j *jobRows) edges() {
	at := map[int]int{} // task number → position
	parents := make([][]int, len(j.tasks))
	for i := range j.tasks {
		if own, ps, ok := parseName(j.tasks[i].plan.task); ok {
			if _, taken := at[own]; !taken {
				at[own] = i
			}
			parents[i] = ps
		}
	}
	g := read.NewDAG(len(j.tasks))
	for to, ps := range parents {
		for _, p := range ps {
			from, ok := at[p]
			switch {
			case !ok:
				j.defects["edge_unknown_parent"]++
			case from == to:
				j.defects["edge_to_itself"]++
			default:
				added, cycle := g.Add(from, to)
				if cycle {
					j.defects["edge_cycle"]++
				}
				if added {
					j.trace.Edges = append(j.trace.Edges, schema.Edge{
						JobID: j.key, FromPhase: j.tasks[from].key, ToPhase: j.tasks[to].key, Pattern: schema.UnknownPattern,
					})
				}
			}
		}
	}
}

// parseName parses a 2018 task's name: letters and its own number in the first part, then the numbers of the tasks that it
// waits for: R5_4_2 is task 5 and waits for 4 and 2. Parts that are not numbers (Stg4) and empty ones are ignored. Names
// without a number, such as task_Nzg3…, belong to independent tasks.
func parseName(name string) (own int, parents []int, ok bool) {
	head, rest, _ := strings.Cut(name, "_")
	digits := strings.TrimLeft(head, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	if len(digits) == len(head) || digits == "" {
		return 0, nil, false
	}
	own, err := strconv.Atoi(digits)
	if err != nil || own < 0 {
		return 0, nil, false
	}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, "_")
		if n, err := strconv.Atoi(part); err == nil && n >= 0 && part[0] != '+' {
			parents = append(parents, n)
		}
	}
	return own, parents, true
}
