package schema

// ExtendWindow makes the phase's window contain an attempt of it.
func (p *Phase) ExtendWindow(a *Attempt) {
	if a.StartTime.OK && (!p.StartTime.OK || a.StartTime.V < p.StartTime.V) {
		p.StartTime = a.StartTime
	}
	if a.FinishTime.OK && (!p.FinishTime.OK || a.FinishTime.V > p.FinishTime.V) {
		p.FinishTime = a.FinishTime
	}
}
