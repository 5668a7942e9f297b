package report

import (
	"math"

	"straggler/schema"
	"straggler/stats"
)

// resources sums up what the tasks of a run's slow stages spent their additional time on.
type resources struct {
	extra, waited, computed float64 // s, over all tasks
	// by stage: ln of the remaining additional time over the usual processor time, and over the usual input
	perCPU, perByte []float64
}

// What the time of a slow run was spent on.
const (
	forInput    = "input"
	forWork     = "work"
	atProcessor = "processor"
	atDisk      = "disk"
)

func (r *resources) add(s *SlowStageRow) {
	n, more := float64(s.Tasks), s.MedianS-s.UsualS
	if more <= 0 {
		return
	}
	waited, computed := max(0, s.WaitS.V-s.UsualWaitS.V), max(0, s.CPUS.V-s.UsualCPUS.V)
	r.extra += n * more
	r.waited += n * min(waited, more)
	r.computed += n * min(computed, more)
	if rest := more - waited - computed; rest > 0.1*more && s.UsualCPUS.V > 0 && s.UsualBytes.V > 0 {
		r.perCPU = append(r.perCPU, math.Log(rest/s.UsualCPUS.V))
		r.perByte = append(r.perByte, math.Log(rest/s.UsualBytes.V))
	}
}

// most describes what most of the time was spent on: what the log measured, if that is at least half. The rest is attributed to
// what it is proportional to: to the processor time of the stages if processors are slow or busy, to their input if a disk is
// slow. Since stages differ by orders of magnitude in the ratio of the two, the one whose ratio to the rest varies less between
// them is named (stats.Steadier), as in the audit.
func (r *resources) most() (what schema.Null[string]) {
	const half = 0.5
	switch {
	case r.extra == 0:
		return what
	case r.waited > half*r.extra:
		return schema.Some(forInput)
	case r.computed > half*r.extra:
		return schema.Some(forWork)
	case r.waited+r.computed > half*r.extra:
		return what
	}
	switch stats.Steadier(r.perCPU, r.perByte) {
	case 1:
		return schema.Some(atProcessor)
	case 2:
		return schema.Some(atDisk)
	}
	return what
}

// resourceWords states the result as a sentence without a capital; empty if it cannot be decided.
func resourceWords(resource string) string {
	switch resource {
	case forInput:
		return "most of the time that its tasks took more they waited for input from other machines: the network, or those that sent it."
	case forWork:
		return "most of the time that its tasks took more they computed: the code, the data or the processors’ speed changed."
	case atProcessor:
		return "its tasks used hardly more processor time and waited hardly longer for input, and took longer in proportion to their processor time in all stages: processors were taken, by a quota or by other programs."
	case atDisk:
		return "its tasks used hardly more processor time, and took longer in proportion to what they read in all stages: a disk or a file system was slow."
	}
	return ""
}
