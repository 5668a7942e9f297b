package workload

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"straggler/strictyaml"
)

const two = `
name: two
source: made up
cluster:
  machines: 7
  racks: 1
  map_slots: 2
  reduce_slots: 0
  speed: 60
  classes:
    - {count: 3, speed: 30}
    - {count: 4, factor: {uniform: [1, 1.5]}}
    - {count: 2, factor: 1}
  slow: [{machines: 2, factor: 5}]
jobs:
  - name: job
    count: 5
    every_s: 10
    maps: {uniform: [4, 9]}
    map_s: 20
    block_mb: 64
    unlucky: 0.1
    luck: 8
    reduces: 3
    reduce_s: {normal: [30, 5], least: 20}
    reduce_reports: [[0.5, 0.3], [1, 1]]
    copy_score: 0.25
`

// A workload of too many tasks is refused before there is memory for them.
func TestTooManyTasks(t *testing.T) {
	for _, tasks := range []string{"maps: 1e9", "maps: {exponential: 1e300}", "maps: 1, reduces: 1e9, reduce_s: 1", "maps: 1, reduces: {exponential: 1e300}, reduce_s: 1", "maps: 2, reduces_per_map: 1e9, reduce_s: 1", "maps: 1, count: 1000000, workers: 100000"} {
		f, err := ParseFile("f.yaml", []byte("name: large\ncluster: {machines: 2, racks: 1, map_slots: 1, reduce_slots: 1}\njobs: [{name: j, map_s: 1, "+tasks+"}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Plan(t.Context(), 1, Source{}); !errors.Is(err, errTooMany) {
			t.Errorf("%s: %v", tasks, err)
		}
	}
}

// A file says what a cluster has, and each seed draws another of the kind.
func TestFile(t *testing.T) {
	f, err := ParseFile("f.yaml", []byte(two))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range int64(20) {
		c, err := f.Plan(t.Context(), seed, Source{})
		if err != nil {
			t.Fatal(err)
		}
		slow, half := 0, 0
		for _, m := range c.Machines {
			if m.Slots != [Classes]int{2, 0} {
				t.Errorf("machine %+v", m)
			}
			switch {
			case m.Factor >= 5:
				slow++
			case m.Factor == 2:
				half++
			case m.Factor < 1 || m.Factor > 1.5:
				t.Errorf("a machine has the factor %g", m.Factor)
			}
		}
		if len(c.Machines) != 7 || slow != 2 || half > 3 {
			t.Errorf("%d machines: %d slow, %d at half speed", len(c.Machines), slow, half)
		}
		if len(c.Jobs) != 5 || c.Jobs[0].Arrival != 0 || !slices.IsSortedFunc(c.Jobs, func(a, b PlanJob) int { return int(math.Copysign(1, a.Arrival-b.Arrival)) }) {
			t.Errorf("jobs arrive at %v", c.Jobs)
		}
		for _, j := range c.Jobs {
			m, r := j.Phases[0], j.Phases[1]
			if len(m.Tasks) < 4 || len(m.Tasks) > 9 || len(r.Tasks) != 3 || !slices.Equal(r.After, []int{0}) || m.Kind != "map" {
				t.Errorf("job %+v", j)
			}
			for _, task := range m.Tasks {
				if task.Seconds != 20 || task.Bytes != 64e6 || task.Luck != 1 && task.Luck != 8 {
					t.Errorf("task %+v", task)
				}
			}
			for _, task := range r.Tasks {
				if task.Seconds < 20 || task.Luck != 1 && task.Luck != 8 {
					t.Errorf("task %+v", task)
				}
			}
			if !slices.Equal(r.Reports, []Point{{At: 0.5, Score: 0.3}, {At: 1, Score: 1}}) || m.Reports != nil {
				t.Errorf("maps report %v, reduces %v", m.Reports, r.Reports)
			}
			if m.CopyScore != 0 || r.CopyScore != 0.25 {
				t.Errorf("maps have %g when they have copied, reduces %g", m.CopyScore, r.CopyScore)
			}
		}
	}
}

// Machines are drawn from their classes without putting back: of a kind that half of them are of, half are drawn.
func TestClasses(t *testing.T) {
	text := strings.Replace(two, "    - {count: 3, speed: 30}\n    - {count: 4, factor: {uniform: [1, 1.5]}}\n    - {count: 2, factor: 1}\n  slow: [{machines: 2, factor: 5}]",
		"    - {count: 6, factor: 1}\n    - {count: 6, factor: 3}", 1)
	f, err := ParseFile("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	fast, all := 0.0, 0.0
	for seed := range int64(900) {
		c, err := f.Plan(t.Context(), seed, Source{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Machines {
			all++
			if m.Factor == 1 {
				fast++
			}
		}
	}
	if share := fast / all; math.Abs(share-0.5) > 0.026 { // four standard errors, less without putting back
		t.Errorf("%.3f of the machines are of a kind that half of them are of", share)
	}
}

// Machines of a class share hosts, as many on each as it says, wherever the draw puts them, and a class that says nothing
// shares none.
func TestFileHosts(t *testing.T) {
	text := strings.Replace(two, "    - {count: 3, speed: 30}\n    - {count: 4, factor: {uniform: [1, 1.5]}}",
		"    - {count: 4, per_host: 2, speed: 30}\n    - {count: 3, per_host: 3, factor: 0.5}", 1)
	for seed := range int64(20) {
		f, err := ParseFile("f.yaml", []byte(strings.Replace(text, "machines: 7", "machines: 9", 1)))
		if err != nil {
			t.Fatal(err)
		}
		pl, err := f.Plan(t.Context(), seed, Source{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := pl.Build()
		if err != nil {
			t.Fatal(err)
		}
		sizes := map[int]int{}
		for i := range p.Stages.Hosts {
			h := &p.Stages.Hosts[i]
			sizes[len(h.Machines)]++
			for _, m := range h.Machines {
				if want := map[int]float64{2: 2, 3: 1}[len(h.Machines)]; p.Stages.HostOf[m] != int32(i) || p.Stages.Alone[m] != want {
					t.Errorf("seed %d: machine %d of host %d is on host %d and may be %g times as fast, want %g", seed, m, i,
						p.Stages.HostOf[m], p.Stages.Alone[m], want)
				}
			}
		}
		alone := 0
		for _, h := range p.Stages.HostOf {
			if h < 0 {
				alone++
			}
		}
		if sizes[2] != 2 || sizes[3] != 1 || len(p.Stages.Hosts) != 3 || alone != 2 {
			t.Errorf("seed %d: hosts %v, %d machines on none", seed, p.Stages.Hosts, alone)
		}
	}
}

// Each machine of an entry loses outputs as often as it says, from its first instant on and with its gaps on average; other
// machines lose none, and the jobs are those of the same cluster without losses.
func TestFileLosses(t *testing.T) {
	with := strings.Replace(two, "  slow:", "  losses:\n    - {machines: 2, at_s: 50, every_s: 100, count: 40, share: 0.5}\n    - {machines: 1, at_s: 7, share: 1}\n  slow:", 1)
	gaps, all := 0.0, 0
	for seed := range int64(20) {
		var plans [2]*Plan
		for n, text := range []string{two, with} {
			f, err := ParseFile("f.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if plans[n], err = f.Plan(t.Context(), seed, Source{}); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(plans[0].Jobs, plans[1].Jobs) {
			t.Fatalf("seed %d: with losses other jobs are drawn", seed)
		}
		often, once := 0, 0
		for m := range plans[1].Machines {
			last := 50.0
			for _, l := range plans[1].Machines[m].Losses {
				switch {
				case l == PlanLoss{At: 7, Share: 1}:
					once++
				case l.Share != 0.5 || l.At < last:
					t.Errorf("seed %d: machine %d: %+v after %g s", seed, m, l, last)
				default:
					gaps, last = gaps+l.At-last, l.At
					often, all = often+1, all+1
				}
			}
			plans[1].Machines[m].Losses = nil
		}
		if often != 2*40 || once != 1 {
			t.Errorf("seed %d: %d and %d losses", seed, often, once)
		}
		if !reflect.DeepEqual(plans[0].Machines, plans[1].Machines) {
			t.Errorf("seed %d: with losses other machines are drawn", seed)
		}
	}
	if mean := gaps / float64(all); math.Abs(mean-100) > 4*100/math.Sqrt(float64(all)) {
		t.Errorf("mean gap %g s", mean)
	}
}

// What is wrong with a file is said, and where.
func TestFileErrors(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(two, old) {
			t.Fatalf("no %q in the file", old)
		}
		return strings.Replace(two, old, new, 1)
	}
	for _, x := range []struct{ file, want string }{
		{"", "f.yaml"},
		{change("map_slots: 2", "slotz: 2"), "f.yaml:7:3: there is no \"slotz\" here"},
		{change("map_slots: 2", "map_slots: 0"), "f.yaml:7:14"},
		{change("{count: 3, speed: 30}", "{count: 3, speed: 30, factor: 1}"), "classes: entry 1: give a factor or a speed"},
		{change("{count: 3, speed: 30}", "{count: 3}"), "classes: entry 1: give a factor or a speed"},
		{change("{count: 3, speed: 30}", "{count: 1000000, speed: 30}"), "classes of more than a million machines"},
		{strings.Replace(change("{count: 3, speed: 30}", "{count: 3, per_host: 3, speed: 30}"), "  speed: 60\n",
			"  speed: 60\n  network: {rack_mb_s: 1}\n", 1), "leave one out"},
		{change("  slow:", "  losses: [{machines: 8, share: 1}]\n  slow:"), "losses: entry 1: 8 of 7 machines lose outputs"},
		{change("  slow:", "  losses: [{machines: 1}]\n  slow:"), "losses: entry 1: share is missing"},
		{change("  slow:", "  losses: [{machines: 1, share: 1, count: 2}]\n  slow:"), "losses: entry 1: every_s is missing"},
		{change("  slow:", "  losses: [{machines: 1, share: 2}]\n  slow:"), "f.yaml:14:33: 2 is not between 0 and 1"},
		{change("  speed: 60\n", ""), "classes: entry 1 has a speed, and a normal machine has none"},
		{change("[1, 1.5]", "[1.5, 1]"), "uniform needs the smaller number first"},
		{change("[1, 1.5]", "[1]"), "uniform needs 2 numbers"},
		{change("{uniform: [1, 1.5]}", "{poisson: 3}"), `there is no distribution "poisson"`},
		{change("{uniform: [1, 1.5]}", "{uniform: [1, 2], normal: [1, 2]}"), "normal after uniform"},
		{change("{uniform: [1, 1.5]}", "[1, 2]"), "a number or a distribution is wanted"},
		{change("{uniform: [1, 1.5]}", "{least: 2}"), "no distribution is named"},
		{change("  speed: 60\n", "  speed: 60\n  network: {rack_mb_s: 1}\n"), "jobs: entry 1: copy_score is of reduces that take fetch_s to copy"},
		{change("copy_score: 0.25", "copy_score: 1"), "1 is not between 0 and 0.99"},
		{change("map_s: 20", "map_s: soon"), `"soon" is neither a number from 0 up nor a range such as 9..60`},
		{change("map_s: 20", "map_s: 20..3"), `"20..3" is neither`},
		{change("    map_s: 20\n", ""), "map_s is missing"},
		{change("luck: 8", "luck: {mix: [{share: 0.9, of: 1}, {share: 0.2, of: 8}]}"), "the shares of a mix add up to 1.1"},
		{change("luck: 8", "luck: {mix: [{share: 0.9, of: 1}, {share: 0.1}]}"), "a part of a mix needs"},
		{change("[30, 5]", "[30, -5]"), "a deviation is not negative"},
		{change("[[0.5, 0.3], [1, 1]]", "[[0.5, 0.3], [0.4, 1]]"), "jobs: entry 1: reports are pairs"},
		{change("map_s: 20", "map_s: {exponential: 0}"), "exponential needs a number above 0"},
		{change("maps: {uniform: [4, 9]}", "one_file: true\n    maps: {exponential: 9}"), "one_file needs maps with a largest number"},
		{change("machines: 2, factor: 5", "machines: 20, factor: 5"), "20 of 7 machines are slow"},
		{change("machines: 7", "machines: 10"), "10 machines, and classes of 9"},
	} {
		_, err := ParseFile("f.yaml", []byte(x.file))
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), x.want) {
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
		{"2..8", 5, 6 / math.Sqrt(12), 2},
		{"{normal: [30, 5]}", 30, 5, 0},
		{"{exponential: 4}", 4, 4, 0},
		{"{lognormal: [3, 0.5]}", 3 * lognormal, 3 * lognormal * math.Sqrt(math.Exp(0.25)-1), 0},
		{"{sum: 100, of: {uniform: [0, 1.4]}}", 70, 1.4 / math.Sqrt(12) * 10, 0},
		{"{mix: [{share: 0.75, of: 1}, {share: 0.25, of: {uniform: [4, 6]}}]}", 2, math.Sqrt(0.75*1 + 0.25*(9+4.0/12)), 1},
		// Half of a normal around 0 is cut to 0: the mean is 1/√(2π), the mean square a half.
		{"{normal: [0, 1], least: 0}", 1 / math.Sqrt(2*math.Pi), math.Sqrt(0.5 - 1/(2*math.Pi)), 0},
	} {
		var file struct {
			N Number `yaml:"n"`
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

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte("name: x\njobs: [{maps: {sum: 3, of: 2}, map_s: {lognormal: [1, 2]}}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := ParseFile("f.yaml", data); err != nil && !errors.Is(err, ErrFile) {
			t.Error(err)
		}
	})
}
