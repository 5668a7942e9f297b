package policy

import "straggler/whatif/replay"

// Blacklist keeps tasks off machines that are likely to cause stragglers (DOLLY §2.1.2). It makes no copies.
//
// Rules: the probability that a machine causes a straggler in a window is predicted as the mean of its value in the previous
// window and its long-term average. Machines above the threshold p_b are avoided for the window. A task is a straggler when its
// rate is under half the median of those of its phase that have finished. Windows: 5 min or 1 h. The threshold is not in the
// text of the paper; 0.25 is ours.
type Blacklist struct {
	Window    float64 `option:"window" least:"1e-6" unit:"s" doc:"length of a window"`
	Threshold float64 `option:"threshold" most:"1" doc:"predicted probability above which a machine is avoided (p_b)"`
}

var blacklistDefaults = Blacklist{Window: 300, Threshold: 0.25}

type blacklist struct {
	Blacklist
	machines []machineRecord
	next     replay.Time
}

type machineRecord struct {
	tasks, stragglers float64 // in this window
	all, allStraggler float64
}

func (b *blacklist) Look(v *replay.View, do *replay.Actions) replay.Again {
	if b.machines == nil {
		b.next = v.Now() + replay.Seconds(b.Window)
	}
	for len(b.machines) < v.Machines() { // of an application that still runs more may come
		b.machines = append(b.machines, machineRecord{})
	}
	p, ok := (*v.Memory()).(*dollyPhase)
	if !ok {
		p = &dollyPhase{}
		*v.Memory() = p
	}
	for _, d := range v.Done()[p.counted:] {
		rate := data(v, d.Task) / max(d.Took.Seconds(), 1e-6)
		m := &b.machines[d.Machine]
		m.tasks++
		m.all++
		if rate < p.rates.median()/2 {
			m.stragglers++
			m.allStraggler++
		}
		p.rates.add(rate)
	}
	p.counted = len(v.Done())
	if v.Now() >= b.next {
		b.turn(do)
		// in the windows since then nothing ended, and only the last one's verdict holds
		if late, window := v.Now()-b.next, replay.Seconds(b.Window); late >= 0 {
			b.next += late / window * window
			b.turn(do)
		}
	}
	return replay.Again{End: true}
}

// turn closes a window.
func (b *blacklist) turn(do *replay.Actions) {
	end := b.next + replay.Seconds(b.Window)
	for i := range b.machines {
		m := &b.machines[i]
		if m.all > 0 {
			long := m.allStraggler / m.all
			last := long
			if m.tasks > 0 {
				last = m.stragglers / m.tasks
			}
			if (last+long)/2 > b.Threshold {
				do.Avoid(int32(i), end)
			}
		}
		m.tasks, m.stragglers = 0, 0
	}
	b.next = end
}
