package simulate

import (
	"errors"
	"fmt"

	"straggler/whatif/policy"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// Read reads a workload file, whose schedulers and policies there must be.
func Read(name string) (*workload.File, error) {
	w, err := workload.ReadFile(name)
	return checked(name, w, err)
}

// Parse does the same with the text of one.
func Parse(name string, text []byte) (*workload.File, error) {
	w, err := workload.ParseFile(name, text)
	return checked(name, w, err)
}

func checked(name string, w *workload.File, err error) (*workload.File, error) {
	if err != nil {
		return nil, err
	}
	if _, err := schedulersOf(w); err != nil {
		return nil, fmt.Errorf("%w: %s: schedulers: %w", workload.ErrFile, name, err)
	}
	if _, err := policiesOf(w); err != nil {
		return nil, fmt.Errorf("%w: %s: policies: %w", workload.ErrFile, name, err)
	}
	return w, nil
}

// schedulersOf are those of a workload; fifo and fair where it names none.
func schedulersOf(w *workload.File) ([]schedule.Scheduler, error) {
	names := w.Schedulers
	if len(names) == 0 {
		names = []string{"fifo", "fair"}
	}
	out, err := schedule.Choose(names)
	for i := range out {
		if out[i].Name == "observed" {
			return nil, errors.New("observed is the order of a log, and there is none here")
		}
	}
	return out, err
}

// policiesOf are those of a workload; none where it names none.
func policiesOf(w *workload.File) ([]policy.Policy, error) {
	names := w.Policies
	if len(names) == 0 {
		names = []string{"none"}
	}
	out, err := policy.Choose(names, w.Set, nil, nil)
	for i := range out {
		if out[i].Ideal {
			return nil, fmt.Errorf("%s changes what a log observed, and there is none here", out[i].Name)
		}
	}
	return out, err
}
