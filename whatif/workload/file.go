package workload

import (
	"errors"
	"fmt"
	"math"
	"os"

	"straggler/spelling"
	"straggler/strictyaml"
)

// ErrFile is wrapped by errors about the contents of a workload file.
var ErrFile = errors.New("workload")

// File is a workload file: a cluster, its jobs, and the schedulers and policies to try on them.
type File struct {
	Name       string       `yaml:"name" required:"true"`
	About      string       `yaml:"about"`
	Source     string       `yaml:"source"`  // source of the numbers
	Assumed    []string     `yaml:"assumed"` // what the source does not say
	Cluster    Cluster      `yaml:"cluster"`
	Queues     []QueueShare `yaml:"queues"`
	Jobs       []Jobs       `yaml:"jobs"`
	Schedulers []string     `yaml:"schedulers"` // names of the table; with options: delay.t1=5
	Policies   []string     `yaml:"policies"`
	Set        []string     `yaml:"set"` // options of policies: late.cap=0.2
	Seeds      int          `yaml:"seeds" min:"1" max:"1000"`
	Sigma      float64      `yaml:"progress_error" min:"0" max:"3"`
	// counts the jobs that have ended by then; 0: no such count
	Until float64 `yaml:"count_until_s" min:"0" max:"1e9"`
}

// Cluster describes the cluster of a workload.
type Cluster struct {
	Machines    int            `yaml:"machines" min:"1" max:"20000"`
	Racks       int            `yaml:"racks" min:"1" max:"2000"`
	MapSlots    int            `yaml:"map_slots" min:"1" max:"1000"`
	ReduceSlots int            `yaml:"reduce_slots" min:"0" max:"1000"` // 0: reduces take the slots of maps
	Classes     []MachineClass `yaml:"classes"`                         // what the machines are drawn from; none: equal ones
	Speed       float64        `yaml:"speed" min:"0" max:"1e9"`         // of a normal machine, where classes have speeds
	Slow        []Slow         `yaml:"slow"`
	Losses      []Losing       `yaml:"losses"`
	Replicas    int            `yaml:"replicas" min:"1" max:"100"`
	Network     *Network       `yaml:"network"`
	Slowdown    Slowdown       `yaml:"slowdown"`
}

// MachineClass is a number of machines of a kind, by their factor or by their speed.
type MachineClass struct {
	Count  int    `yaml:"count" min:"1" max:"1000000"`
	Factor Number `yaml:"factor"` // time relative to a normal machine
	Speed  Number `yaml:"speed"`  // in a unit of the file's own
	// PerHost is the number of virtual machines per host, which share its disks and network equally: each is as fast as its
	// factor or speed says while all machines of its host are active, and faster, up to a normal machine, while fewer are.
	// Attempts share their machine, maps and reduces alike: a task takes the given time while all slots of its class are in use
	// and none of the other, less while fewer are, and more while both are. 0: nothing is shared.
	PerHost int `yaml:"per_host" min:"0" max:"1000"`
}

// Slow is a number of machines that are slower by a factor.
type Slow struct {
	Machines int     `yaml:"machines" min:"1" max:"20000"`
	Factor   float64 `yaml:"factor" min:"0.01" max:"1000"`
}

// Losing is a number of machines that lose task outputs, each at instants of its own: each output with the same probability,
// independently. Lost outputs are recomputed when needed (PlanLoss).
type Losing struct {
	Machines int     `yaml:"machines" min:"1" max:"20000"`
	At       float64 `yaml:"at_s" min:"0" max:"1e9"`    // the first; with a mean gap, it comes after one
	Every    float64 `yaml:"every_s" min:"0" max:"1e9"` // mean gap between a machine's, Poisson
	Count    int     `yaml:"count" min:"1" max:"10000"` // of a machine
	Share    float64 `yaml:"share" min:"0" max:"1"`     // of the outputs that it holds
}

// Network is the bandwidth of links, MB/s; 0 is no limit.
type Network struct {
	Rack   float64 `yaml:"rack_mb_s" min:"0" max:"1e9"`    // up and down, each
	NIC    float64 `yaml:"machine_mb_s" min:"0" max:"1e9"` // in and out, each
	Disk   float64 `yaml:"disk_mb_s" min:"0" max:"1e9"`    // a machine's disks together
	InRack float64 `yaml:"in_rack_mb_s" min:"0" max:"1e9"` // of one fetch of a reduce within its rack
}

// Slowdown has the factors of the time of tasks away from their data, without a network.
type Slowdown struct {
	Rack   float64 `yaml:"rack" min:"1" max:"1000"`
	Remote float64 `yaml:"remote" min:"1" max:"1000"`
}

// QueueShare is a pool with its minimum shares.
type QueueShare struct {
	Name    string `yaml:"name" required:"true"`
	Maps    int    `yaml:"min_maps" min:"0" max:"1e6"`
	Reduces int    `yaml:"min_reduces" min:"0" max:"1e6"`
}

// Jobs are jobs of one kind.
type Jobs struct {
	Name  string `yaml:"name"`
	Mix   Mix    `yaml:"mix"`   // sizes by the table of a paper
	SWIM  string `yaml:"swim"`  // sizes and arrivals of a SWIM file
	Store string `yaml:"store"` // the jobs of a store, as they were
	Queue string `yaml:"queue"`
	Count int    `yaml:"count" min:"1" max:"1e6"`
	// number of users who submit one job after the other, count each; 0: jobs arrive
	Workers int     `yaml:"workers" min:"0" max:"1e5"`
	At      float64 `yaml:"at_s" min:"0" max:"1e9"`    // the first
	Every   float64 `yaml:"every_s" min:"0" max:"1e9"` // mean gap, Poisson; 0: all at once

	Maps       Number  `yaml:"maps"`
	MapTime    Number  `yaml:"map_s"`
	PerJob     bool    `yaml:"time_per_job"` // one draw of the times per job instead of per task
	Spread     float64 `yaml:"spread" min:"0" max:"3"`
	Block      float64 `yaml:"block_mb" min:"0" max:"1e6"` // input of a map; 0: it has none
	File       bool    `yaml:"one_file"`                   // all of these jobs read the same
	Output     Number  `yaml:"map_output"`                 // bytes out per byte in
	Reduces    Number  `yaml:"reduces"`
	PerMap     Number  `yaml:"reduces_per_map"` // in place of a number
	ReduceTime Number  `yaml:"reduce_s"`
	Fetch      Number  `yaml:"fetch_s"` // without a network
	// most slots that one of the jobs takes at once, copies apart; 0: as many as it gets
	Limit   int     `yaml:"limit" min:"0" max:"1e6"`
	Early   float64 `yaml:"early" min:"0" max:"1"`      // share of finished maps at which reduces may start
	Unlucky float64 `yaml:"unlucky" min:"0" max:"1"`    // share of tasks that take longer for no reason
	Luck    Number  `yaml:"luck"`                       // by what factor
	Scale   float64 `yaml:"scale" min:"1e-6" max:"1e6"` // of a SWIM file's bytes
	// MapReports and ReduceReports are what every task reports of its progress: pairs of a share of its time and its score
	// then; none: it is linear, with an error.
	MapReports    [][2]float32 `yaml:"map_reports"`
	ReduceReports [][2]float32 `yaml:"reduce_reports"`
	// CopyScore is the score of a reduce that has copied its input, 1/3 in Hadoop: until then it is the share of the outputs of
	// the maps that it has, times this; reduce_reports are of its time from then on, and of the rest of the score. 0: copying
	// has no part of its own.
	CopyScore float64 `yaml:"copy_score" min:"0" max:"0.99"`
}

// Mix is the name of a table of job sizes.
type Mix string

// Check returns an error if there is no such table.
func (m Mix) Check() error {
	if _, ok := mixes[m]; ok || m == "" {
		return nil
	}
	return fmt.Errorf("there is no mix %q; %s", string(m), spelling.Choices(string(m), mixNames()))
}

// defaults returns a workload of a small cluster without jobs.
func defaults() *File {
	return &File{
		Cluster: Cluster{Machines: 100, Racks: 4, MapSlots: 4, ReduceSlots: 2, Replicas: 3, Slowdown: Slowdown{Rack: 1, Remote: 1}},
		Seeds:   3, Sigma: 0.1,
	}
}

// ReadFile reads a workload file.
func ReadFile(name string) (*File, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > 1<<20 {
		return nil, fmt.Errorf("%w: %s is larger than 1 MB", ErrFile, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return ParseFile(name, data)
}

// ParseFile reads a workload; errors name file, line, column and key.
func ParseFile(name string, data []byte) (*File, error) {
	f := defaults()
	if err := strictyaml.Decode(name, data, f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, name, err)
	}
	return f, nil
}

// check validates the workload as a whole.
func (f *File) check() error {
	c := &f.Cluster
	slow, kinds, lost := 0, 0, 0
	for _, s := range c.Slow {
		slow += s.Machines
	}
	for i := range c.Losses {
		l := &c.Losses[i]
		switch {
		case l.Machines > c.Machines:
			return fmt.Errorf("cluster: losses: entry %d: %d of %d machines lose outputs", i+1, l.Machines, c.Machines)
		case l.Share == 0:
			return fmt.Errorf("cluster: losses: entry %d: share is missing: of what a machine holds, 1 for all", i+1)
		case l.Count > 1 && l.Every == 0:
			return fmt.Errorf("cluster: losses: entry %d: every_s is missing: the mean gap of the %d instants", i+1, l.Count)
		}
		lost += l.Machines * max(l.Count, 1)
	}
	for i := range c.Classes {
		k := &c.Classes[i]
		switch {
		case k.Factor.given() == k.Speed.given():
			return fmt.Errorf("cluster: classes: entry %d: give a factor or a speed", i+1)
		case k.Speed.given() && c.Speed <= 0:
			return fmt.Errorf("cluster: classes: entry %d has a speed, and a normal machine has none (speed)", i+1)
		case k.PerHost > 0 && c.Network != nil:
			return fmt.Errorf("cluster: classes: entry %d shares hosts (per_host), and a network has links of its own: leave one out", i+1)
		}
		kinds += k.Count
	}
	switch {
	case len(f.Jobs) == 0:
		return errors.New("there are no jobs")
	case c.Racks > c.Machines:
		return fmt.Errorf("cluster: %d racks for %d machines", c.Racks, c.Machines)
	case kinds > 1e6:
		return errors.New("cluster: classes of more than a million machines")
	case len(c.Classes) > 0 && kinds < c.Machines:
		return fmt.Errorf("cluster: %d machines, and classes of %d", c.Machines, kinds)
	case slow > c.Machines:
		return fmt.Errorf("cluster: %d of %d machines are slow", slow, c.Machines)
	case lost > 1e6:
		return errors.New("cluster: losses at more than a million instants")
	case c.Machines*(c.MapSlots+c.ReduceSlots) > 1e6:
		return errors.New("cluster: more than a million slots")
	}
	for i := range f.Jobs {
		if err := f.checkJobs(&f.Jobs[i]); err != nil {
			return fmt.Errorf("jobs: entry %d: %w", i+1, err)
		}
	}
	return nil
}

func (f *File) checkJobs(j *Jobs) error {
	sources := 0
	for _, s := range []bool{j.Mix != "", j.SWIM != "", j.Store != "", j.Maps.given()} {
		if s {
			sources++
		}
	}
	switch {
	case sources != 1:
		return errors.New("give one of maps, mix, swim and store")
	case j.Store == "" && !j.MapTime.given():
		return errors.New("map_s is missing: how long maps take")
	case j.Reduces.given() && j.PerMap.given():
		return errors.New("give reduces or reduces_per_map, not both")
	case (j.Reduces.given() || j.PerMap.given()) && !j.ReduceTime.given():
		return errors.New("reduce_s is missing: how long reduces compute")
	case j.Queue != "" && f.queue(j.Queue) < 0:
		return fmt.Errorf("there is no queue %q", j.Queue)
	case j.File && math.IsInf(j.Maps.most(), 1):
		return errors.New("one_file needs maps with a largest number: 9..60")
	case j.CopyScore > 0 && f.Cluster.Network != nil:
		return errors.New("copy_score is of reduces that take fetch_s to copy, and a network has links of its own: leave one out")
	case j.Workers > 0 && (j.SWIM != "" || j.Store != ""):
		return errors.New("workers send jobs that arrive by themselves: leave workers out")
	}
	for _, reports := range [][][2]float32{j.MapReports, j.ReduceReports} {
		last := [2]float32{}
		for _, x := range reports {
			if !(x[0] >= last[0] && x[1] >= last[1] && x[0] <= 1 && x[1] <= 1) {
				return fmt.Errorf("reports are pairs of a share of the time and a score, 0 to 1, that do not go back; %g is one", x)
			}
			last = x
		}
	}
	return nil
}

func (f *File) queue(name string) int32 {
	for i := range f.Queues {
		if f.Queues[i].Name == name {
			return int32(i)
		}
	}
	return -1
}
