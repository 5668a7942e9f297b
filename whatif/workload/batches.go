package workload

import (
	"straggler/causes/model"
	"straggler/schema"
)

// Batch is a set of pools that are built and replayed together.
type Batch struct {
	pools        []int
	Applications []schema.Key // in these pools
}

// Builder builds workloads batch by batch, with only the attempts of one batch in memory. All batches are observed before the
// first is built, since all contribute to the model of machines and of work.
//
//	for each batch: load its attempts into the rows, Observe, and Learn from what that gives
//	for each batch: load its attempts into the rows, Build
//
// Only builds a single batch.
type Builder struct {
	rows    *Rows
	shares  map[schema.Key]int // pool of each application
	groups  []group
	pool    map[schema.Key]int // of each phase
	windowS float64
	learner *model.Learner
	model   *model.Model
}

// NewBuilder takes all rows but the attempts, and the instants of the first and the last start.
func NewBuilder(r *Rows) *Builder {
	b := &Builder{rows: r, shares: shareSlots(r), pool: make(map[schema.Key]int, len(r.Phases)), windowS: r.windowS()}
	b.learner = model.NewLearner(b.windowS, nil, nil)
	n := 0
	for _, p := range b.shares {
		n = max(n, p+1)
	}
	b.groups = make([]group, n)
	b.group()
	return b
}

// group gives each pool its rows.
func (b *Builder) group() {
	r, groups := b.rows, b.groups
	for i := range r.Applications {
		g := &groups[b.shares[r.Applications[i].ApplicationID]]
		g.apps = append(g.apps, &r.Applications[i])
	}
	ofJob := make(map[schema.Key]int, len(r.Jobs))
	for i := range r.Jobs {
		if p, ok := b.shares[r.Jobs[i].ApplicationID]; ok {
			ofJob[r.Jobs[i].JobID] = p
			groups[p].jobs = append(groups[p].jobs, &r.Jobs[i])
		}
	}
	for i := range r.Phases {
		if p, ok := ofJob[r.Phases[i].JobID]; ok {
			b.pool[r.Phases[i].PhaseID] = p
			groups[p].phases = append(groups[p].phases, &r.Phases[i])
		}
	}
	for i := range r.Edges {
		if p, ok := ofJob[r.Edges[i].JobID]; ok {
			groups[p].edges = append(groups[p].edges, &r.Edges[i])
		}
	}
	for i := range r.Machines {
		m := &r.Machines[i]
		if p, ok := b.shares[m.ApplicationID.V]; ok && m.ApplicationID.OK {
			groups[p].machines = append(groups[p].machines, m)
		} else if !m.ApplicationID.OK {
			for p := range groups {
				groups[p].machines = append(groups[p].machines, m)
			}
		}
	}
}

// Batches divides the pools, in order, into batches of at most most attempts, unless a single pool has more; attempts returns the
// number of attempts of an application.
func (b *Builder) Batches(most int64, attempts func(application schema.Key) int64) []Batch {
	var out []Batch
	room := int64(-1)
	for p := range b.groups {
		if len(b.groups[p].jobs) == 0 {
			continue
		}
		n := int64(0)
		for _, a := range b.groups[p].apps {
			n += attempts(a.ApplicationID)
		}
		if len(out) == 0 || n > room {
			out, room = append(out, Batch{}), most
		}
		last := &out[len(out)-1]
		last.pools = append(last.pools, p)
		for _, a := range b.groups[p].apps {
			last.Applications = append(last.Applications, a.ApplicationID)
		}
		room -= n
	}
	return out
}

// Observe computes, pool by pool, the statistics of the batch whose attempts are loaded. The pools that it returns lack
// everything computed from the model, and are valid until the attempts of another batch are loaded.
func (b *Builder) Observe(batch Batch) (*Workload, []*model.Statistics) {
	w, drafts := b.drafts(batch)
	sums := make([]*model.Statistics, len(drafts))
	for i, d := range drafts {
		sums[i] = d.observe(b.windowS)
		w.Pools = append(w.Pools, d.Pool)
	}
	return w, sums
}

// Learn adds the statistics of a batch. Batches must be in order, since the last bits of the model depend on it.
func (b *Builder) Learn(pools []*model.Statistics) {
	for _, s := range pools {
		b.learner.Merge(s)
	}
}

// Build builds the workload of the batch whose attempts are loaded.
func (b *Builder) Build(batch Batch) *Workload {
	w, drafts := b.drafts(batch)
	b.finish(w, drafts)
	return w
}

// Only observes the only batch and builds it.
func (b *Builder) Only(batch Batch) *Workload {
	w, drafts := b.drafts(batch)
	for _, d := range drafts {
		b.learner.Merge(d.observe(b.windowS))
	}
	b.finish(w, drafts)
	return w
}

// Model returns the model of all batches, which must have been observed.
func (b *Builder) Model() *model.Model {
	if b.model == nil {
		b.model = b.learner.Model()
	}
	return b.model
}

// UseModel sets the model, from another builder that observed all batches of rows with the same names in the same order.
func (b *Builder) UseModel(m *model.Model) { b.model = m }

func (b *Builder) finish(w *Workload, drafts []*draft) {
	m := b.Model()
	for i, d := range drafts {
		w.Pools = append(w.Pools, d.finish(m))
		drafts[i] = nil
	}
}

// drafts returns the pools of a batch before the model is applied.
func (b *Builder) drafts(batch Batch) (*Workload, []*draft) {
	w := &Workload{}
	b.rows.warm()
	attempts, unstarted := make(map[int][]int32, len(batch.pools)), map[schema.Key]int32{}
	for i := range b.rows.Attempts {
		a := &b.rows.Attempts[i]
		p, ok := b.pool[a.Phase]
		if !ok || a.Start == NoTime {
			w.Notes.NoTimes++
			if ok {
				unstarted[a.Phase]++
			}
			continue
		}
		attempts[p] = append(attempts[p], int32(i))
	}
	var drafts []*draft
	for _, p := range batch.pools {
		drafts = append(drafts, newDraft(b.rows, b.groups[p].with(attempts[p], unstarted), &w.Notes))
	}
	return w, drafts
}
