package policy

import (
	"straggler/whatif/policy/recompute"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Protect keeps outputs from having to be recomputed while others wait (MANTRI §5.3).
//
// Rules, in the order of the log's own instants:
//   - when a task ends, its output is copied if P(loss) · t_redo > t_rep and the budget has as many tokens as it has bytes.
//     P(loss) is the share of the machine's outputs that were lost until then. t_redo is the task's own time plus the
//     expected maximum over its inputs that are lost too, recursively; a copied one is lost only together with its copy,
//     which is on an average machine. t_rep is its bytes over the bandwidth in a rack;
//   - a copied output that is lost later need not be recomputed;
//   - when an output that was not copied is found lost, it is recomputed as in the log. If that is the onset-th recomputation
//     for its machine within a time, all other outputs on the machine are recomputed at once, as far as the budget of slot
//     time allows; if one of these is found lost later, others wait only until it is recomputed.
//
// In replays of a log, copies of outputs and outputs recomputed early take no slot and no bandwidth: within their budgets the
// paper found that to be a few percent. A log records a loss only if something needed the output, so that P(loss) is too small,
// and the first loss of a machine cannot be expected. Without losses in the log nothing changes. In planned clusters, whose
// machines lose outputs whether they are needed or not, outputs are recomputed on slots, and copies take no bandwidth.
type Protect struct {
	Replicate bool    `option:"replicate" doc:"copy outputs that are worth it"`
	Share     float64 `option:"share" most:"1" doc:"part of the bytes processed that may be copied"`
	Bandwidth float64 `option:"bandwidth" unit:"bytes/s" doc:"between two machines of a rack"`
	Onset     int     `option:"onset" doc:"losses on a machine after which its other outputs are recomputed early; 0: never"`
	Within    float64 `option:"within" unit:"s" doc:"time in which they must lie"`
	Early     float64 `option:"early" most:"1" doc:"part of the slot time used that outputs recomputed early may take"`
}

// The paper gives the share and the onset. A bandwidth of 1 Gb/s, ten minutes, and a tenth of the slot time are assumed.
var protectDefaults = Protect{Replicate: true, Share: recompute.Share, Bandwidth: 125e6, Onset: 1, Within: 600, Early: 0.1}

// mantriProtect is all of Mantri that needs no network: restarts, duplicates, order, protection.
type mantriProtect struct {
	Mantri
	Protect
}

// protection is one pass over the outputs of a log.
type protection struct {
	Protect
	log     *workload.Outputs
	took    []int64
	history recompute.History
	onset   recompute.Onset
	bytes   recompute.Bucket
	slots   recompute.Bucket
	copied  []bool
	early   []replay.Time // when an output made early is there; 0: it was not
	waits   []float64     // of each phase: for inputs that are lost too; -1 unknown
	redo    [][]float64   // of each phase's outputs made so far
	on      [][]int32     // outputs on each machine
	of      [][]int32     // outputs of each phase
}

// durations returns the durations of the log, with the attempts that need not be waited for shortened.
func (o Protect) durations(p *workload.Pool) []int64 {
	took := p.Durations()
	if log := p.Outputs(); log != nil {
		o.shorten(log, took)
	}
	return took
}

// protector returns the same protection for a planned pool, which is notified of outputs and losses as they happen, or nil if no
// machine loses any.
func (o Protect) protector(p *workload.Pool) replay.Protector {
	if p.Stages == nil || p.Stages.Losses == nil {
		return nil
	}
	log := &workload.Outputs{Reads: make([][]int32, len(p.Phases))}
	for i := range p.Phases {
		log.Reads[i] = p.Phases[i].Parents
	}
	return o.protection(log)
}

// Made reports whether an output is worth a copy (replay.Protector).
func (x *protection) Made(m workload.Made) bool {
	x.log.Made = append(x.log.Made, m)
	x.copied, x.early = append(x.copied, false), append(x.early, 0)
	n := int32(len(x.log.Made) - 1)
	x.make(n)
	return x.copied[n]
}

// Lost returns the outputs of the same machine to recompute (replay.Protector).
func (x *protection) Lost(of int32, at replay.Time, spared bool, needed func(int32) bool) []int32 {
	m := &x.log.Made[of]
	x.history.Lost(int(m.Machine))
	if spared {
		return nil
	}
	x.early[of] = at + m.Took
	return x.next(m.Machine, at, needed)
}

// shorten shortens the durations, by attempt, of the attempts that make an output again.
func (o Protect) shorten(log *workload.Outputs, took []int64) *protection {
	x := o.protection(log)
	x.took = took
	made := 0
	for _, l := range log.Lost {
		for ; made < len(log.Made) && log.Made[made].At <= l.At; made++ {
			x.make(int32(made))
		}
		x.lose(l)
	}
	return x
}

func (o Protect) protection(log *workload.Outputs) *protection {
	x := &protection{
		Protect: o, log: log, onset: recompute.Onset{After: o.Onset, Within: o.Within},
		copied: make([]bool, len(log.Made)), early: make([]replay.Time, len(log.Made)),
		waits: make([]float64, len(log.Reads)), redo: make([][]float64, len(log.Reads)), of: make([][]int32, len(log.Reads)),
	}
	for i := range x.waits {
		x.waits[i] = -1
	}
	return x
}

// make processes an output that was made.
func (x *protection) make(n int32) {
	m := &x.log.Made[n]
	for int(m.Machine) >= len(x.on) {
		x.on = append(x.on, nil)
	}
	x.history.Held(int(m.Machine))
	redo := m.Took.Seconds() + x.wait(m.Phase)
	x.on[m.Machine] = append(x.on[m.Machine], n)
	x.of[m.Phase] = append(x.of[m.Phase], n)
	x.redo[m.Phase] = append(x.redo[m.Phase], redo)
	x.bytes.Grant(float64(max(m.Read, m.Bytes, 0)), x.Share)
	x.slots.Grant(m.Took.Seconds(), x.Early)
	if x.Replicate && m.Bytes >= 0 && x.Bandwidth > 0 &&
		recompute.Worth(x.history.Loss(int(m.Machine)), redo, float64(m.Bytes)/x.Bandwidth) && x.bytes.Spend(float64(m.Bytes)) {
		x.copied[n] = true
	}
}

// wait returns the expected longest of a phase's inputs that are lost too, which 'are recomputed in parallel' (MANTRI §5.3), as
// known when its first output is made.
func (x *protection) wait(phase int32) float64 {
	if x.waits[phase] < 0 {
		var redo, loss []float64
		for _, from := range x.log.Reads[phase] {
			redo = append(redo, x.redo[from]...)
			for _, n := range x.of[from] {
				p := x.history.Loss(int(x.log.Made[n].Machine))
				if x.copied[n] { // figure 11b
					p *= x.history.Mean()
				}
				loss = append(loss, p)
			}
		}
		x.waits[phase] = recompute.Longest(redo, loss)
	}
	return x.waits[phase]
}

// lose processes a loss that was noticed.
func (x *protection) lose(l workload.Lost) {
	m := &x.log.Made[l.Of]
	x.history.Lost(int(m.Machine))
	switch early := x.early[l.Of]; {
	case x.copied[l.Of]:
		x.took[l.Again] = 0
		return
	case early > 0:
		x.took[l.Again] = min(x.took[l.Again], max(int64(early-l.At), 0))
		return
	}
	x.early[l.Of] = l.At + m.Took                             // it is on its way, as in the log
	x.next(m.Machine, l.At, func(int32) bool { return true }) // a log does not say what is needed no more
}

// next returns the outputs to recompute because a machine has just been found to have lost one, if that is the onset.
func (x *protection) next(machine int32, at replay.Time, needed func(int32) bool) (again []int32) {
	if x.Onset == 0 || !x.onset.Recomputed(int(machine), at.Seconds()) {
		return nil
	}
	for _, n := range x.on[machine] {
		if o := &x.log.Made[n]; x.early[n] == 0 && !x.copied[n] && needed(n) && x.slots.Spend(o.Took.Seconds()) {
			x.early[n] = at + o.Took
			again = append(again, n)
		}
	}
	return again
}
