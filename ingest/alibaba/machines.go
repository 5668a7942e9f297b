package alibaba

import (
	"straggler/schema"
)

// columns: machine, time, failure domain 1, failure domain 2, cpus, memory, status
func (r *reader) machine2018(f [][]byte) bool {
	if len(f[0]) == 0 {
		return false
	}
	if !r.first(f[0]) { // a later state of the same machine
		return true
	}
	r.trace.Machines = append(r.trace.Machines, schema.Machine{
		Machine: r.text.Text(f[0]), Rack: r.nullText(f[3]), Cores: positive(f[4]), AddedTime: instantFrom0(f[1]),
	})
	return true
}

// maxMachines bounds what is remembered of machines; a trace has some thousands.
const maxMachines = 1_000_000

// first says whether a machine was not seen before.
func (r *reader) first(machine []byte) bool {
	if r.machines[string(machine)] {
		return false
	}
	if len(r.machines) < maxMachines {
		r.machines[string(machine)] = true
	}
	return true
}

// columns: machine, time, cpu %, mem %, memory bandwidth, misses, network in, network out, disk %; in and out are
// normalised to 100.
func (r *reader) usage2018(f [][]byte) bool {
	at := instantFrom0(f[1])
	if !at.OK || len(f[0]) == 0 {
		return false
	}
	u := schema.MachineUsage{Machine: r.text.Text(f[0]), Time: at.V, CPU: percent(f[2]), Memory: percent(f[3]), Disk: percent(f[8])}
	in, out := percent(f[6]), percent(f[7])
	if u.Network = in; out.OK && (!in.OK || out.V > in.V) {
		u.Network = out
	}
	r.trace.MachineUsage = append(r.trace.MachineUsage, u)
	return true
}

// columns: time, machine, event, detail, cpus, memory, disk
func (r *reader) event2017(f [][]byte) bool {
	if len(f[1]) == 0 {
		return false
	}
	if string(f[2]) != "add" { // errors of a machine that stays
		r.defects["machine_errors"]++
		return true
	}
	if !r.first(f[1]) {
		return true
	}
	r.trace.Machines = append(r.trace.Machines, schema.Machine{Machine: r.text.Text(f[1]), Cores: positive(f[4]), AddedTime: instantFrom0(f[0])})
	return true
}

// columns: time, machine, cpu %, mem %, disk %, load over 1, 5, 15 minutes
func (r *reader) usage2017(f [][]byte) bool {
	at := instantFrom0(f[0])
	if !at.OK || len(f[1]) == 0 {
		return false
	}
	r.trace.MachineUsage = append(r.trace.MachineUsage, schema.MachineUsage{
		Machine: r.text.Text(f[1]), Time: at.V, CPU: percent(f[2]), Memory: percent(f[3]), Disk: percent(f[4]),
	})
	return true
}

// columns: machine, gpu type, cpus, memory GB, gpus
func (r *reader) machineGPU(f [][]byte) bool {
	if len(f[0]) == 0 {
		return false
	}
	m := schema.Machine{Machine: r.text.Text(f[0]), Platform: r.nullText(f[1]), Cores: positive(f[2])}
	if gb := positive(f[3]); gb.OK && gb.V < 1e6 {
		m.MemoryBytes = schema.Some(int64(gb.V * (1 << 30)))
	}
	r.trace.Machines = append(r.trace.Machines, m)
	return true
}

// percent is a fraction; -1 and 101 mark what was not measured.
func percent(b []byte) schema.Null[float64] {
	v, ok := number(b)
	if !ok || v < 0 || v > 100 {
		return schema.Null[float64]{}
	}
	return schema.Some(v / 100)
}

func positive(b []byte) schema.Null[float64] {
	v, ok := number(b)
	if !ok || v <= 0 {
		return schema.Null[float64]{}
	}
	return schema.Some(v)
}

// instantFrom0 is a time that may be the start of the trace.
func instantFrom0(b []byte) schema.Null[schema.Time] {
	v, ok := number(b)
	if !ok || v < 0 || v > 1e10 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(v * 1e6))
}
