package replay

import (
	"math"
	"slices"
	"straggler/whatif/workload"

	"straggler/whatif/network"
)

// stageKind is the activity of an attempt of a planned pool.
type stageKind uint8

const (
	working stageKind = iota // it reads and computes concurrently, and ends when both are done
	copying                  // it fetches upstream outputs, as far as they are available
	inLine                   // it has them all and waits until it may compute
	computing
)

// stage is the stage of the attempt on a slot.
type stage struct {
	kind  stageKind
	flows []network.ID
	until int64 // working: end of its computing
	read  Time  // from its start until it computed; 0: it did not copy
	// copying, on machines that share hosts: it has copied everything available before the upstream phases ended
	copied bool
	got    []float64 // copying: outputs it has, by rack
}

// stagesRun is the state of the stages of a replay.
type stagesRun struct {
	net       *network.Net
	slots     []stage
	computing []int32     // by machine
	line      [][]int32   // by machine: slots waiting to compute
	outputs   [][]float64 // by phase and rack: bytes that its tasks left
	reported  []int32     // by phase: finished tasks when its readers were last notified
	hosts     hostsRun
}

// reportEvery is the share of a phase's tasks after which the readers of its outputs fetch again.
const reportEvery = 0.05

func (s *Sim) resetStages() {
	r, p := &s.stages, s.p
	r.slots = resize(r.slots, len(p.Slots))
	for n := range r.slots {
		r.slots[n].flows, r.slots[n].kind = r.slots[n].flows[:0], working
	}
	r.computing, r.line = resize(r.computing, len(p.Machines)), resize(r.line, len(p.Machines))
	clear(r.computing)
	for m := range r.line {
		r.line[m] = r.line[m][:0]
	}
	s.resetHosts()
	r.net = nil
	if p.Stages.Network == nil {
		return
	}
	r.net, _ = network.New(p.Stages.Network) // the plan was validated
	r.outputs, r.reported = resize(r.outputs, len(p.Phases)), resize(r.reported, len(p.Phases))
	clear(r.reported)
	for i := range r.outputs {
		r.outputs[i] = resize(r.outputs[i], p.Racks)
		clear(r.outputs[i])
	}
}

// begin starts the first stage of the attempt that has just got a slot.
func (s *Sim) begin(i, slot int32, r *Running) {
	st, p := &s.stages.slots[slot], &s.p.Phases[i]
	task := p.FirstTask + r.Task
	st.flows, st.kind, st.copied, st.read = st.flows[:0], working, false, 0
	if p.Shuffles {
		st.kind, r.waits = copying, true
		if s.stages.net != nil {
			st.got = resize(st.got, s.p.Racks)
			clear(st.got)
		}
		s.tree.set(slot, workload.Forever)
		return // fetchMore follows, when the attempt is among the running
	}
	level := workload.NodeLocal
	if replicas := s.p.ReplicasOf(task); len(replicas) > 0 {
		level = s.p.LevelAt(task, r.Machine)
		out := &s.out.Jobs[p.Job]
		out.Levels[level]++
		bytes := max(s.p.Tasks[task].Bytes, 0)
		out.Read[level] += bytes
		if s.stages.net != nil && bytes > 0 {
			from := s.readFrom(task, r, level)
			id := s.stages.net.Start(network.Flow{Path: s.stages.net.Between(from, r.Machine), Bytes: float64(bytes), Tag: slot})
			st.flows, st.until = append(st.flows, id), int64(r.Start)+s.takes[slot]
			s.tree.set(slot, workload.Forever)
			return
		}
	}
	if s.stages.net == nil {
		s.takes[slot] = scale(s.takes[slot], s.p.Stages.Slowdown[level])
	}
	s.work(slot, r, int64(r.Start))
}

// readFrom returns the replica that an attempt reads: on its machine, else in its rack, else any, chosen by its random number.
func (s *Sim) readFrom(task int32, r *Running, level workload.Level) int32 {
	replicas := s.p.ReplicasOf(task)
	if level == workload.NodeLocal {
		return r.Machine
	}
	rack := s.p.Machines[r.Machine].Rack
	bits := draw(s.o.Seed, s.p.Phases[s.p.Tasks[task].Phase].Key, r.Task, r.Number, drawReplica)
	first := below(bits, len(replicas))
	for n := range replicas {
		m := replicas[(first+n)%len(replicas)]
		if level == workload.OffRack || s.p.Machines[m].Rack == rack {
			return m
		}
	}
	return replicas[first]
}

// fetchMore continues the copying of the attempt on a slot when it has fetched everything it knows of.
func (s *Sim) fetchMore(slot int32) {
	sr := &s.slots[slot]
	i := sr.phase
	p, st := &s.p.Phases[i], &s.stages.slots[slot]
	r := &s.phases[i].running[sr.at]
	if s.sharing() {
		s.copies(i, slot, r)
		return
	}
	if s.stages.net == nil {
		if s.phases[i].gates > 0 {
			return // it continues when what it waits for is there
		}
		fetch := s.p.Stages.Fetch[p.FirstTask+r.Task]
		last := int64(reportEvery * float64(fetch)) // time of the last outputs
		at := int64(r.Start) + fetch
		if p.Gated > 0 {
			at = max(at, s.phases[i].opened+last)
		}
		s.tree.set(slot, max(at, s.now))
		return
	}
	rack := s.p.Machines[r.Machine].Rack
	for from := range st.got {
		there := 0.0
		for _, q := range p.Parents {
			there += s.stages.outputs[q][from]
		}
		bytes := (there - st.got[from]) / float64(p.Tasks)
		if bytes <= 0 {
			continue
		}
		st.got[from] = there
		x := network.Flow{Path: s.stages.net.ToMachine(int32(from), r.Machine), Bytes: bytes, Tag: slot}
		level := workload.OffRack
		if int32(from) == rack {
			x.Most, level = s.p.Stages.InRack, workload.RackLocal
		}
		s.out.Jobs[p.Job].Fetched[level] += bytes
		st.flows = append(st.flows, s.stages.net.Start(x))
	}
	if len(st.flows) == 0 && s.phases[i].gates == 0 {
		s.mayCompute(slot)
	}
}

// mayCompute lets an attempt that has all its input compute, or wait in the queue of its machine (FAIR §5.2).
func (s *Sim) mayCompute(slot int32) {
	sr, st := &s.slots[slot], &s.stages.slots[slot]
	r := &s.phases[sr.phase].running[sr.at]
	r.waits = false
	m := r.Machine
	most := s.p.Machines[m].Computing
	if most > 0 {
		s.sched.tell(Change{CopyingEnded, s.p.Phases[sr.phase].Job, sr.phase, r.Task, r.Number, m})
	}
	if most > 0 && s.stages.computing[m] >= most {
		st.kind = inLine
		s.stages.line[m] = append(s.stages.line[m], slot)
		s.tree.set(slot, workload.Forever)
		return
	}
	s.compute(slot)
}

func (s *Sim) compute(slot int32) {
	sr, st := &s.slots[slot], &s.stages.slots[slot]
	r := &s.phases[sr.phase].running[sr.at]
	st.kind = computing
	s.stages.computing[r.Machine]++
	st.read = Time(s.now) - r.Start
	s.work(slot, r, s.now)
}

// goesOn reports whether an attempt whose time has come proceeds to its next stage instead of ending.
func (s *Sim) goesOn(slot int32) bool {
	if int(slot) >= len(s.p.Slots) || s.stages.slots[slot].kind != copying {
		return false
	}
	s.tree.set(slot, workload.Forever)
	i := s.slots[slot].phase
	if s.sharing() {
		s.rest(slot, s.p.Slots[slot].Machine)
		if s.phases[i].gates > 0 {
			s.stages.slots[slot].copied = true
			return true
		}
	}
	s.mayCompute(slot)
	return true
}

// leave frees the resources of the attempt on a slot besides the slot.
func (s *Sim) leave(slot int32, m int32) {
	st := &s.stages.slots[slot]
	for _, id := range st.flows {
		s.stages.net.Cancel(id)
	}
	st.flows = st.flows[:0]
	s.rest(slot, m)
	switch line := &s.stages.line[m]; st.kind {
	case inLine:
		n := slices.Index(*line, slot)
		*line = slices.Delete(*line, n, n+1)
	case computing:
		s.stages.computing[m]--
		if len(*line) > 0 {
			next := (*line)[0]
			*line = slices.Delete(*line, 0, 1)
			s.compute(next)
		}
	}
	st.kind = working
}

// nextFlow returns the first instant at which a flow ends.
func (s *Sim) nextFlow() int64 {
	if s.stages.net == nil {
		return workload.Forever
	}
	at, ok := s.stages.net.Next()
	if !ok {
		return workload.Forever
	}
	return int64(math.Floor(at*1e6)) + 1
}

// moveFlows advances the network to the present instant.
func (s *Sim) moveFlows() {
	for _, f := range s.stages.net.Advance(float64(s.now) / 1e6) {
		s.out.Events++
		st := &s.stages.slots[f.Tag]
		n := slices.Index(st.flows, f.ID)
		st.flows = slices.Delete(st.flows, n, n+1)
		switch {
		case len(st.flows) > 0:
		case st.kind == copying:
			s.fetchMore(f.Tag)
		default:
			s.tree.set(f.Tag, max(s.now, st.until))
		}
	}
}

// leaves adds the output of a task to those of its phase, and notifies the readers from time to time.
func (s *Sim) leaves(i, task, machine int32) {
	if s.stages.net == nil {
		return
	}
	s.stages.outputs[i][s.p.Machines[machine].Rack] += float64(s.p.Stages.Output[task])
	p, over := &s.p.Phases[i], s.phases[i].over+1
	if len(p.Gates) == 0 || over < s.stages.reported[i]+int32(math.Ceil(reportEvery*float64(p.Tasks))) {
		return
	}
	s.stages.reported[i] = over
	for _, child := range p.Gates {
		s.fetchAll(child)
	}
}

// fetchAll continues the idle attempts of a phase.
func (s *Sim) fetchAll(i int32) {
	for n := 0; n < len(s.phases[i].running); n++ {
		slot := s.phases[i].running[n].slot
		if st := &s.stages.slots[slot]; st.kind == copying && len(st.flows) == 0 {
			s.fetchMore(slot)
		}
	}
}
