package workload

import (
	"cmp"
	"slices"

	"straggler/schema"
)

// Outputs are the outputs that a log reports as made and as lost.
type Outputs struct {
	Made  []Made    // in the order of their instants
	Lost  []Lost    // in the order of their instants
	Reads [][]int32 // phases that each phase reads
}

// Made is an output that an attempt left on a machine. Instants are as in the log.
type Made struct {
	Attempt, Phase, Machine int32
	At, Took                Time
	Read, Bytes             int64 // its input and itself; -1 where the log does not say
}

// Lost is an output that was gone when it was needed.
type Lost struct {
	Of    int32 // index into Made
	Again int32 // the attempt that made it again
	At    Time  // when the loss was noticed
}

// Outputs returns the outputs of the pool's log, or nil if none was lost and recomputed.
func (p *Pool) Outputs() *Outputs { return p.outputs }

// losses keeps the outputs of pools that lost any.
func (d *draft) losses(edges []*schema.Edge) {
	if !slices.ContainsFunc(d.Attempts, func(a Attempt) bool { return d.rows.remakes(a.ID) }) {
		return
	}
	byID := map[schema.Key]int32{}
	for i := range d.rows.Losses {
		byID[d.rows.Losses[i].AttemptID.V], byID[d.rows.Losses[i].RecomputedBy.V] = -1, -1
	}
	for a := range d.Attempts {
		if _, ok := byID[d.Attempts[a].ID]; ok {
			byID[d.Attempts[a].ID] = int32(a)
		}
	}
	o := &Outputs{}
	index := map[int32]int32{} // of attempts, into Made
	for a := range d.Attempts {
		if m := d.machineOf(&d.Attempts[a]); d.Attempts[a].Ok && m >= 0 {
			bytes, ok := d.rows.outputs[d.Attempts[a].ID]
			if !ok {
				bytes = -1
			}
			o.Made = append(o.Made, Made{
				Attempt: int32(a), Phase: d.Tasks[d.Attempts[a].Task].Phase, Machine: m,
				At: Time(d.end[a]), Took: Time(d.end[a] - d.start[a]), Read: d.attemptRow[a].Bytes, Bytes: bytes,
			})
		}
	}
	slices.SortStableFunc(o.Made, func(a, b Made) int { return cmp.Compare(a.At, b.At) })
	for n := range o.Made {
		index[o.Made[n].Attempt] = int32(n)
	}
	for i := range d.rows.Losses {
		l := &d.rows.Losses[i]
		again := byID[l.RecomputedBy.V]
		of, ok := index[byID[l.AttemptID.V]]
		if !l.RecomputedBy.OK || !l.AttemptID.OK || again < 0 || !ok {
			continue
		}
		at := d.start[again]
		if l.Time.OK {
			at = min(at, d.at(int64(l.Time.V)))
		}
		o.Lost = append(o.Lost, Lost{Of: of, Again: again, At: Time(at)})
	}
	if len(o.Lost) == 0 {
		return
	}
	slices.SortStableFunc(o.Lost, func(a, b Lost) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Again, b.Again)) })
	o.Reads = d.reads(edges)
	d.outputs = o
}

// remakes reports whether an attempt recomputed a lost output.
func (r *Rows) remakes(attempt schema.Key) bool {
	if r.remade == nil {
		r.remade = make(map[schema.Key]bool, len(r.Losses))
		for i := range r.Losses {
			r.remade[r.Losses[i].RecomputedBy.V] = true
		}
	}
	return r.remade[attempt]
}

// reads returns the phases that each phase reads.
func (d *draft) reads(edges []*schema.Edge) [][]int32 {
	number := make(map[schema.Key]int32, len(d.Phases))
	for i := range d.Phases {
		number[d.Phases[i].Key] = int32(i)
	}
	reads := make([][]int32, len(d.Phases))
	for _, e := range edges {
		from, ok1 := number[e.FromPhase]
		to, ok2 := number[e.ToPhase]
		if ok1 && ok2 && from < to {
			reads[to] = append(reads[to], from)
		}
	}
	return reads
}
