package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

// Sharing is what the tasks of a run that are slower than usual have in common and the others have not.
type Sharing struct {
	Dimension  string   `col:"dimension" doc:"stage, table, file system or time: which stages are slow; machine, node, rack or source: which of their tasks"`
	Values     []string `col:"values" doc:"the machines, racks, places that most of the input was read from, tables …; of time from and until, in sixteenths of the run"`
	Tasks      int64    `col:"tasks" doc:"tasks that have that in common, of stages with a history; of a machine, node, rack or source, of those with slow tasks"`
	Slow       int64    `col:"slow" doc:"of these, slower than usual"`
	OtherTasks int64    `col:"other_tasks" doc:"the other tasks of these stages"`
	OtherSlow  int64    `col:"other_slow" doc:"of these, slower than usual"`
	Support    float64  `col:"support" doc:"logarithm of how much likelier the slow tasks are if it matters, less that of how many choices there were"`
	Alike      bool     `col:"alike" doc:"another explains the slow tasks as well, so that it cannot be told which it is"`
}

// What sharing is called and how it is weighed.
const (
	clearly     = 3   // of support, 20 : 1: what explains less is not named, and what explains less well than another is not named beside it
	mostCounted = 100 // tasks of a stage and machine say nearly the same: all of a run count as so many at most
	sixteenths  = 16
	spared      = 0.25 // the most that the others may be slow as often: where more are, it is not what makes the difference
)

// sharedCell is a row of shared_tasks.sql.
type sharedCell struct {
	ApplicationID schema.Key `col:"application_id"`
	PhaseID       schema.Key `col:"phase_id"`
	Dimension     string     `col:"dimension"`
	Value         string     `col:"value"`
	Tasks         int64      `col:"tasks"`
	Slow          int64      `col:"slow"`
}

// sharing says of each slow run what its slow tasks have in common.
func (b *builder) sharing() error {
	runs := map[schema.Key]*tasksOfRun{}
	err := readStore(b, "shared_tasks", func(c *sharedCell) error {
		r := runs[c.ApplicationID]
		if r == nil {
			r = &tasksOfRun{stages: map[schema.Key]count{}, groups: map[string]map[string]map[schema.Key]count{}}
			runs[c.ApplicationID] = r
		}
		r.add(c)
		return nil
	})
	for i := range b.doc.SlowRuns.Rows {
		if s := &b.doc.SlowRuns.Rows[i]; runs[s.ApplicationID] != nil {
			names := map[schema.Key]string{}
			for k := range s.Stages {
				names[s.Stages[k].PhaseID] = s.Stages[k].name()
			}
			s.Shared, s.HeldTasks, s.HeldSlow = runs[s.ApplicationID].shared(names)
		}
	}
	return err
}

type count struct{ tasks, slow float64 }

func (c *count) add(d count) { c.tasks, c.slow = c.tasks+d.tasks, c.slow+d.slow }

// tasksOfRun counts the tasks of a run by what they have in common.
type tasksOfRun struct {
	all    count
	stages map[schema.Key]count
	groups map[string]map[string]map[schema.Key]count // by dimension, value and stage
}

func (r *tasksOfRun) add(c *sharedCell) {
	n := count{float64(c.Tasks), float64(c.Slow)}
	if c.Dimension == "stage" {
		r.stages[c.PhaseID] = n
		r.all.add(n)
		r.put(c.Dimension, strconv.FormatInt(int64(c.PhaseID), 10), c.PhaseID, n)
		return
	}
	switch c.Dimension {
	case "machine":
		if node := schema.Node(c.Value); node != "" {
			r.put("node", node, c.PhaseID, n)
		}
	case "path":
		if fs := fileSystem(c.Value); fs != "" {
			r.set("file system", fs, c.PhaseID, n) // all tasks of the stage, by whichever of its paths
		}
		return
	}
	r.put(c.Dimension, c.Value, c.PhaseID, n)
}

func (r *tasksOfRun) put(dimension, value string, phase schema.Key, n count) {
	at := r.groups[dimension][value][phase]
	at.add(n)
	r.set(dimension, value, phase, at)
}

func (r *tasksOfRun) set(dimension, value string, phase schema.Key, n count) {
	if r.groups[dimension] == nil {
		r.groups[dimension] = map[string]map[schema.Key]count{}
	}
	if r.groups[dimension][value] == nil {
		r.groups[dimension][value] = map[schema.Key]count{}
	}
	r.groups[dimension][value][phase] = n
}

// fileSystem is the scheme and authority of a path, such as s3a://bucket; empty where it has no scheme.
func fileSystem(path string) string {
	scheme, rest, ok := strings.Cut(path, ":")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/ ") {
		return ""
	}
	if rest, ok = strings.CutPrefix(rest, "//"); !ok {
		return scheme + ":"
	}
	authority, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority
}

// shared gives what the slow tasks have in common, the best first: of what distinguishes stages, and of what distinguishes the tasks of a stage.
func (r *tasksOfRun) shared(names map[schema.Key]string) (found []Sharing, tasks, slow int64) {
	for _, dimensions := range [][]string{{"table", "file system", "time", "stage"}, {"node", "rack", "source", "machine"}} {
		var alike []Sharing
		for _, d := range dimensions {
			var s Sharing
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
		slices.SortStableFunc(alike, func(a, b Sharing) int { return cmp.Compare(b.Support, a.Support) })
		alike = slices.DeleteFunc(alike, func(s Sharing) bool { return s.Support < alike[0].Support-clearly })
		for i := range alike {
			alike[i].Alike = len(alike) > 1
			if alike[i].Dimension == "stage" {
				for k, v := range alike[i].Values {
					key, _ := strconv.ParseInt(v, 10, 64)
					alike[i].Values[k] = cmp.Or(names[schema.Key(key)], "another stage")
				}
			}
		}
		found = append(found, alike...)
	}
	return found, int64(r.all.tasks), int64(r.all.slow)
}

// best gives the values of a dimension whose tasks are slow, where they explain more than chance.
func (r *tasksOfRun) best(dimension string) (Sharing, bool) {
	groups := r.groups[dimension]
	s := Sharing{Dimension: dimension}
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
			at.tasks, at.slow = min(at.tasks, r.stages[phase].tasks), min(at.slow, r.stages[phase].slow) // a stage may read several tables
			together[phase] = at
		}
	}
	return r.weigh(s, dimension, together, float64(len(s.Values))*math.Log(float64(len(groups))))
}

// window gives the stretch of time whose tasks are slow, the shortest where several explain alike.
func (r *tasksOfRun) window() (Sharing, bool) {
	best, choices, shortest := Sharing{Dimension: "time", Support: math.Inf(-1)}, float64(sixteenths*(sixteenths+1)/2), 0
	for from := range sixteenths {
		together := map[schema.Key]count{}
		for until := from; until < sixteenths; until++ {
			for phase, n := range r.groups["time"][strconv.Itoa(until)] {
				at := together[phase]
				at.add(n)
				together[phase] = at
			}
			s := Sharing{Dimension: "time", Values: []string{strconv.Itoa(from), strconv.Itoa(until + 1)}}
			if s, ok := r.weigh(s, "time", together, math.Log(choices)); ok && (s.Support > best.Support || s.Support == best.Support && until-from < shortest) {
				best, shortest = s, until-from
			}
		}
	}
	return best, best.Support >= clearly
}

func (r *tasksOfRun) weigh(s Sharing, dimension string, groups map[schema.Key]count, choices float64) (Sharing, bool) {
	in, support := r.support(dimension, groups)
	s.Tasks, s.Slow, s.Support = int64(in.tasks), int64(in.slow), support-choices
	all := r.held(dimension)
	s.OtherTasks, s.OtherSlow = int64(all.tasks-in.tasks), int64(all.slow-in.slow)
	others := float64(s.OtherSlow) / math.Max(1, float64(s.OtherTasks))
	return s, len(s.Values) > 0 && s.Support >= clearly && 2*in.slow >= in.tasks && others <= spared*in.slow/in.tasks
}

// support says how much likelier the slow tasks are where those of the group are slow at another rate than the others, as a logarithm.
//
// What distinguishes stages is weighed by the likelihood ratio of two rates against one. What distinguishes the tasks of a stage is weighed within
// the stages, since these are slow at different rates: by half of the statistic of Cochran, Mantel and Haenszel, χ² with one degree of freedom
// (Agresti, Categorical Data Analysis, §6.3).
func (r *tasksOfRun) support(dimension string, group map[schema.Key]count) (in count, support float64) {
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

// ofTasks says that a dimension distinguishes the tasks of a stage, not stages.
func ofTasks(dimension string) bool {
	return dimension == "machine" || dimension == "node" || dimension == "rack" || dimension == "source"
}

// held are the tasks that a dimension is weighed by: what distinguishes the tasks of a stage, by those of stages in which some are slow.
func (r *tasksOfRun) held(dimension string) (all count) {
	if !ofTasks(dimension) {
		return r.all
	}
	for _, n := range r.stages {
		if n.someSlow() {
			all.add(n)
		}
	}
	return all
}

// someSlow says that more of a stage's tasks are slow than are by chance.
func (c count) someSlow() bool { return c.slow > 0.05*c.tasks }

// likelihood is the logarithm of that of so many slow tasks, at the rate that they have.
func (c count) likelihood() float64 {
	xlogx := func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return x * math.Log(x/c.tasks)
	}
	return xlogx(c.slow) + xlogx(c.tasks-c.slow)
}

// sharedWords says what the slow tasks of a run have in common.
func (r *SlowRun) sharedWords() (words []string) {
	if r.HeldTasks == 0 || r.HeldSlow == 0 {
		return nil
	}
	all := fmt.Sprintf("%s of %s are slower than usual", prose.Count(r.HeldSlow), prose.Plural(r.HeldTasks, "task", "tasks"))
	if len(r.Shared) == 0 {
		all += ": no machine, rack, source, table, stage or time sets them apart"
		if 2*r.HeldSlow >= r.HeldTasks {
			all += "; what slowed them, all of the run shared"
		}
		return []string{all + "."}
	}
	words = append(words, all+".")
	for i := 0; i < len(r.Shared); {
		s, end := &r.Shared[i], i+1
		for end < len(r.Shared) && s.Alike && r.Shared[end].Alike && ofTasks(r.Shared[end].Dimension) == ofTasks(s.Dimension) {
			end++
		}
		what := s.words(r)
		for k := i + 1; k < end; k++ {
			what += " or " + r.Shared[k].words(r)
		}
		text := fmt.Sprintf("What the slow tasks have in common: %s: %s of %s slow; of the others %s of %s", what, prose.Count(s.Slow), prose.Plural(s.Tasks, "task", "tasks"),
			prose.Count(s.OtherSlow), prose.Count(s.OtherTasks))
		if s.Alike {
			text += ". Which of these it is cannot be told: they explain the slow tasks alike"
		}
		words = append(words, text+".")
		i = end
	}
	return words
}

func (s *Sharing) words(r *SlowRun) string {
	const most = 3
	var names []string
	for _, v := range s.Values[:min(len(s.Values), most)] {
		names = append(names, prose.Name(v))
	}
	if n := int64(len(s.Values) - most); n > 0 {
		names = append(names, prose.Plural(n, "other", "others"))
	}
	list := prose.Join(names)
	switch s.Dimension {
	case "time":
		from, _ := strconv.Atoi(s.Values[0])
		until, _ := strconv.Atoi(s.Values[1])
		at := func(k int) string { return prose.Seconds(r.TookS * float64(k) / sixteenths) }
		return fmt.Sprintf("they started between %s and %s after the run did", at(from), at(until))
	case "source":
		return "they read most of their input from " + list
	case "table":
		return "their stages read " + list
	case "file system":
		return "their stages read from the file system " + list
	case "stage":
		return "their stage, " + list
	case "rack":
		return "the rack " + list
	}
	return "the " + s.Dimension + " " + list
}
