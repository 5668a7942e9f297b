package schema

// Trace is a whole trace in memory: the rows of the log tables, each in the order of its table. Synth makes them,
// tests hold them, and the code that works on rows and not on SQL reads them.
type Trace struct {
	Applications []Application
	Settings     []Setting
	Caveats      []Caveat
	Jobs         []Job
	Phases       []Phase
	Edges        []Edge
	Attempts     []Attempt
	Machines     []Machine
	MachineUsage []MachineUsage
	Progress     []Progress
	Losses       []Loss
	Transfers    []Transfer
	Rejects      []Reject
}

// Reset takes all rows out and keeps their memory for others.
func (t *Trace) Reset() {
	*t = Trace{
		Applications: t.Applications[:0], Settings: t.Settings[:0], Caveats: t.Caveats[:0], Jobs: t.Jobs[:0], Phases: t.Phases[:0],
		Edges: t.Edges[:0], Attempts: t.Attempts[:0], Machines: t.Machines[:0], MachineUsage: t.MachineUsage[:0],
		Progress: t.Progress[:0], Losses: t.Losses[:0], Transfers: t.Transfers[:0], Rejects: t.Rejects[:0],
	}
}

// Append adds the rows of u. Keys are not touched: traces that are joined must not share any.
func (t *Trace) Append(u *Trace) {
	t.Applications = append(t.Applications, u.Applications...)
	t.Settings = append(t.Settings, u.Settings...)
	t.Caveats = append(t.Caveats, u.Caveats...)
	t.Jobs = append(t.Jobs, u.Jobs...)
	t.Phases = append(t.Phases, u.Phases...)
	t.Edges = append(t.Edges, u.Edges...)
	t.Attempts = append(t.Attempts, u.Attempts...)
	t.Machines = append(t.Machines, u.Machines...)
	t.MachineUsage = append(t.MachineUsage, u.MachineUsage...)
	t.Progress = append(t.Progress, u.Progress...)
	t.Losses = append(t.Losses, u.Losses...)
	t.Transfers = append(t.Transfers, u.Transfers...)
	t.Rejects = append(t.Rejects, u.Rejects...)
}

// Add appends rows of any log table; it reports false when R is not the row of one that a Trace holds.
func Add[R any](t *Trace, rows ...R) bool {
	switch rows := any(rows).(type) {
	case []Application:
		t.Applications = append(t.Applications, rows...)
	case []Setting:
		t.Settings = append(t.Settings, rows...)
	case []Caveat:
		t.Caveats = append(t.Caveats, rows...)
	case []Job:
		t.Jobs = append(t.Jobs, rows...)
	case []Phase:
		t.Phases = append(t.Phases, rows...)
	case []Edge:
		t.Edges = append(t.Edges, rows...)
	case []Attempt:
		t.Attempts = append(t.Attempts, rows...)
	case []Machine:
		t.Machines = append(t.Machines, rows...)
	case []MachineUsage:
		t.MachineUsage = append(t.MachineUsage, rows...)
	case []Progress:
		t.Progress = append(t.Progress, rows...)
	case []Loss:
		t.Losses = append(t.Losses, rows...)
	case []Transfer:
		t.Transfers = append(t.Transfers, rows...)
	case []Reject:
		t.Rejects = append(t.Rejects, rows...)
	default:
		return false
	}
	return true
}
