package replay

// Verb is the kind of a decision; each is a method of Actions.
type Verb string

const (
	CopyTask     Verb = "copy"
	RestartTask  Verb = "restart"
	KillAttempt  Verb = "kill"
	AvoidMachine Verb = "avoid"
)

// Decision is an action that a policy would take. Repeated decisions are returned once.
type Decision struct {
	Policy  int // its index among the policies
	At      Time
	Phase   int32
	Task    int32  // -1, and so is Phase: the decision is about a machine
	Machine string // that the policy names, if any
	Verb    Verb
}

// keep records the actions of a policy.
func (o *Observed) keep(policy int) {
	for _, d := range o.s.actions.Decisions(&o.s.view) {
		d.Policy, d.At = policy, 0
		if !o.known[d] {
			o.known[d] = true
			d.At = Time(o.s.now)
			o.decided = append(o.decided, d)
		}
	}
	o.s.actions.reset()
}

// Decisions returns the actions on attempts and machines, in order, of a look at a phase.
func (d *Actions) Decisions(v *View) []Decision {
	var out []Decision
	for i := range d.list {
		a := &d.list[i]
		x := Decision{At: v.Now(), Phase: v.ph, Task: a.task}
		switch a.verb {
		case doCopy, doQueue, doClone:
			x.Verb = CopyTask
		case doCopyOn:
			x.Verb, x.Machine = CopyTask, v.MachineName(a.where)
		case doKill:
			x.Verb = KillAttempt
		case doRestart:
			x.Verb = RestartTask
		case doAvoid:
			x.Verb, x.Machine, x.Task, x.Phase = AvoidMachine, v.MachineName(a.where), -1, -1
		default:
			continue
		}
		out = append(out, x)
	}
	return out
}
