package alibaba

import (
	"straggler/schema"
)

// columns: machine, time, failure domain 1, failure domain 2, cpus, memory, status
func (d *decoder) machine2018(f [][]byte) bool {
	if len(f[0]) == 0 {
		return false
	}
	d.out.rows.Machines = append(d.out.rows.Machines, schema.Machine{
		Machine: d.text.Text(f[0]), Rack: d.nullText(f[3]), Cores: positive(f[4]), AddedTime: instantFrom0(f[1]),
	})
	return true
}

// columns: machine, time, cpu %, mem %, memory bandwidth, misses, network in, network out, disk %; in and out are
// normalised to 100.
func (d *decoder) usage2018(f [][]byte) bool {
	at := instantFrom0(f[1])
	if !at.OK || len(f[0]) == 0 {
		return false
	}
	u := schema.MachineUsage{Machine: d.text.Text(f[0]), Time: at.V, CPU: percent(f[2]), Memory: percent(f[3]), Disk: percent(f[8])}
	in, out := percent(f[6]), percent(f[7])
	if u.Network = in; out.OK && (!in.OK || out.V > in.V) {
		u.Network = out
	}
	d.out.rows.MachineUsage = append(d.out.rows.MachineUsage, u)
	return true
}

// columns: time, machine, event, detail, cpus, memory, disk
func (d *decoder) event2017(f [][]byte) bool {
	if len(f[1]) == 0 {
		return false
	}
	if string(f[2]) != "add" { // errors of a machine that stays
		d.out.defects["machine_errors"]++
		return true
	}
	d.out.rows.Machines = append(d.out.rows.Machines, schema.Machine{Machine: d.text.Text(f[1]), Cores: positive(f[4]), AddedTime: instantFrom0(f[0])})
	return true
}

// columns: time, machine, cpu %, mem %, disk %, load over 1, 5, 15 minutes
func (d *decoder) usage2017(f [][]byte) bool {
	at := instantFrom0(f[0])
	if !at.OK || len(f[1]) == 0 {
		return false
	}
	d.out.rows.MachineUsage = append(d.out.rows.MachineUsage, schema.MachineUsage{
		Machine: d.text.Text(f[1]), Time: at.V, CPU: percent(f[2]), Memory: percent(f[3]), Disk: percent(f[4]),
	})
	return true
}

// columns: machine, gpu type, cpus, memory GB, gpus
func (d *decoder) machineGPU(f [][]byte) bool {
	if len(f[0]) == 0 {
		return false
	}
	m := schema.Machine{Machine: d.text.Text(f[0]), Platform: d.nullText(f[1]), Cores: positive(f[2])}
	if gb := positive(f[3]); gb.OK && gb.V < 1e6 {
		m.MemoryBytes = schema.Some(int64(gb.V * (1 << 30)))
	}
	d.out.rows.Machines = append(d.out.rows.Machines, m)
	return true
}

// percent returns a fraction; -1 and 101 mark values that were not measured.
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

// instantFrom0 returns a time that may be the start of the trace.
func instantFrom0(b []byte) schema.Null[schema.Time] {
	v, ok := number(b)
	if !ok || v < 0 || v > 1e10 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(v * 1e6))
}
