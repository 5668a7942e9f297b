package scenario_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"straggler/strictyaml"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

const two = `
source: made up
slots: 2
speed: 60
machines:
  - {count: 3, speed: 30}
  - {count: 4, factor: {uniform: [1, 1.5]}}
  - {count: 2}
slow: {count: 2, factor: 5}
jobs:
  - count: 5
    every: {exponential: 10}
    limit: 6
    phases:
      - {kind: map, tasks: {uniform: [4, 9]}, seconds: 20, bytes: 64e6, luck: {mix: [{share: 0.9, of: 1}, {share: 0.1, of: 8}]}}
      - {kind: reduce, after: [0], tasks: 3, seconds: {normal: [30, 5], least: 20}, reports: [[0.5, 0.3], [1, 1]]}
`

// A file says what a cluster has, and each seed draws another of the kind.
func TestCluster(t *testing.T) {
	f, err := scenario.Parse("f.yaml", []byte(two))
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Cluster(1)
	if err != nil {
		t.Fatal(err)
	}
	slow, half, normal := 0, 0, 0
	for _, m := range c.Machines {
		if m.Slots != 2 {
			t.Errorf("machine %+v", m)
		}
		switch {
		case m.Factor >= 5:
			slow++
		case m.Factor == 2:
			half++
		case m.Factor >= 1 && m.Factor <= 1.5:
			normal++
		}
	}
	if len(c.Machines) != 9 || slow != 2 || half+normal != 7 || half > 3 {
		t.Errorf("%d machines: %d slow, %d at half speed, %d normal", len(c.Machines), slow, half, normal)
	}
	if len(c.Jobs) != 5 || c.Jobs[0].Arrival != 0 || !slices.IsSortedFunc(c.Jobs, func(a, b scenario.Job) int { return int(math.Copysign(1, a.Arrival-b.Arrival)) }) {
		t.Errorf("jobs arrive at %v", c.Jobs)
	}
	for _, j := range c.Jobs {
		m, r := j.Phases[0], j.Phases[1]
		if j.Limit != 6 || len(m.Tasks) < 4 || len(m.Tasks) > 9 || len(r.Tasks) != 3 || !slices.Equal(r.After, []int{0}) || m.Kind != "map" {
			t.Errorf("job %+v", j)
		}
		for _, task := range m.Tasks {
			if task.Seconds != 20 || task.Bytes != 64e6 || task.Luck != 1 && task.Luck != 8 {
				t.Errorf("task %+v", task)
			}
		}
		for _, task := range r.Tasks {
			if task.Seconds < 20 || task.Luck != 0 || !slices.Equal(task.Reports, []workload.Point{{At: 0.5, Score: 0.3}, {At: 1, Score: 1}}) {
				t.Errorf("task %+v", task)
			}
		}
	}
	again, err := f.Cluster(1)
	other, err2 := f.Cluster(2)
	if err != nil || err2 != nil || !reflect.DeepEqual(c, again) || reflect.DeepEqual(c.Jobs, other.Jobs) {
		t.Errorf("the same seed gives another cluster, or another seed the same (%v %v)", err, err2)
	}
}

// take draws some of the machines.
func TestTake(t *testing.T) {
	f, err := scenario.Parse("f.yaml", []byte("slots: 1\ntake: 30\nmachines:\n- {count: 50, factor: 1}\n- {count: 50, factor: 2}\njobs:\n- phases:\n  - {tasks: 1, seconds: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	twice := 0
	for seed := range uint64(200) {
		c, err := f.Cluster(seed)
		if err != nil || len(c.Machines) != 30 {
			t.Fatalf("%d machines (%v)", len(c.Machines), err)
		}
		for _, m := range c.Machines {
			if m.Factor == 2 {
				twice++
			}
		}
	}
	if share := float64(twice) / 6000; math.Abs(share-0.5) > 0.03 { // four standard errors are 0.026, less without putting back
		t.Errorf("%.3f of the machines taken are of a kind that half of them are of", share)
	}
}

// What is wrong with a file is said, and where.
func TestParseErrors(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(two, old) {
			t.Fatalf("no %q in the file", old)
		}
		return strings.Replace(two, old, new, 1)
	}
	for _, x := range []struct{ file, want string }{
		{"", "f.yaml: 0 machines"},
		{change("slots: 2", "slotz: 2"), "f.yaml:3:1: there is no \"slotz\" here"},
		{change("slots: 2", "slots: 0"), "slots 0"},
		{change("{count: 3, speed: 30}", "{count: 0}"), "machines 0: count 0"},
		{change("{count: 3, speed: 30}", "{count: 3, speed: 30, factor: 1}"), "machines 0: a factor and a speed"},
		{change("speed: 60\n", ""), "machines 0: a speed, and none of a normal machine"},
		{change("[1, 1.5]", "[1.5, 1]"), "f.yaml:7:24: uniform wants the smaller number first"},
		{change("[1, 1.5]", "[1]"), "f.yaml:7:34: uniform wants 2 numbers"},
		{change("{uniform: [1, 1.5]}", "{poisson: 3}"), `f.yaml:7:25: there is no distribution "poisson"`},
		{change("{uniform: [1, 1.5]}", "{uniform: [1, 2], normal: [1, 2]}"), "f.yaml:7:42: normal after uniform"},
		{change("{uniform: [1, 1.5]}", "[1, 2]"), "f.yaml:7:24: a number or a distribution is wanted"},
		{change("{uniform: [1, 1.5]}", "{least: 2}"), "f.yaml:7:24: no distribution is named"},
		{change("seconds: 20", "seconds: soon"), `f.yaml:15:56: "soon" is no number`},
		{change("seconds: 20, ", ""), "jobs 0: phase 0: tasks and seconds are wanted"},
		{change("{share: 0.1,", "{share: 0.2,"), "f.yaml:15:85: the shares of a mix add up to 1.1"},
		{change("{share: 0.1, of: 8}", "{share: 0.1}"), "f.yaml:15:107: a part of a mix wants"},
		{change("[30, 5]", "[30, -5]"), "f.yaml:16:55: a deviation is not negative"},
		{change("after: [0]", "after: [1]"), "jobs 0: phase 1 comes after phase 1"},
		{change("[[0.5, 0.3], [1, 1]]", "[[0.5, 0.3], [0.4, 1]]"), "jobs 0: phase 1: reports"},
		{change("{exponential: 10}", "{exponential: 0}"), "f.yaml:12:12: exponential wants a number above 0"},
		{change("slow: {count: 2, factor: 5}", "slow: {count: 20, factor: 5}"), "slow: 20 machines"},
		{change("slow: {count: 2, factor: 5}", "take: 10"), "take 10 of 9 machines"},
		{"slots: 1\nmachines: [{count: 1}]\n", "no jobs"},
	} {
		_, err := scenario.Parse("f.yaml", []byte(x.file))
		if !errors.Is(err, scenario.ErrFile) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("error %v, want %q", err, x.want)
		}
	}
}

// Distributions are what they say: mean and standard deviation of a hundred thousand draws, within five standard errors.
func TestDistributions(t *testing.T) {
	lognormal := math.Exp(0.5 * 0.5 * 0.5) // mean of one of median 1 and σ 0.5; its variance is mean² (e^σ² − 1)
	for _, x := range []struct {
		text     string
		mean, sd float64
		low      float64
	}{
		{"7", 7, 0, 7},
		{"{uniform: [2, 8]}", 5, 6 / math.Sqrt(12), 2},
		{"{normal: [30, 5]}", 30, 5, math.Inf(-1)},
		{"{exponential: 4}", 4, 4, 0},
		{"{lognormal: [3, 0.5]}", 3 * lognormal, 3 * lognormal * math.Sqrt(math.Exp(0.25)-1), 0},
		{"{sum: 100, of: {uniform: [0, 1.4]}}", 70, 1.4 / math.Sqrt(12) * 10, 0},
		{"{mix: [{share: 0.75, of: 1}, {share: 0.25, of: {uniform: [4, 6]}}]}", 2, math.Sqrt(0.75*1 + 0.25*(9+4.0/12)), 1},
		// Half of a normal around 0 is cut to 0: the mean is 1/√(2π), the mean square a half.
		{"{normal: [0, 1], least: 0}", 1 / math.Sqrt(2*math.Pi), math.Sqrt(0.5 - 1/(2*math.Pi)), 0},
	} {
		var file struct {
			N scenario.Number `yaml:"n"`
		}
		if err := strictyaml.Decode("n.yaml", []byte("n: "+x.text), &file); err != nil {
			t.Fatal(err)
		}
		n := &file.N
		const draws = 100_000
		r := rand.New(rand.NewPCG(1, 1))
		sum, squares := 0.0, 0.0
		for range draws {
			v := n.Draw(r)
			if v < x.low {
				t.Fatalf("%s: %g", x.text, v)
			}
			sum += v - x.mean
			squares += (v - x.mean) * (v - x.mean)
		}
		off, sd := sum/draws, math.Sqrt(squares/draws)
		if math.Abs(off) > 5*x.sd/math.Sqrt(draws) || math.Abs(sd-x.sd) > 0.03*x.sd {
			t.Errorf("%s: mean %g and deviation %g, want %g and %g", x.text, x.mean+off, sd, x.mean, x.sd)
		}
	}
}

// A cluster's run keeps its slots, its phases' order, its machines' factors and its jobs' limits.
func TestRows(t *testing.T) {
	f, err := scenario.Parse("f.yaml", []byte(two))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		c, err := f.Cluster(seed)
		if err != nil {
			t.Fatal(err)
		}
		checkRun(t, c, c.Rows())
	}
}

func checkRun(t *testing.T, c *scenario.Cluster, r *workload.Rows) {
	t.Helper()
	type edge struct {
		at int64
		by int
	}
	busy, jobs := make([][]edge, len(c.Machines)), make([][]edge, len(c.Jobs))
	ended := map[int]int64{} // when the first phase of a job was over
	n := 0
	for i := range r.Attempts {
		a := &r.Attempts[i]
		j, p := int(a.Phase>>20)-1, int(a.Phase&(1<<20-1))
		task := &c.Jobs[j].Phases[p].Tasks[a.Task]
		luck := task.Luck
		if luck == 0 {
			luck = 1
		}
		if want := int64(task.Seconds*luck*c.Machines[a.Machine].Factor*1e6 + 0.5); a.Finish-a.Start != want {
			t.Errorf("task %d of job %d took %d µs, want %d", a.Task, j, a.Finish-a.Start, want)
		}
		if a.Start < int64(c.Jobs[j].Arrival*1e6) {
			t.Errorf("job %d started before it came", j)
		}
		if p == 0 {
			ended[j] = max(ended[j], a.Finish)
		}
		busy[a.Machine] = append(busy[a.Machine], edge{a.Start, 1}, edge{a.Finish, -1})
		jobs[j] = append(jobs[j], edge{a.Start, 1}, edge{a.Finish, -1})
		n++
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Phase&1 == 1 && a.Start < ended[int(a.Phase>>20)-1] {
			t.Errorf("a reduce of job %d started before its maps were over", a.Phase>>20-1)
		}
	}
	most := func(edges []edge) (now, most int) {
		slices.SortFunc(edges, func(a, b edge) int {
			if a.at != b.at {
				return int(math.Copysign(1, float64(a.at-b.at)))
			}
			return a.by - b.by
		})
		for _, e := range edges {
			now += e.by
			most = max(most, now)
		}
		return now, most
	}
	for m := range busy {
		if _, most := most(busy[m]); most > c.Machines[m].Slots {
			t.Errorf("machine %d ran %d tasks at once on %d slots", m, most, c.Machines[m].Slots)
		}
	}
	want := 0
	for j := range jobs {
		for _, p := range c.Jobs[j].Phases {
			want += len(p.Tasks)
		}
		if _, most := most(jobs[j]); most > c.Jobs[j].Limit {
			t.Errorf("job %d ran %d tasks at once, and may run %d", j, most, c.Jobs[j].Limit)
		}
	}
	if n != want {
		t.Errorf("%d attempts of %d tasks", n, want)
	}
}

// Every file of the rebuilt experiments is read and drawn, says its source, and has what was assumed.
func TestPublishedFiles(t *testing.T) {
	files, err := filepath.Glob("../published/clusters/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := scenario.Parse("f.yaml", data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c, err := f.Cluster(1); err != nil || len(c.Machines) == 0 || f.Source == "" {
			t.Errorf("%s: %d machines, source %q (%v)", name, len(c.Machines), f.Source, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte("slots: 1\nmachines: [{count: 1}]\njobs: [{phases: [{tasks: {sum: 3, of: 2}, seconds: {lognormal: [1, 2]}}]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := scenario.Parse("f.yaml", data); err != nil && !errors.Is(err, scenario.ErrFile) {
			t.Error(err)
		}
	})
}
