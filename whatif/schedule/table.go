package schedule

import (
	"fmt"
	"strings"

	"straggler/whatif/option"
	"straggler/whatif/replay"
)

// Spec is a row of the table of schedulers.
type Spec struct {
	Name     string
	Doc      string // one line
	Source   string
	defaults any
	make     func(options any) replay.Scheduler
}

// Scheduler is a scheduler with its options.
type Scheduler struct {
	*Spec
	options any
}

// specs is the one list of schedulers; it is never changed.
var specs = []*Spec{
	{Name: "observed", Doc: "tasks start in the order of the log, in the way its own scheduler had", Source: "the log"},
	row("fifo", "jobs in order of submission, each task as near its data as the slot allows", "FAIR §2.1", FIFO{},
		func(o FIFO) replay.Scheduler { return newOffers(&fifo{}, Delay{}) }),
	row("fifo-delay", "FIFO in which jobs wait for slots near their data", "FAIR §4.2", delayDefaults,
		func(o Delay) replay.Scheduler { return newOffers(&fifo{}, o) }),
}

func row[O any](name, doc, source string, defaults O, make func(O) replay.Scheduler) *Spec {
	return &Spec{
		Name: name, Doc: doc, Source: source, defaults: defaults,
		make: func(options any) replay.Scheduler { return make(options.(O)) },
	}
}

// Specs is the table of schedulers. The caller must not change it.
func Specs() []*Spec { return specs }

// Options are the options of a scheduler with their defaults.
func (s *Spec) Options() []option.Option { return option.Of(s.defaults) }

// ByName finds a scheduler with its default options.
func ByName(name string) (Scheduler, error) {
	var names []string
	for _, s := range specs {
		if s.Name == name {
			return Scheduler{Spec: s, options: s.defaults}, nil
		}
		names = append(names, s.Name)
	}
	return Scheduler{}, fmt.Errorf("there is no scheduler %q; there are %s", name, strings.Join(names, ", "))
}

// With is the scheduler with one option changed.
func (s Scheduler) With(name, value string) (Scheduler, error) {
	o, err := option.With("scheduler "+s.Name, s.options, name, value)
	if err != nil {
		return s, err
	}
	s.options = o
	return s, nil
}

// Parameters are the options as a JSON object.
func (s Scheduler) Parameters() string { return option.JSON(s.options) }

// New is a scheduler for one replay; nil for the one that the log had.
func (s Scheduler) New() replay.Scheduler {
	if s.make == nil {
		return nil
	}
	return s.make(s.options)
}
