package policy

import (
	"errors"
	"slices"

	"straggler/whatif/option"
	"straggler/whatif/workload"
)

// ErrLacks is wrapped by errors about a pool that lacks what a policy needs, in which case the replay would silently be that of
// another policy.
var ErrLacks = errors.New("the log does not hold what this policy needs")

// Lacks returns an error about what a pool lacks for the policy with its options; nil if it lacks nothing.
func (p Policy) Lacks(pool *workload.Pool) error { return option.Lacks(p.options, pool) }

// Lacks requires reported progress of reduces if its parts have rates of their own: synthetic progress has the same rate in all
// parts.
func (o LATE) Lacks(p *workload.Pool) error {
	if o.Phases <= 1 || slices.ContainsFunc(p.Phases, func(f workload.Phase) bool {
		return f.Kind == "reduce" && slices.ContainsFunc(p.Attempts[f.First:f.First+f.Launches], func(a workload.Attempt) bool { return a.Reports.N > 0 })
	}) {
		return nil
	}
	return errors.New("the log does not hold the progress of any reduce, so its parts have no rates of their own (phases); choose late, or phases=1")
}

// Lacks requires the sizes of outputs if outputs are to be copied and the log lost some.
func (o Protect) Lacks(p *workload.Pool) error {
	log := p.Outputs()
	if !o.Replicate || log == nil || len(log.Lost) == 0 || slices.ContainsFunc(log.Made, func(m workload.Made) bool { return m.Bytes >= 0 }) {
		return nil
	}
	return errors.New("the log does not say how large any output is, so none can be weighed against the cost of its copy (replicate); give replicate=false")
}
