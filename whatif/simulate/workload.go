package simulate

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"straggler/strictyaml"
	"straggler/whatif/policy"
	"straggler/whatif/schedule"
)

// ErrWorkload is the kind of errors about a workload that makes no sense.
var ErrWorkload = errors.New("workload")

// Workload is what a workload file says.
type Workload struct {
	Name       string   `yaml:"name" required:"true"`
	About      string   `yaml:"about"`
	Cluster    Cluster  `yaml:"cluster"`
	Queues     []Queue  `yaml:"queues"`
	Jobs       []Jobs   `yaml:"jobs"`
	Schedulers []string `yaml:"schedulers"` // names of the table; with options: delay.t1=5
	Policies   []string `yaml:"policies"`
	Set        []string `yaml:"set"` // options of policies: late.cap=0.2
	Seeds      int      `yaml:"seeds" min:"1" max:"1000"`
	Sigma      float64  `yaml:"progress_error" min:"0" max:"3"`
	Until      float64  `yaml:"count_until_s" min:"0" max:"1e9"` // counts the jobs that have ended by then; 0: no such count
}

// Cluster is what a workload runs on.
type Cluster struct {
	Machines    int      `yaml:"machines" min:"1" max:"20000"`
	Racks       int      `yaml:"racks" min:"1" max:"2000"`
	MapSlots    int      `yaml:"map_slots" min:"1" max:"1000"`
	ReduceSlots int      `yaml:"reduce_slots" min:"0" max:"1000"` // 0: reduces take the slots of maps
	Slow        []Slow   `yaml:"slow"`
	Replicas    int      `yaml:"replicas" min:"1" max:"100"`
	Network     *Network `yaml:"network"`
	Slowdown    Slowdown `yaml:"slowdown"`
}

// Slow is so many machines that take longer.
type Slow struct {
	Machines int     `yaml:"machines" min:"1" max:"20000"`
	Factor   float64 `yaml:"factor" min:"0.01" max:"1000"`
}

// Network is the bandwidth of links, MB/s; 0 is no limit.
type Network struct {
	Rack   float64 `yaml:"rack_mb_s" min:"0" max:"1e9"`    // up and down, each
	NIC    float64 `yaml:"machine_mb_s" min:"0" max:"1e9"` // in and out, each
	Disk   float64 `yaml:"disk_mb_s" min:"0" max:"1e9"`    // a machine's disks together
	InRack float64 `yaml:"in_rack_mb_s" min:"0" max:"1e9"` // of one fetch of a reduce within its rack
}

// Slowdown is the factor of the time of tasks away from their data, without a network.
type Slowdown struct {
	Rack   float64 `yaml:"rack" min:"1" max:"1000"`
	Remote float64 `yaml:"remote" min:"1" max:"1000"`
}

// Queue is a pool with its minimum shares.
type Queue struct {
	Name    string `yaml:"name" required:"true"`
	Maps    int    `yaml:"min_maps" min:"0" max:"1e6"`
	Reduces int    `yaml:"min_reduces" min:"0" max:"1e6"`
}

// Jobs are jobs of one kind.
type Jobs struct {
	Name    string  `yaml:"name"`
	Mix     Mix     `yaml:"mix"`   // sizes by the table of a paper
	SWIM    string  `yaml:"swim"`  // sizes and arrivals of a SWIM file
	Store   string  `yaml:"store"` // the jobs of a store, as they were
	Queue   string  `yaml:"queue"`
	Count   int     `yaml:"count" min:"1" max:"1e6"`
	Workers int     `yaml:"workers" min:"0" max:"1e5"` // so many send one job after the other, count each; 0: they arrive
	At      float64 `yaml:"at_s" min:"0" max:"1e9"`    // the first
	Every   float64 `yaml:"every_s" min:"0" max:"1e9"` // mean gap, Poisson; 0: all at once

	Maps       Range   `yaml:"maps"`
	MapTime    Range   `yaml:"map_s"`
	PerJob     bool    `yaml:"time_per_job"` // one draw of the times a job, and not a task
	Spread     float64 `yaml:"spread" min:"0" max:"3"`
	Block      float64 `yaml:"block_mb" min:"0" max:"1e6"` // input of a map; 0: it has none
	File       bool    `yaml:"one_file"`                   // all of these jobs read the same
	Output     Range   `yaml:"map_output"`                 // bytes out per byte in
	Reduces    Range   `yaml:"reduces"`
	PerMap     Range   `yaml:"reduces_per_map"` // in place of a number
	ReduceTime Range   `yaml:"reduce_s"`
	Fetch      Range   `yaml:"fetch_s"`                    // without a network
	Early      float64 `yaml:"early" min:"0" max:"1"`      // share of the maps that are over when reduces may start
	Unlucky    float64 `yaml:"unlucky" min:"0" max:"1"`    // share of tasks that take longer for no reason
	Luck       Range   `yaml:"luck"`                       // how many times as long
	Scale      float64 `yaml:"scale" min:"1e-6" max:"1e6"` // of a SWIM file's bytes
}

// Range is a number, or any between two: 9..60.
type Range string

// Check says whether it is one.
func (r Range) Check() error { _, _, err := r.bounds(); return err }

func (r Range) bounds() (low, high float64, err error) {
	if r == "" {
		return 0, 0, nil
	}
	from, to, two := strings.Cut(string(r), "..")
	if !two {
		to = from
	}
	low, err1 := strconv.ParseFloat(strings.TrimSpace(from), 64)
	high, err2 := strconv.ParseFloat(strings.TrimSpace(to), 64)
	if err1 != nil || err2 != nil || !(low >= 0 && high >= low && high <= 1e9) {
		return 0, 0, fmt.Errorf("%q is neither a number from 0 up nor a range such as 9..60", string(r))
	}
	return low, high, nil
}

// Mix is the name of a table of job sizes.
type Mix string

// Check says whether there is such a table.
func (m Mix) Check() error {
	if _, ok := mixes[m]; ok || m == "" {
		return nil
	}
	return fmt.Errorf("there is no mix %q; there are %s", string(m), strings.Join(mixNames(), ", "))
}

// defaults is a workload of a small cluster without jobs.
func defaults() *Workload {
	return &Workload{
		Cluster: Cluster{Machines: 100, Racks: 4, MapSlots: 4, ReduceSlots: 2, Replicas: 3, Slowdown: Slowdown{Rack: 1, Remote: 1}},
		Seeds:   3, Sigma: 0.1,
	}
}

// Read reads a workload file.
func Read(name string) (*Workload, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > 1<<20 {
		return nil, fmt.Errorf("%w: %s is larger than 1 MB", ErrWorkload, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorkload, err)
	}
	return Parse(name, data)
}

// Parse reads a workload; errors name file, line, column and key.
func Parse(name string, data []byte) (*Workload, error) {
	w := defaults()
	if err := strictyaml.Decode(name, data, w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorkload, err)
	}
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrWorkload, name, err)
	}
	return w, nil
}

// check says what is wrong with the workload as a whole.
func (w *Workload) check() error {
	c := &w.Cluster
	slow := 0
	for _, s := range c.Slow {
		slow += s.Machines
	}
	switch {
	case len(w.Jobs) == 0:
		return errors.New("there are no jobs")
	case c.Racks > c.Machines:
		return fmt.Errorf("cluster: %d racks for %d machines", c.Racks, c.Machines)
	case slow > c.Machines:
		return fmt.Errorf("cluster: %d of %d machines are slow", slow, c.Machines)
	case c.Machines*(c.MapSlots+c.ReduceSlots) > 1e6:
		return fmt.Errorf("cluster: more than a million slots")
	}
	for i := range w.Jobs {
		if err := w.checkJobs(&w.Jobs[i]); err != nil {
			return fmt.Errorf("jobs: entry %d: %w", i+1, err)
		}
	}
	if _, err := w.schedulers(); err != nil {
		return fmt.Errorf("schedulers: %w", err)
	}
	if _, err := w.policies(); err != nil {
		return fmt.Errorf("policies: %w", err)
	}
	return nil
}

func (w *Workload) checkJobs(j *Jobs) error {
	sources := 0
	for _, s := range []bool{j.Mix != "", j.SWIM != "", j.Store != "", j.Maps != ""} {
		if s {
			sources++
		}
	}
	switch {
	case sources != 1:
		return errors.New("give one of maps, mix, swim and store")
	case j.Store == "" && j.MapTime == "":
		return errors.New("map_s is missing: how long maps take")
	case j.Reduces != "" && j.PerMap != "":
		return errors.New("give reduces or reduces_per_map, not both")
	case (j.Reduces != "" || j.PerMap != "") && j.ReduceTime == "":
		return errors.New("reduce_s is missing: how long reduces compute")
	case j.Queue != "" && w.queue(j.Queue) < 0:
		return fmt.Errorf("there is no queue %q", j.Queue)
	case j.Workers > 0 && (j.SWIM != "" || j.Store != ""):
		return errors.New("workers send jobs that arrive by themselves: leave workers out")
	}
	return nil
}

func (w *Workload) queue(name string) int32 {
	for i := range w.Queues {
		if w.Queues[i].Name == name {
			return int32(i)
		}
	}
	return -1
}

// schedulers are those of the workload; fifo and fair where it names none.
func (w *Workload) schedulers() ([]schedule.Scheduler, error) {
	names := w.Schedulers
	if len(names) == 0 {
		names = []string{"fifo", "fair"}
	}
	out, err := schedule.Choose(names)
	for i := range out {
		if out[i].Name == "observed" {
			return nil, errors.New("observed is the order of a log, and there is none here")
		}
	}
	return out, err
}

// policies are those of the workload; none where it names none.
func (w *Workload) policies() ([]policy.Policy, error) {
	names := w.Policies
	if len(names) == 0 {
		names = []string{"none"}
	}
	out, err := policy.Choose(names, w.Set, nil, nil)
	for i := range out {
		if out[i].Ideal {
			return nil, fmt.Errorf("%s changes what a log observed, and there is none here", out[i].Name)
		}
	}
	return out, err
}
