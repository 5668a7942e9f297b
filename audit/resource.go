package audit

import (
	"math"

	"straggler/stats"
)

// kindOf determines what the slow parts of machines spent the time on.
//
// Additional waiting for input is attributed to the disk or the network. The rest is proportional to the processor time of the
// stages if cores are busy, and to the bytes that they read and write if a disk is slow. Stages differ by orders of magnitude
// in the ratio of the two, so a few of them are enough: the logarithms of the rest over either are compared as two normal
// samples around an unknown mean. Its prior is that a busy processor doubles processor time, within a factor of e, and that a
// slow disk moves 20 MB/s, within a factor of 4.5.
//
// If all machines of a rack wait for their input, and those of other racks do not, the cause is the rack's link.
func kindOf(machines []SlowMachine, shared, rack bool) string {
	var processor, disk sample
	var stages []resourceRatios
	extra, staged, cpu := spent(machines)
	for i := range machines {
		for _, p := range machines[i].parts {
			if !p.slow() {
				continue
			}
			rest := max(p.extra-p.staging, 0.01*p.extra)
			if p.cpuUsual > 0 && p.bytes > 0 {
				perCPU, perByte := math.Log(rest/p.cpuUsual), math.Log(rest/(p.bytes/20e6))
				processor.add(perCPU)
				disk.add(perByte)
				for len(stages) <= p.stage {
					stages = append(stages, resourceRatios{})
				}
				stages[p.stage].processor.add(perCPU)
				stages[p.stage].disk.add(perByte)
			}
		}
	}
	const clear = 0.05 // of the extra time, a share of waiting that clocks and chance do not give
	switch {
	case extra == 0:
		return ""
	case staged > clear*extra:
		if shared && staged > 0.5*extra {
			return "shared"
		}
		if rack && staged > 0.5*extra {
			return "network"
		}
		return "disk"
	case cpu > 0.5*extra:
		return "processor"
	case processor.n == 0 && shared:
		return "shared"
	case processor.n == 0:
		return ""
	}
	// beyond three standard deviations of its prior neither explains the time
	const processorPrior, diskPrior, far = 1, 1.5, 3
	name, m, most := "disk", disk.sum/disk.n, far*diskPrior
	if processor.evidence(processorPrior) >= disk.evidence(diskPrior) {
		name, m, most = "processor", processor.sum/processor.n, far*processorPrior
	}
	if m > most {
		return steadiest(stages)
	}
	return name
}

// spent returns how much longer the slow parts of machines took, and how much of that was waiting for input and processor time.
func spent(machines []SlowMachine) (extra, staged, cpu float64) {
	for i := range machines {
		for _, p := range machines[i].parts {
			if !p.slow() {
				continue
			}
			extra += p.tasks * p.extra
			staged += p.tasks * max(0, p.staging)
			if p.cpu > 0 {
				cpu += p.tasks * min(p.cpu, p.extra)
			}
		}
	}
	return extra, staged, cpu
}

// resourceRatios holds, by machine, the logarithms of the rest of one stage's time over its processor time and over its bytes.
type resourceRatios struct{ processor, disk sample }

// steadiest decides which of the two the time is proportional to if it is too long for both, for instance because a quota stops
// a processor most of the time: the one whose ratio varies less between stages. Machines that ran the same stage are not
// independent, so their means are used.
func steadiest(stages []resourceRatios) string {
	var processor, disk []float64
	for i := range stages {
		if s := &stages[i]; s.processor.n > 0 {
			processor, disk = append(processor, s.processor.sum/s.processor.n), append(disk, s.disk.sum/s.disk.n)
		}
	}
	return [...]string{"", "processor", "disk"}[stats.Steadier(processor, disk)]
}

// sample holds the number of values, their sum and that of their squares.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(x float64) {
	s.n++
	s.sum += x
	s.squares += x * x
}

// evidence returns the logarithm of the marginal likelihood, up to a constant, of values around a mean with a normal prior of the
// given standard deviation at 0; the values scatter by a factor of e. Parts of one stage on many machines are not independent,
// so together they count as at most ten.
func (s *sample) evidence(prior float64) float64 {
	n := min(s.n, 10)
	m := s.sum / s.n
	variance := max(0, s.squares/s.n-m*m)
	between := 1/n + prior*prior
	return -0.5 * (n*variance + m*m/between + math.Log(between))
}
