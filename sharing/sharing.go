package sharing

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"straggler/schema"
)

// Feature is a property that the slow tasks of a run have in common and others do not.
type Feature struct {
	Dimension  string   `col:"dimension" json:"dimension" doc:"stage, table, file system or time: which stages are slow; machine, node, rack or source: which of their tasks"`
	Values     []string `col:"values" json:"values" doc:"the machines, racks, places that most of the input was read from, tables …; of time from and until, in sixteenths of the run"`
	Tasks      int64    `col:"tasks" json:"tasks" doc:"tasks that have that in common, of stages with a history; of a machine, node, rack or source, of those with slow tasks"`
	Slow       int64    `col:"slow" json:"slow" doc:"of these, slower than usual"`
	OtherTasks int64    `col:"other_tasks" json:"other_tasks" doc:"the other tasks of these stages"`
	OtherSlow  int64    `col:"other_slow" json:"other_slow" doc:"of these, slower than usual"`
	Support    float64  `col:"support" json:"support" doc:"logarithm of how much likelier the slow tasks are if it matters, less that of how many choices there were"`
	Alike      bool     `col:"alike" json:"alike" doc:"another explains the slow tasks as well, so that it cannot be told which it is"`
}

// Names of features and constants for comparing them.
const (
	// a likelihood ratio of 20 : 1: a feature needs that much support, and is left out where another has that much more
	clearly     = 3
	mostCounted = 100 // tasks of one stage or machine are not independent: all tasks of a run count as at most so many
	sixteenths  = 16
	spared      = 0.25 // the rate of slow tasks among the others is at most this share of the feature's
)

// Shared returns what the slow tasks have in common, the best first: of what distinguishes stages, and of what distinguishes
// the tasks of a stage.
func (r *Tasks) Shared(names map[schema.Key]string) (found []Feature) {
	for _, dimensions := range [][]string{{"table", "file system", "time", Stage}, {"node", Rack, "source", Machine}} {
		var alike []Feature
		for _, d := range dimensions {
			var s Feature
			var ok bool
			if d == "time" {
				s, ok = r.window()
			} else {
				s, ok = r.best(d)
			}
			if ok {
				alike = append(alike, s)
			}
		}
		slices.SortStableFunc(alike, func(a, b Feature) int { return cmp.Compare(b.Support, a.Support) })
		alike = slices.DeleteFunc(alike, func(s Feature) bool { return s.Support < alike[0].Support-clearly })
		for i := range alike {
			alike[i].Alike = len(alike) > 1
			if alike[i].Dimension == Stage {
				for k, v := range alike[i].Values {
					key, _ := strconv.ParseInt(v, 10, 64)
					alike[i].Values[k] = cmp.Or(names[schema.Key(key)], "another stage")
				}
			}
		}
		found = append(found, alike...)
	}
	return found
}

// best returns the values of a dimension whose tasks are slow, if they are significant.
func (r *Tasks) best(dimension string) (Feature, bool) {
	groups := r.groups[dimension]
	s := Feature{Dimension: dimension}
	together := map[schema.Key]count{}
	for _, value := range slices.Sorted(maps.Keys(groups)) {
		in, support := r.support(dimension, groups[value])
		if support-math.Log(float64(len(groups))) < clearly || 2*in.slow < in.tasks {
			continue
		}
		s.Values = append(s.Values, value)
		for phase, n := range groups[value] {
			at := together[phase]
			at.add(n)
			// a stage may read several tables
			at.tasks, at.slow = min(at.tasks, r.stages[phase].tasks), min(at.slow, r.stages[phase].slow)
			together[phase] = at
		}
	}
	return r.weigh(s, dimension, together, float64(len(s.Values))*math.Log(float64(len(groups))))
}

// window returns the range of time whose tasks are slow, the shortest on ties.
func (r *Tasks) window() (Feature, bool) {
	best, choices, shortest := Feature{Dimension: "time", Support: math.Inf(-1)}, float64(sixteenths*(sixteenths+1)/2), 0
	for from := range sixteenths {
		together := map[schema.Key]count{}
		for until := from; until < sixteenths; until++ {
			for phase, n := range r.groups["time"][strconv.Itoa(until)] {
				at := together[phase]
				at.add(n)
				together[phase] = at
			}
			s := Feature{Dimension: "time", Values: []string{strconv.Itoa(from), strconv.Itoa(until + 1)}}
			if s, ok := r.weigh(s, "time", together, math.Log(choices)); ok && (s.Support > best.Support || s.Support == best.Support && until-from < shortest) {
				best, shortest = s, until-from
			}
		}
	}
	return best, best.Support >= clearly
}

func (r *Tasks) weigh(s Feature, dimension string, groups map[schema.Key]count, choices float64) (Feature, bool) {
	in, support := r.support(dimension, groups)
	s.Tasks, s.Slow, s.Support = int64(in.tasks), int64(math.Round(in.slow)), support-choices
	all := r.held(dimension)
	s.OtherTasks, s.OtherSlow = int64(all.tasks-in.tasks), int64(math.Round(all.slow-in.slow))
	others := float64(s.OtherSlow) / math.Max(1, float64(s.OtherTasks))
	return s, len(s.Values) > 0 && s.Support >= clearly && 2*in.slow >= in.tasks && others <= spared*in.slow/in.tasks
}

// support returns the log likelihood ratio of the slow tasks if those of the group have another rate than the others.
//
// What distinguishes stages is weighed by the likelihood ratio of two rates against one. What distinguishes the tasks of a
// stage is weighed within the stages, since these are slow at different rates: by half of the statistic of Cochran, Mantel and
// Haenszel, χ² with one degree of freedom (Agresti, Categorical Data Analysis, §6.3).
func (r *Tasks) support(dimension string, group map[schema.Key]count) (in count, support float64) {
	expected, variance := 0.0, 0.0
	for _, phase := range slices.Sorted(maps.Keys(group)) {
		n, g := r.stages[phase], group[phase]
		if ofTasks(dimension) && !n.someSlow() {
			continue
		}
		in.add(g)
		expected += g.tasks * n.slow / n.tasks
		if n.tasks > 1 {
			variance += g.tasks * (n.tasks - g.tasks) * n.slow * (n.tasks - n.slow) / (n.tasks * n.tasks * (n.tasks - 1))
		}
	}
	few := min(1, mostCounted/r.all.tasks)
	switch {
	case ofTasks(dimension):
		if variance > 0 && in.slow > expected {
			support = few * (in.slow - expected) * (in.slow - expected) / variance / 2
		}
	default:
		out := count{r.all.tasks - in.tasks, r.all.slow - in.slow}
		if in.tasks > 0 && out.tasks > 0 && in.slow*out.tasks > out.slow*in.tasks {
			support = few * (in.likelihood() + out.likelihood() - r.all.likelihood())
		}
	}
	return in, support
}

// OfTasks reports whether the feature distinguishes the tasks of a stage, not stages.
func (s *Feature) OfTasks() bool { return ofTasks(s.Dimension) }

// ofTasks reports whether a dimension distinguishes the tasks of a stage, not stages.
func ofTasks(dimension string) bool {
	return dimension == Machine || dimension == "node" || dimension == Rack || dimension == "source"
}

// held returns the tasks that a feature is compared with: all, or for a feature of tasks those of the stages in which some are
// slow.
func (r *Tasks) held(dimension string) (all count) {
	if !ofTasks(dimension) {
		return r.all
	}
	for _, stage := range slices.Sorted(maps.Keys(r.stages)) {
		if n := r.stages[stage]; n.someSlow() {
			all.add(n)
		}
	}
	return all
}
