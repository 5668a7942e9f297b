package policy

import (
	"errors"
	"slices"

	"straggler/whatif/option"
	"straggler/whatif/workload"
)

// ErrLacks is wrapped by the error about a policy for which a pool does not hold what it needs: the replay would silently be of
// another policy.
var ErrLacks = errors.New("the log does not hold what this policy needs")

// Lacks is what a pool lacks for the policy to do what its options say; nil where it can.
func (p Policy) Lacks(pool *workload.Pool) error { return option.Lacks(p.options, pool) }

// Lacks asks for reduces whose progress the log holds, where its parts have rates of their own: progress that is made up goes
// through all parts alike.
func (o LATE) Lacks(p *workload.Pool) error {
	if o.Phases <= 1 || slices.ContainsFunc(p.Phases, func(f workload.Phase) bool {
		return f.Kind == "reduce" && slices.ContainsFunc(p.Attempts[f.First:f.First+f.Launches], func(a workload.Attempt) bool { return a.Reports.N > 0 })
	}) {
		return nil
	}
	return errors.New("the log does not hold the progress of any reduce, so its parts have no rates of their own (phases); choose late, or phases=1")
}

// Lacks asks for the sizes of outputs where those of a log that lost some are to be copied.
func (o Protect) Lacks(p *workload.Pool) error {
	log := p.Outputs()
	if !o.Replicate || log == nil || len(log.Lost) == 0 || slices.ContainsFunc(log.Made, func(m workload.Made) bool { return m.Bytes >= 0 }) {
		return nil
	}
	return errors.New("the log does not say how large any output is, so none can be weighed against the cost of its copy (replicate); give replicate=false")
}
