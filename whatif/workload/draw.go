package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/whatif/network"
)

// maxTasks bounds the tasks of one seed of a workload.
const maxTasks = 20_000_000

var errTooMany = fmt.Errorf("more than %d tasks", maxTasks)

// tasks rounds a drawn number of tasks, which may be too large for an int; above maxTasks it returns maxTasks + 1.
func tasks(drawn float64) int { return int(min(drawn+0.5, maxTasks+1)) }

// Source reads the jobs that a workload takes from files.
type Source struct {
	SWIM  func(ctx context.Context, name string) ([]Size, error)
	Store func(ctx context.Context, dir string) ([]PlanJob, error)
}

// Loaded is a workload file with the jobs from the files that it refers to.
type Loaded struct {
	f     *File
	sizes [][]Size
	jobs  [][]PlanJob
}

// Load reads the other files of a workload, once for all seeds.
func (f *File) Load(ctx context.Context, from Source) (*Loaded, error) {
	in := &Loaded{f: f, sizes: make([][]Size, len(f.Jobs)), jobs: make([][]PlanJob, len(f.Jobs))}
	for i := range f.Jobs {
		x := &f.Jobs[i]
		var err error
		switch {
		case x.Store != "" && from.Store == nil, x.SWIM != "" && from.SWIM == nil:
			err = errors.New("files cannot be read here")
		case x.Store != "":
			in.jobs[i], err = from.Store(ctx, x.Store)
		case x.SWIM != "":
			in.sizes[i], err = from.SWIM(ctx, x.SWIM)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: jobs: entry %d: %w", ErrFile, f.Name, i+1, err)
		}
	}
	return in, nil
}

// Size is a job given only by bytes.
type Size struct {
	Name                   string
	Submit                 float64 // seconds
	Input, Shuffle, Output int64
}

// drawing draws the jobs of one seed. Machines and each entry of jobs have random numbers of their own, so that a change
// to one entry leaves the others as they were.
type drawing struct {
	f    *File
	seed int64
	plan *Plan
	topo *network.Topology
	n    int // tasks
}

// Plan loads a workload and draws the cluster and the jobs of a seed.
func (f *File) Plan(ctx context.Context, seed int64, from Source) (*Plan, error) {
	in, err := f.Load(ctx, from)
	if err != nil {
		return nil, err
	}
	return in.Plan(seed)
}

// Plan draws the cluster and the jobs of a seed.
func (in *Loaded) Plan(seed int64) (*Plan, error) {
	f := in.f
	d := &drawing{f: f, seed: seed, plan: &Plan{}}
	d.cluster()
	for _, q := range f.Queues {
		d.plan.Queues = append(d.plan.Queues, Queue{Name: q.Name, Min: [Classes]int32{int32(q.Maps), int32(q.Reduces)}})
	}
	for i := range f.Jobs {
		if err := d.jobs(i, in); err != nil {
			return nil, fmt.Errorf("%w: %s: jobs: entry %d: %w", ErrFile, f.Name, i+1, err)
		}
	}
	d.order()
	return d.plan, nil
}

// order sorts the jobs by arrival; a job that waits for another one stays behind it.
func (d *drawing) order() {
	jobs := d.plan.Jobs
	perm := make([]int, len(jobs))
	for j := range perm {
		perm[j] = j
	}
	slices.SortStableFunc(perm, func(a, b int) int {
		return cmp.Or(cmp.Compare(min(jobs[a].Behind, 1), min(jobs[b].Behind, 1)), cmp.Compare(first(jobs[a]), first(jobs[b])))
	})
	to := make([]int, len(jobs))
	sorted := make([]PlanJob, len(jobs))
	for n, j := range perm {
		to[j], sorted[n] = n, jobs[j]
	}
	for n := range sorted {
		if b := sorted[n].Behind; b > 0 {
			sorted[n].Behind = to[b-1] + 1
		}
	}
	d.plan.Jobs = sorted
}

// first returns the arrival of a job that arrives by itself.
func first(j PlanJob) float64 {
	if j.Behind > 0 {
		return 0
	}
	return j.Arrival
}

func (d *drawing) rand(what uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(d.seed), what)) }

// cluster assigns machines to racks in order, and makes some of them slow.
func (d *drawing) cluster() {
	c := &d.f.Cluster
	d.topo = &network.Topology{Rack: make([]int32, c.Machines), Up: make([]float64, c.Racks), Down: make([]float64, c.Racks)}
	for m := range c.Machines {
		x := PlanMachine{Rack: int32(m * c.Racks / c.Machines), Factor: 1}
		x.Slots[MapSlots], x.Slots[ReduceSlots] = c.MapSlots, c.ReduceSlots
		d.topo.Rack[m] = x.Rack
		d.plan.Machines = append(d.plan.Machines, x)
	}
	d.classes(d.rand(0))
	order := d.rand(1).Perm(c.Machines)
	for _, s := range c.Slow {
		for _, m := range order[:s.Machines] {
			d.plan.Machines[m].Factor *= s.Factor
		}
		order = order[s.Machines:]
	}
	for i := range c.Losses {
		d.losses(&c.Losses[i], d.rand(lossDraws+uint64(i)))
	}
	d.plan.Slowdown = [Levels]float64{1, c.Slowdown.Rack, c.Slowdown.Remote}
	if n := c.Network; n != nil {
		each := func(mb float64, count int) []float64 { return slices.Repeat([]float64{mb * 1e6}, count) }
		d.topo.Up, d.topo.Down = each(n.Rack, c.Racks), each(n.Rack, c.Racks)
		d.topo.Out, d.topo.In, d.topo.Disk = each(n.NIC, c.Machines), each(n.NIC, c.Machines), each(n.Disk, c.Machines)
		d.plan.Network, d.plan.InRack = d.topo, n.InRack*1e6
	}
}

// lossDraws is where the draws of losses begin: after those of the jobs, which are numbered from 2.
const lossDraws = 1 << 32

// losses draws the machines of an entry and their instants.
func (d *drawing) losses(l *Losing, r *rand.Rand) {
	for _, m := range r.Perm(len(d.plan.Machines))[:l.Machines] {
		x, at := &d.plan.Machines[m], l.At
		for range max(l.Count, 1) {
			at += l.Every * r.ExpFloat64()
			x.Losses = append(x.Losses, PlanLoss{At: at, Share: l.Share})
		}
	}
}

// classes draws the factors of machines, so that the class of a machine does not depend on its number.
func (d *drawing) classes(r *rand.Rand) {
	type kind struct {
		factor float64
		host   int
	}
	var all []kind
	hosts := 0
	for i := range d.f.Cluster.Classes {
		k := &d.f.Cluster.Classes[i]
		for n := range k.Count {
			x := kind{}
			if k.Factor.given() {
				x.factor = max(k.Factor.Draw(r), leastFactor)
			} else {
				x.factor = d.f.Cluster.Speed / max(k.Speed.Draw(r), leastFactor*d.f.Cluster.Speed)
			}
			if k.PerHost > 0 {
				if n%k.PerHost == 0 {
					hosts++
				}
				x.host = hosts
			}
			all = append(all, x)
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for m := range min(len(all), len(d.plan.Machines)) {
		d.plan.Machines[m].Factor, d.plan.Machines[m].Host, d.plan.Machines[m].Alone = all[m].factor, all[m].host, max(all[m].factor, 1)
	}
}

// leastFactor bounds the factors drawn from distributions without a least number.
const leastFactor = 1e-3

// jobs draws the jobs of an entry.
func (d *drawing) jobs(i int, in *Loaded) error {
	x := &d.f.Jobs[i]
	r := d.rand(uint64(i) + 2)
	queue := max(d.f.queue(x.Queue), 0)
	switch {
	case x.Store != "":
		return d.stored(x, in.jobs[i], queue, r)
	case x.SWIM != "":
		for _, s := range in.sizes[i] {
			if err := d.swim(x, s, queue, r); err != nil {
				return err
			}
		}
		return nil
	}
	return d.drawn(x, queue, r)
}

// drawn draws count jobs, or count jobs of each worker.
func (d *drawing) drawn(x *Jobs, queue int32, r *rand.Rand) error {
	file := d.file(x, r)
	count := max(x.Count, 1)
	jobs := count * max(x.Workers, 1)
	if d.n+jobs > maxTasks { // each has a task
		return errTooMany
	}
	sizes := d.sizes(x, jobs, r)
	at := x.At
	for n, s := range sizes {
		j := PlanJob{Name: cmp.Or(s.name, x.Name), Queue: queue, Arrival: at}
		switch {
		case x.Workers > 0 && n%count > 0:
			j.Behind, j.Arrival = len(d.plan.Jobs), 0
		case x.Workers == 0:
			at += x.Every * r.ExpFloat64()
		}
		if err := d.mapReduce(x, &j, work{maps: s.maps, file: file, shuffle: asDrawn}, r); err != nil {
			return err
		}
	}
	return nil
}

type size struct {
	name string
	maps int
}

// sizes returns the numbers of maps of n jobs. In a mix every bin has its share of them, as near as whole jobs allow, in random
// order.
func (d *drawing) sizes(x *Jobs, n int, r *rand.Rand) []size {
	var out []size
	if x.Mix == "" {
		for range n {
			out = append(out, size{maps: tasks(x.Maps.Draw(r))})
		}
		return out
	}
	share, taken := 0.0, 0
	for _, b := range mixes[x.Mix] {
		share += b.share
		for ; taken < int(math.Round(share*float64(n))); taken++ {
			out = append(out, size{b.name, b.low + r.IntN(b.high-b.low+1)})
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// file places the blocks that all jobs of an entry read, where it has one file.
func (d *drawing) file(x *Jobs, r *rand.Rand) *network.Blocks {
	if !x.File {
		return nil
	}
	high := x.Maps.most()
	for _, b := range mixes[x.Mix] {
		high = max(high, float64(b.high))
	}
	blocks := &network.Blocks{}
	blocks.PlaceHDFS(d.topo, min(int(high)+1, maxTasks), d.f.Cluster.Replicas, r)
	return blocks
}

// work is the part of a job that does not come from its entry.
type work struct {
	maps    int
	file    *network.Blocks // what the maps read, where jobs share it
	shuffle int64           // bytes out of all maps; asDrawn: in proportion to what they read, as the entry says
}

const asDrawn = -1

// mapReduce adds a job with the maps of w, and the reduces of its entry.
func (d *drawing) mapReduce(x *Jobs, j *PlanJob, w work, r *rand.Rand) error {
	j.Limit = x.Limit
	maps := max(w.maps, 1)
	block := int64(x.Block * 1e6)
	seconds, output := x.MapTime.Draw(r), int64(x.Output.Draw(r)*float64(block))
	if w.shuffle != asDrawn {
		output = w.shuffle / int64(maps)
	}
	reduces := tasks(x.Reduces.Draw(r))
	if x.PerMap.given() {
		reduces = max(tasks(x.PerMap.Draw(r)*float64(maps)), 1)
	}
	if d.n+maps+reduces > maxTasks {
		return errTooMany
	}
	blocks := w.file
	if blocks == nil && block > 0 {
		blocks = &network.Blocks{}
		blocks.PlaceHDFS(d.topo, maps, d.f.Cluster.Replicas, r)
	}
	phase := PlanPhase{Kind: "map", Reports: points(x.MapReports), Tasks: make([]PlanTask, maps)}
	for t := range phase.Tasks {
		phase.Tasks[t] = d.task(x, seconds, &x.MapTime, r)
		phase.Tasks[t].Bytes, phase.Tasks[t].Output = block, output
		if block > 0 && blocks != nil {
			phase.Tasks[t].Replicas = blocks.Replicas(int32(t % blocks.Len()))
		}
	}
	j.Phases = append(j.Phases, phase)
	if reduces > 0 {
		d.reduces(x, j, reduces, output*int64(maps), r)
	}
	return d.add(j)
}

// reduces adds the reduces of a job whose maps output a number of bytes.
func (d *drawing) reduces(x *Jobs, j *PlanJob, n int, bytes int64, r *rand.Rand) {
	seconds := x.ReduceTime.Draw(r)
	phase := PlanPhase{Kind: "reduce", After: []int{0}, Early: x.Early, Reports: points(x.ReduceReports),
		CopyScore: float32(x.CopyScore), Tasks: make([]PlanTask, n)}
	if x.Early == 0 {
		phase.Early = 1
	}
	if d.f.Cluster.ReduceSlots > 0 {
		phase.Class = ReduceSlots
	}
	for t := range phase.Tasks {
		phase.Tasks[t] = d.task(x, seconds, &x.ReduceTime, r)
		phase.Tasks[t].Bytes, phase.Tasks[t].Fetch = bytes/int64(n), x.Fetch.Draw(r)
	}
	j.Phases = append(j.Phases, phase)
}

// points returns the reports of a file as a plan has them.
func points(pairs [][2]float32) []Point {
	var out []Point
	for _, x := range pairs {
		out = append(out, Point{At: x[0], Score: x[1]})
	}
	return out
}

// task draws how long a task takes and whether it is unlucky.
func (d *drawing) task(x *Jobs, seconds float64, of *Number, r *rand.Rand) PlanTask {
	if !x.PerJob {
		seconds = of.Draw(r)
	}
	if x.Spread > 0 {
		seconds *= math.Exp(x.Spread * r.NormFloat64())
	}
	t := PlanTask{Seconds: seconds, Luck: 1}
	if luck := x.Luck.Draw(r); r.Float64() < x.Unlucky {
		t.Luck = max(luck, 1)
	}
	return t
}

func (d *drawing) add(j *PlanJob) error {
	for i := range j.Phases {
		d.n += len(j.Phases[i].Tasks)
	}
	if d.n > maxTasks {
		return errTooMany
	}
	d.plan.Jobs = append(d.plan.Jobs, *j)
	return nil
}

// swim adds a job of a SWIM file: a map for every block of its input, each with as much of it as the others, and reduces as
// the entry says.
func (d *drawing) swim(x *Jobs, s Size, queue int32, r *rand.Rand) error {
	scale := cmp.Or(x.Scale, 1)
	block := cmp.Or(x.Block, 64)
	maps := math.Ceil(float64(s.Input) * scale / 1e6 / block)
	if maps > maxTasks {
		return fmt.Errorf("job %s reads %d bytes: more than %d blocks", s.Name, s.Input, maxTasks)
	}
	maps = max(maps, 1)
	y := *x
	y.Block = float64(s.Input) * scale / 1e6 / maps
	if s.Shuffle == 0 {
		y.Reduces, y.PerMap = Number{}, Number{}
	}
	j := &PlanJob{Name: s.Name, Queue: queue, Arrival: x.At + s.Submit}
	return d.mapReduce(&y, j, work{maps: int(maps), shuffle: int64(float64(s.Shuffle) * scale)}, r)
}

// stored adds the jobs of a store. If their tasks read bytes and the entry gives blocks, the blocks get new locations.
func (d *drawing) stored(x *Jobs, jobs []PlanJob, queue int32, r *rand.Rand) error {
	from := len(d.plan.Jobs)
	for n := range jobs {
		j := jobs[n]
		j.Queue, j.Limit = queue, x.Limit
		j.Arrival += x.At
		if j.Behind > 0 {
			j.Behind, j.Arrival = j.Behind+from, jobs[n].Arrival
		}
		j.Phases = slices.Clone(j.Phases)
		for i := range j.Phases {
			d.placed(&j.Phases[i], x, r)
		}
		if err := d.add(&j); err != nil {
			return err
		}
	}
	return nil
}

func (d *drawing) placed(f *PlanPhase, x *Jobs, r *rand.Rand) {
	if d.f.Cluster.ReduceSlots > 0 && f.Kind == "reduce" {
		f.Class = ReduceSlots
	}
	if x.Block <= 0 || len(f.After) > 0 {
		return
	}
	blocks := &network.Blocks{}
	blocks.PlaceHDFS(d.topo, len(f.Tasks), d.f.Cluster.Replicas, r)
	f.Tasks = slices.Clone(f.Tasks)
	for t := range f.Tasks {
		f.Tasks[t].Replicas = blocks.Replicas(int32(t))
	}
}
