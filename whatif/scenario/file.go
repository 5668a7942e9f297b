package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"straggler/strictyaml"
	"straggler/whatif/workload"
)

// ErrFile is wrapped by errors about what a file says.
var ErrFile = errors.New("scenario")

// File describes a cluster and its jobs by numbers and distributions; each seed draws another cluster of the kind.
type File struct {
	Source   string         `yaml:"source"`  // where the numbers come from
	Assumed  []string       `yaml:"assumed"` // what the source does not say
	Version  string         `yaml:"version"` // of the framework
	Slots    int            `yaml:"slots"`   // of every machine
	Machines []MachineClass `yaml:"machines"`
	Take     int            `yaml:"take"`  // so many of the machines, drawn; 0: all
	Slowed   Slowed         `yaml:"slow"`  // machines, drawn, that are slower still
	Speed    float64        `yaml:"speed"` // of a normal machine, where classes have speeds
	Jobs     []JobClass     `yaml:"jobs"`
}

// MachineClass is a number of machines of a kind, by their factor or by their speed.
type MachineClass struct {
	Count  int     `yaml:"count"`
	Factor *Number `yaml:"factor"` // time relative to a normal machine
	Speed  *Number `yaml:"speed"`  // in the unit of the file's own
}

// Slowed is a number of machines that take a factor longer than they would.
type Slowed struct {
	Count  int     `yaml:"count"`
	Factor float64 `yaml:"factor"`
}

// JobClass is a number of jobs of a kind.
type JobClass struct {
	Count  int          `yaml:"count"` // 0: 1
	Every  *Number      `yaml:"every"` // seconds between two arrivals; nil: all at 0
	Limit  int          `yaml:"limit"` // most slots to a job; 0: as many as are free
	Phases []PhaseClass `yaml:"phases"`
}

// PhaseClass is a phase of such a job.
type PhaseClass struct {
	Kind    string  `yaml:"kind"`
	After   []int   `yaml:"after"`
	Tasks   *Number `yaml:"tasks"`
	Seconds *Number `yaml:"seconds"` // of a task on a normal machine
	Bytes   *Number `yaml:"bytes"`
	Luck    *Number `yaml:"luck"` // factor that a copy would not have; nil: 1
	// Reports are what every task reports of its progress: pairs of a share of its time and its score then.
	Reports [][2]float32 `yaml:"reports"`
}

const (
	mostMachines = 1_000_000
	mostTasks    = 50_000_000
)

// Parse reads a file. Errors about a value name its line and column.
func Parse(name string, data []byte) (*File, error) {
	f := &File{}
	if err := strictyaml.Decode(name, data, f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, name, err)
	}
	return f, nil
}

func (f *File) check() error {
	machines := 0
	for i, c := range f.Machines {
		switch {
		case c.Count < 1:
			return fmt.Errorf("machines %d: count %d; at least one is wanted", i, c.Count)
		case c.Factor != nil && c.Speed != nil:
			return fmt.Errorf("machines %d: a factor and a speed; one is wanted", i)
		case c.Speed != nil && f.Speed <= 0:
			return fmt.Errorf("machines %d: a speed, and none of a normal machine (speed)", i)
		}
		machines += c.Count
	}
	switch {
	case machines == 0 || machines > mostMachines:
		return fmt.Errorf("%d machines; 1 to %d are wanted", machines, mostMachines)
	case f.Slots < 1:
		return fmt.Errorf("slots %d; at least one is wanted", f.Slots)
	case f.Take < 0 || f.Take > machines:
		return fmt.Errorf("take %d of %d machines", f.Take, machines)
	case f.Slowed.Count < 0 || f.Slowed.Count > machines || f.Slowed.Count > 0 && f.Slowed.Factor <= 0:
		return fmt.Errorf("slow: %d machines by a factor of %g", f.Slowed.Count, f.Slowed.Factor)
	case len(f.Jobs) == 0:
		return errors.New("no jobs")
	}
	for i := range f.Jobs {
		if err := f.Jobs[i].check(); err != nil {
			return fmt.Errorf("jobs %d: %w", i, err)
		}
	}
	return nil
}

func (j *JobClass) check() error {
	if j.Count < 0 || len(j.Phases) == 0 {
		return fmt.Errorf("count %d, %d phases; at least one phase is wanted", j.Count, len(j.Phases))
	}
	for p := range j.Phases {
		ph := &j.Phases[p]
		if ph.Tasks == nil || ph.Seconds == nil {
			return fmt.Errorf("phase %d: tasks and seconds are wanted", p)
		}
		last := [2]float32{}
		for _, x := range ph.Reports {
			if !(x[0] >= last[0] && x[1] >= last[1] && x[0] <= 1 && x[1] <= 1) {
				return fmt.Errorf("phase %d: reports are pairs of shares of time and scores, 0 to 1, that do not go back; %g is one", p, x)
			}
			last = x
		}
		for _, q := range ph.After {
			if q < 0 || q >= p {
				return fmt.Errorf("phase %d comes after phase %d; it may come after those before it, which are numbered from 0", p, q)
			}
		}
	}
	return nil
}

// Cluster draws a cluster. The machines and the jobs have draws of their own, so that a change of one leaves the other.
func (f *File) Cluster(seed uint64) (*Cluster, error) {
	c := &Cluster{Version: f.Version, Machines: f.machines(rand.New(rand.NewPCG(seed, 1)))}
	r := rand.New(rand.NewPCG(seed, 2))
	tasks, now := 0, 0.0
	for i := range f.Jobs {
		class := &f.Jobs[i]
		for range max(class.Count, 1) {
			j := Job{Arrival: now, Limit: class.Limit}
			for p := range class.Phases {
				ph := class.Phases[p].draw(r)
				if tasks += len(ph.Tasks); tasks > mostTasks {
					return nil, fmt.Errorf("%w: more than %d tasks", ErrFile, mostTasks)
				}
				j.Phases = append(j.Phases, ph)
			}
			c.Jobs = append(c.Jobs, j)
			if class.Every != nil {
				now += max(class.Every.Draw(r), 0)
			}
		}
	}
	return c, nil
}

// machines draws them, in an order of their own: which class a machine is of must not follow from its name.
func (f *File) machines(r *rand.Rand) []Machine {
	var all []Machine
	for i := range f.Machines {
		class := &f.Machines[i]
		for range class.Count {
			m := Machine{Slots: f.Slots, Factor: 1}
			switch {
			case class.Factor != nil:
				m.Factor = class.Factor.Draw(r)
			case class.Speed != nil:
				m.Factor = f.Speed / class.Speed.Draw(r)
			}
			all = append(all, m)
		}
	}
	shuffle := func() { r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) }
	shuffle()
	if f.Take > 0 {
		all = all[:f.Take]
	}
	for m := range all[:min(f.Slowed.Count, len(all))] {
		all[m].Factor *= f.Slowed.Factor
	}
	shuffle()
	return all
}

func (p *PhaseClass) draw(r *rand.Rand) Phase {
	ph := Phase{Kind: p.Kind, After: p.After}
	var reports []workload.Point
	for _, x := range p.Reports {
		reports = append(reports, workload.Point{At: x[0], Score: x[1]})
	}
	for range min(max(int(p.Tasks.Draw(r)+0.5), 1), mostTasks) {
		t := Task{Seconds: max(p.Seconds.Draw(r), 0), Reports: reports}
		if p.Bytes != nil {
			t.Bytes = int64(max(p.Bytes.Draw(r), 0))
		}
		if p.Luck != nil {
			t.Luck = p.Luck.Draw(r)
		}
		ph.Tasks = append(ph.Tasks, t)
	}
	return ph
}
