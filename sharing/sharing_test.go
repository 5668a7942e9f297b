package sharing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
)

// shop returns a run of six stages of 40 tasks on four machines in two racks; stages 1 and 2 read the table sales, 3 reads items,
// all but 6 from one bucket. Each task reads most from one of four data nodes, and starts in the order of its number.
func shop(slow func(stage, machine, source int) bool) (*Tasks, map[schema.Key]string) {
	r := New()
	names := map[schema.Key]string{}
	for stage := 1; stage <= 6; stage++ {
		phase := schema.Key(stage)
		names[phase] = fmt.Sprint("stage ", stage)
		cells := map[[2]string]count{}
		for task := range 40 {
			n := count{tasks: 1}
			if slow(stage, task%4+1, task/4%4+1) {
				n.slow = 1
			}
			sixteenth := (40*(stage-1) + task) * 16 / 240
			for _, at := range [][2]string{{"stage", ""}, {"machine", fmt.Sprint("m", task%4+1)}, {"rack", []string{"a", "b"}[task%4/2]},
				{"source", fmt.Sprint("data-", task/4%4+1)}, {"time", fmt.Sprint(sixteenth)}} {
				c := cells[at]
				c.add(n)
				cells[at] = c
			}
		}
		all := cells[[2]string{"stage", ""}]
		if table := map[int]string{1: "sales", 2: "sales", 3: "items"}[stage]; table != "" {
			cells[[2]string{"table", table}] = all
		}
		if stage < 6 {
			cells[[2]string{"path", fmt.Sprint("s3a://lake/warehouse/", stage)}] = all
		} else {
			cells[[2]string{"path", "hdfs://nn:8020/other"}] = all
		}
		r.Add(phase, Stage, "", all.tasks, all.slow)
		for at, c := range cells {
			if at[0] != "stage" {
				r.Add(phase, at[0], at[1], c.tasks, c.slow)
			}
		}
	}
	return r, names
}

// What the slow tasks have in common is found, whatever it is, and where two things have them in common neither is named alone.
func TestSharing(t *testing.T) {
	for _, c := range []struct {
		what string
		slow func(stage, machine, source int) bool
		want []string // dimension and values; a question mark where others explain the same
	}{
		{"nothing", func(int, int, int) bool { return false }, nil},
		{"everything", func(int, int, int) bool { return true }, nil},
		{"half of everything", func(stage, machine, source int) bool { return (stage+machine+source)%2 == 0 }, nil},
		{"a machine", func(_, m, _ int) bool { return m == 3 }, []string{"machine [m3]"}},
		{"a rack of two", func(_, m, _ int) bool { return m >= 3 }, []string{"rack [b] ?", "machine [m3 m4] ?"}},
		{"machines of two racks", func(_, m, _ int) bool { return m == 1 || m == 3 }, []string{"machine [m1 m3]"}},
		{"a data node", func(_, _, s int) bool { return s == 1 }, []string{"source [data-1]"}},
		{"a table that two stages read", func(stage, _, _ int) bool { return stage <= 2 }, []string{"table [sales] ?", "stage [stage 1 stage 2] ?"}},
		{"a file system", func(stage, _, _ int) bool { return stage == 6 }, []string{"file system [hdfs://nn:8020] ?", "stage [stage 6] ?"}},
		{"a data node in the stages of a table", func(stage, _, s int) bool { return stage <= 2 && s == 2 }, []string{"source [data-2]"}},
	} {
		r, names := shop(c.slow)
		found := r.Shared(names)
		tasks, _ := r.Count()
		var got []string
		for _, s := range found {
			text := fmt.Sprint(s.Dimension, " ", s.Values)
			if s.Alike {
				text += " ?"
			}
			if s.Dimension != "time" {
				got = append(got, text)
			}
		}
		if !slices.Equal(got, c.want) || tasks != 240 {
			t.Errorf("%s: %q of %d tasks, want %q", c.what, got, tasks, c.want)
		}
	}
}

// A few slow tasks that nothing sets apart are not said to have slowed with all of the run.
func TestFewSlowTasks(t *testing.T) {
	for slow, want := range map[int64]bool{3: false, 240: true} {
		if words := fmt.Sprint(Words(nil, 300, slow, 60)); strings.Contains(words, "all of the run shared") != want {
			t.Errorf("of 300 tasks %d are slow: %s", slow, words)
		}
	}
}

// Slow tasks anywhere have nothing in common, in 99 of 100 runs.
func TestSharingByChance(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 6))
	wrong := 0
	for range 1000 {
		rate := 0.02 + 0.3*r.Float64()
		run, names := shop(func(int, int, int) bool { return r.Float64() < rate })
		if found := run.Shared(names); len(found) > 0 {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("of 1 000 runs with slow tasks by chance, something is shared in %d", wrong)
	}
}

// Parts of slow tasks are added up in the same order every time: in doubles, 0.3 + 0.2 + 0.1 is not 0.1 + 0.2 + 0.3.
func TestSameSums(t *testing.T) {
	r := New()
	for i := range 9 {
		r.Add(schema.Key(i+1), Stage, "", 1, 0.1*float64(i+1))
	}
	first := r.held(Machine)
	for range 100 {
		if again := r.held(Machine); again != first {
			t.Fatalf("%v, then %v", first, again)
		}
	}
}
