package synth

import (
	"math"

	"straggler/schema"
)

// The cost of an attempt. With w the normal work of its phase (fixed + rate × normal bytes) on this machine's generation
// with this attempt's noise, and d the same for the data beyond normal:
//
//	base        w, reading a normal task's remote bytes at the healthy rate, and small overheads
//	data_skew   d, and reading the remote bytes beyond normal at the healthy rate
//	bad_machine (f − 1)(w + d), f the machine's factor at the start
//	transient   (g − 1) f (w + d), g the attempt's own factor
//	startup     (h − 1) g f (w + d), h the factor of the executor's start in its first attempts; and seconds added on top
//	others      seconds added on top
//
// Factors apply one after another, so the later one gets the seconds that arise only from both together.

// reads is the sources of an attempt's input.
type reads struct {
	total, local, remote, cross float64
	excessS                     float64 // due to slow links
}

// cost sets the measured columns of a's row and its truth, and returns how many milliseconds it would run to its end, and until
// it has read its input.
func (s *sim) cost(a *attempt, x *executor) (whole, fetch int64) {
	st, m, o := a.run.stage, x.machine, s.o
	task := st.random.of(int(a.task))
	own := task.of(int(a.run.number)).of(int(a.row.Number))
	var in reads
	if st.source() {
		in = s.readStorage(a, m)
	} else {
		in = s.readShuffle(a.run, m, task, st.bytes(int(a.task)))
	}
	t := &a.truth
	*t = AttemptTruth{AttemptID: a.row.AttemptID}
	gen := m.Generation * own.lognormal(forNoise, o.Work.Noise)
	work := (st.fixedS + st.rate*st.normal) * gen
	extra := st.rate * (in.total - st.normal) * gen
	bad := s.cluster.factorAt(m, s.now)
	t.By[bySkew] = extra
	t.By[byBad] = (bad - 1) * (work + extra)
	if own.chance(forTransient, o.Faults.Transient.Probability) {
		t.By[byTransient] = (own.between(forTransientFactor, o.Faults.Transient.Factor) - 1) * bad * (work + extra)
	}
	if h := o.Faults.Start.Factor; h.High > 0 && !x.warm {
		t.By[byStartup] = (own.between(forStart, h) - 1) * (work + extra + t.By[byBad] + t.By[byTransient])
	}
	begin := t.By[byStartup]
	healthy := 0.0
	if !st.source() {
		healthy = in.remote / o.Work.NetworkBytesPer
		normal := healthy * st.normal / in.total
		t.By[bySkew] += healthy - normal
		work += normal
	}
	t.By[byNetwork] = in.excessS
	spilled := s.stalls(a, x, in, task, own, work)

	sched, deser, result := 0.005+0.015*own.uniform(forOverhead), 0.002+0.006*own.of(0).uniform(forOverhead), 0.001
	t.BaseS = work + sched + deser + result
	total := t.ObservedS()
	whole = max(1, int64(math.Round(total*1000)))
	t.BaseS += float64(whole)/1000 - total // the effect of rounding to milliseconds
	s.columns(a, in, spilled, whole, columnSeconds{
		sched: sched + t.By[byScheduler], deser: deser + t.By[byStartup] - begin, result: result,
		wait: 0.3*healthy + in.excessS, gc: 0.02*work + t.By[byGC], cpu: 0.8 * (work + extra + begin),
	})
	fetch = min(whole, max(whole/10, int64(1000*(sched+t.By[byScheduler]+healthy+in.excessS))))
	if a.row.Recompute {
		t.BaseS, t.By = 0, [causes]float64{byRecompute: float64(whole) / 1000}
	}
	return whole, fetch
}

// readStorage reads a block of storage, from its own machine if that has a replica.
func (s *sim) readStorage(a *attempt, m *machine) reads {
	in := reads{total: a.run.stage.bytes(int(a.task))}
	switch a.row.Locality.V {
	case schema.NodeLocal:
		in.local = in.total
		return in
	case schema.AnyLocality:
		in.cross = in.total
	}
	in.remote = in.total
	in.excessS = in.total / s.o.Work.NetworkBytesPer * (m.Downlink - 1)
	if f := s.cluster.slowRack[m.rack]; in.cross > 0 && f > 1 {
		in.excessS += in.cross / s.o.Work.NetworkBytesPer * (f - 1)
	}
	return in
}

// readShuffle reads a share of the outputs of the parents, which are where they were made.
func (s *sim) readShuffle(r *run, m *machine, task random, total float64) reads {
	in := reads{total: total}
	rest := 1.0 // share that comes from all machines
	var fromSlow float64
	if n := len(s.cluster.sources); n > 0 && task.chance(forUplink, s.o.Faults.Network.Tasks) {
		u := s.cluster.machines[s.cluster.sources[task.of(0).intn(forUplink, n)]]
		share := s.o.Faults.Network.Share
		rest = 1 - share
		switch {
		case u == m:
			in.local += share * total
		default:
			fromSlow += share * total * (u.Uplink - 1)
			if u.rack != m.rack {
				in.cross += share * total
			}
		}
	}
	in.local += rest * total * r.share[m.index]
	in.cross += rest * total * (1 - r.rackShare[m.rack])
	for _, u := range s.cluster.sources {
		if u != m.index {
			fromSlow += rest * total * r.share[u] * (s.cluster.machines[u].Uplink - 1)
		}
	}
	in.local = math.Floor(in.local)
	in.remote = total - in.local
	in.cross = min(math.Floor(in.cross), in.remote)
	per := s.o.Work.NetworkBytesPer
	in.excessS = fromSlow/per + in.remote/per*(m.Downlink-1) + s.rackExcess(r, m, in)
	return in
}

// rackExcess returns the time added by slow links between racks: its own rack's for everything that crosses, or else the others'.
func (s *sim) rackExcess(r *run, m *machine, in reads) float64 {
	if f := s.cluster.slowRack[m.rack]; f > 1 {
		return in.cross / s.o.Work.NetworkBytesPer * (f - 1)
	}
	excess := 0.0
	for rack, f := range s.cluster.slowRack {
		if f > 1 {
			excess += in.total * r.rackShare[rack] / s.o.Work.NetworkBytesPer * (f - 1)
		}
	}
	return excess
}

// stalls adds the pauses of an attempt besides its work, and returns the bytes that it spills.
func (s *sim) stalls(a *attempt, x *executor, in reads, task, own random, work float64) (spilled float64) {
	f, t, st := &s.o.Faults, &a.truth, a.run.stage
	if st.gc && x.machine.GC {
		t.By[byGC] = own.between(forGC, f.GC.Factor) * work
	}
	if f.Spill.Above > 0 && in.total > f.Spill.Above*st.normal || task.chance(forSpill, f.Spill.Probability) {
		spilled = math.Round(in.total * task.between(forSpillAmount, f.Spill.Amount))
		t.By[bySpill] = spilled / f.Spill.BytesPer
	}
	if own.chance(forScheduler, f.Scheduler.Probability) {
		t.By[byScheduler] = own.of(1).between(forScheduler, f.Scheduler.DelayS)
	}
	if f.Deserialize.ColdS.High > 0 && x.launched <= x.slots {
		t.By[byStartup] += own.between(forCold, f.Deserialize.ColdS)
	}
	if st.source() && f.Locality.BytesPer > 0 && in.remote > 0 {
		t.By[byLocality] = in.total / f.Locality.BytesPer
	}
	return spilled
}

type columnSeconds struct{ sched, deser, result, wait, gc, cpu float64 }

// columns sets what a log would record about a complete run of the attempt, in whole milliseconds as in logs.
func (s *sim) columns(a *attempt, in reads, spilled float64, whole int64, c columnSeconds) {
	left := whole
	part := func(seconds float64) schema.Null[float64] {
		v := min(int64(math.Round(seconds*1000)), left)
		left -= v
		return schema.Some(float64(v) / 1000)
	}
	row, st := &a.row, a.run.stage
	row.SchedulerDelayS, row.DeserializeS, row.ResultS = part(c.sched), part(c.deser), part(c.result)
	within := func(seconds float64) schema.Null[float64] {
		return schema.Some(float64(min(int64(math.Round(seconds*1000)), left)) / 1000)
	}
	row.FetchWaitS, row.GCS, row.CPUS = within(c.wait), within(c.gc), within(c.cpu)
	written := int64(in.total * st.ratio)
	a.written = float64(written)
	row.OutputBytes, row.ShuffleWriteBytes = schema.Some[int64](0), schema.Some(written)
	if st.kind == "result" {
		row.OutputBytes, row.ShuffleWriteBytes = schema.Some(written), schema.Some[int64](0)
	}
	row.SpillBytes = schema.Some(int64(spilled))
	row.PeakMemoryBytes = schema.Some(int64(1.2 * in.total))
	if s.o.Hide.Bytes {
		row.OutputBytes, row.ShuffleWriteBytes, row.SpillBytes = schema.Null[int64]{}, schema.Null[int64]{}, schema.Null[int64]{}
		row.PeakMemoryBytes = schema.Null[int64]{}
		return
	}
	row.InputBytes, row.LocalBytes, row.RemoteBytes = schema.Some(int64(in.total)), schema.Some(int64(in.local)), schema.Some(int64(in.remote))
	if !s.o.Hide.Racks {
		row.CrossRackBytes = schema.Some(int64(in.cross))
	}
	row.InputRecords = schema.Some(int64(in.total / 100 * st.random.of(int(a.task)).between(forRecords, Range{0.98, 1.02})))
}
