package mincost

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"straggler/whatif/schedule/steptest"
)

// cluster is a network like a scheduler's: tasks that cost something to leave unscheduled, by jobs, and something to run on a
// few machines, on any machine of a few racks and anywhere. There are thirty machines per rack, and each takes one task.
type cluster struct {
	n        *Network
	r        *rand.Rand
	sink     Node
	anywhere Node
	machines []Node
	racks    []Node
	out      []Arc // of machines
	jobs     []Node
	tasks    []Node
	leave    []Arc // of tasks, to the node of their job
}

func newCluster(seed uint64, machines, jobs, tasks int) *cluster {
	c := &cluster{n: New(), r: rand.New(rand.NewPCG(seed, 5))}
	c.sink, c.anywhere = c.n.AddNode(0), c.n.AddNode(0)
	for m := range machines {
		if m%30 == 0 {
			c.racks = append(c.racks, c.n.AddNode(0))
			c.n.AddArc(c.anywhere, c.racks[m/30], 30, 0)
		}
		u := c.n.AddNode(0)
		c.machines = append(c.machines, u)
		c.n.AddArc(c.racks[m/30], u, 1, 0)
		c.out = append(c.out, c.n.AddArc(u, c.sink, 1, 0))
	}
	for range jobs {
		u := c.n.AddNode(0)
		c.jobs = append(c.jobs, u)
		c.n.AddArc(u, c.sink, MaxCapacity, 0)
	}
	for range tasks {
		c.addTask()
	}
	c.n.SetSupply(c.sink, -int64(tasks))
	return c
}

// addTask adds a task that reads one to three blocks of 256 units, each on three machines, two of them in one rack, and has
// waited up to a minute.
func (c *cluster) addTask() {
	blocks := 1 + c.r.IntN(3)
	u := c.n.AddNode(1)
	c.tasks = append(c.tasks, u)
	c.leave = append(c.leave, c.n.AddArc(u, c.jobs[c.r.IntN(len(c.jobs))], 1, int64(c.r.IntN(30000))))
	c.n.AddArc(u, c.anywhere, 1, int64(2*256*blocks))
	for range blocks {
		first, second := c.r.IntN(len(c.machines)), c.r.IntN(len(c.machines))
		third := min(second/30*30+c.r.IntN(30), len(c.machines)-1)
		for _, m := range []int{first, second, third} {
			c.n.AddArc(u, c.machines[m], 1, int64(2*256*(blocks-1)+c.r.IntN(64)))
		}
		for _, m := range []int{first, second} {
			c.n.AddArc(u, c.racks[m/30], 1, int64(2*256*(blocks-1)+256))
		}
	}
}

// event ends a running task, lets all others wait a moment longer, or adds a task.
func (c *cluster) event(k int) {
	if k%2 == 0 {
		c.addTask()
	} else {
		for at := c.r.IntN(len(c.tasks)); ; at = (at + 1) % len(c.tasks) {
			if c.n.Flow(c.leave[at]) == 0 {
				c.n.RemoveNode(c.tasks[at])
				c.tasks = slices.Delete(c.tasks, at, at+1)
				c.leave = slices.Delete(c.leave, at, at+1)
				break
			}
		}
		for _, a := range c.out {
			c.n.SetCost(a, c.n.arcs[a].cost-1)
		}
	}
	c.n.SetSupply(c.sink, -int64(len(c.tasks)))
}

var sizes = []struct{ machines, jobs, tasks int }{{250, 10, 2000}, {2500, 100, 20000}}

// On large networks the flow is certified by its reduced costs, cold and after events.
func TestClusters(t *testing.T) {
	for _, size := range sizes {
		c := newCluster(2, size.machines, size.jobs, size.tasks)
		for k := range 100 {
			if err := c.n.Solve(); err != nil {
				t.Fatal(err)
			}
			if err := certificate(c.n); err != nil {
				t.Fatalf("%d machines, after %d events: %v", size.machines, k, err)
			}
			c.event(k)
		}
		warm, err := solved(c.n)
		if err != nil {
			t.Fatal(err)
		}
		c.n.Forget()
		if cold, err := solved(c.n); err != nil || cold != warm {
			t.Errorf("%d machines: %d after events, and %d, %v from nothing", size.machines, warm, cold, err)
		}
	}
}

func solved(n *Network) (int64, error) {
	if err := n.Solve(); err != nil {
		return 0, err
	}
	return n.Cost()
}

// One event, one solve.
func BenchmarkEvent(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("machines=%d/tasks=%d", size.machines, size.tasks), func(b *testing.B) {
			c := newCluster(1, size.machines, size.jobs, size.tasks)
			if err := c.n.Solve(); err != nil {
				b.Fatal(err)
			}
			for k := range 200 {
				c.event(k)
				if err := c.n.Solve(); err != nil {
					b.Fatal(err)
				}
			}
			var took steptest.Watch
			c.n.Work = Work{}
			b.ReportAllocs()
			for k := 0; b.Loop(); k++ {
				c.event(k)
				took.Start()
				if err := c.n.Solve(); err != nil {
					b.Fatal(err)
				}
				took.Stop()
			}
			took.Report(b)
			b.ReportMetric(float64(c.n.Work.Scanned)/float64(b.N), "arcs/event")
		})
	}
}

// Solves from scratch, compared with OR-tools' solver on the same network and machine at the same time if STRAGGLER_ORTOOLS
// names a Python that has it.
func BenchmarkCold(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("machines=%d/tasks=%d", size.machines, size.tasks), func(b *testing.B) {
			c := newCluster(1, size.machines, size.jobs, size.tasks)
			var took steptest.Watch
			c.n.Work = Work{}
			for b.Loop() {
				c.n.Forget()
				took.Start()
				if err := c.n.Solve(); err != nil {
					b.Fatal(err)
				}
				took.Stop()
			}
			took.Report(b)
			b.ReportMetric(float64(c.n.Work.Scanned)/float64(b.N), "arcs/solve")
			b.ReportMetric(slices.Min(took.Wall), "best-ms")
			if python := os.Getenv("STRAGGLER_ORTOOLS"); python != "" {
				beside(b, python, c.n)
			}
		})
	}
}

// beside solves the network with OR-tools, five times.
func beside(b *testing.B, python string, n *Network) {
	var in bytes.Buffer
	dimacs(&in, n)
	cmd := exec.Command(python, "testdata/dimacs_ortools.py", "5")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	words := strings.Fields(string(out))
	if cost, err := n.Cost(); err != nil || strconv.FormatInt(cost, 10) != words[0] {
		b.Fatalf("OR-tools finds a cost of %s, we %d, %v", words[0], cost, err)
	}
	var took []float64
	for _, w := range words[1:] {
		t, err := strconv.ParseFloat(w, 64)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, t)
	}
	slices.Sort(took)
	b.ReportMetric(took[0], "ortools-best-ms")
	b.ReportMetric(took[len(took)/2], "ortools-median-ms")
}

// dimacs writes the network in the DIMACS min format, nodes numbered from 1.
func dimacs(w io.Writer, n *Network) {
	fmt.Fprintf(w, "p min %d %d\n", len(n.nodes), n.Arcs())
	for u, v := range n.nodes {
		if v.supply != 0 {
			fmt.Fprintf(w, "n %d %d\n", u+1, v.supply)
		}
	}
	for _, e := range n.arcs {
		if e.tail != none {
			fmt.Fprintf(w, "a %d %d 0 %d %d\n", e.tail+1, e.head+1, e.capacity, e.cost)
		}
	}
}
