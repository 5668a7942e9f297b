package google

import (
	"math"
	"strconv"
)

// columns: time, missing info, job, event, user, scheduling class, name, logical name
func (d *decoder) job2011(f [][]byte) bool {
	at, ok1 := integer(f[0])
	job, ok2 := integer(f[2])
	typ, ok3 := integer(f[3])
	if !ok1 || !ok2 || !ok3 || typ > 8 {
		return false
	}
	d.event(event{job: job, index: -1, time: at, kind: kinds2011[typ], user: string(f[4]), name: string(f[7])})
	return true
}

// columns: time, missing info, job, index, machine, event, user, class, priority, CPU, memory, disk, different machines
func (d *decoder) task2011(f [][]byte) bool {
	at, ok1 := integer(f[0])
	job, ok2 := integer(f[2])
	index, ok3 := integer(f[3])
	typ, ok4 := integer(f[5])
	if !ok1 || !ok2 || !ok3 || !ok4 || typ > 8 || len(f[3]) == 0 || len(f[5]) == 0 {
		return false
	}
	machine, ok := integer(f[4])
	if !ok || len(f[4]) == 0 {
		machine = -1
	}
	d.event(event{job: job, index: index, time: at, kind: kinds2011[typ], machine: machine})
	return true
}

// columns: time, machine, event (0 add, 1 remove, 2 update), platform, CPUs, memory
func (d *decoder) machine2011(f [][]byte) bool {
	at, ok1 := integer(f[0])
	id, ok2 := integer(f[1])
	typ, ok3 := integer(f[2])
	if !ok1 || !ok2 || !ok3 || typ > 2 || len(f[1]) == 0 {
		return false
	}
	d.machine(machineEvent{id: id, time: at, kind: typ + 1, platform: string(f[3]), cpus: decimal(f[4])})
	return true
}

// columns: start, end, job, index, machine, CPU rate, …
func (d *decoder) usage2011(f [][]byte) bool {
	start, ok1 := integer(f[0])
	end, ok2 := integer(f[1])
	machine, ok3 := integer(f[4])
	if !ok1 || !ok2 || !ok3 || end < start {
		return false
	}
	d.use(machine, start, end, decimal(f[5]))
	return true
}

var kinds2011 = [9]kind{submit, schedule, evict, fail, finish, kill, lost, other, other}

// integer parses a whole number; some copies of the trace have stray blanks and quotes around numbers. An empty field means 0.
func integer(b []byte) (int64, bool) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '"') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '"') {
		b = b[:len(b)-1]
	}
	if len(b) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n), n <= math.MaxInt64
}

func fraction(b []byte) bool {
	return len(b) == 0 || decimal(b) <= 1
}

// decimal returns a number, or NaN if it is missing.
func decimal(b []byte) float64 {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || v < 0 || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}
