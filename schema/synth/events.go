package synth

import "straggler/schema"

// EventKind is the kind of an event.
type EventKind int8

const (
	ApplicationStarted EventKind = iota // Application, Settings
	ExecutorAdded                       // Machine
	JobStarted                          // Job, Plan, Skewed
	PhaseSubmitted                      // Phase, Edges
	AttemptStarted                      // Attempt, Phase
	AttemptEnded                        // Attempt, Phase, Truth; Loss if it failed to read a lost output
	OutputLost                          // Attempt that had made it, Phase that still runs and recomputes it, Loss
	ExecutorRemoved                     // Machine, Reason
	PhaseCompleted                      // Phase, Reason if it failed; attempts of it may still run
	PhaseClosed                         // Phase: its row is final; with Edges if it was planned and never submitted
	JobEnded                            // Job
	LossKnown                           // Loss: its row is final
	MachineKnown                        // Machine: its row is final
	ApplicationEnded                    // Application
)

// Event is something that happened, in order of time. What it points to is valid only during the call that receives it.
type Event struct {
	Kind        EventKind
	Time        schema.Time
	Application *schema.Application
	Settings    []schema.Setting
	Machine     *schema.Machine
	Job         *schema.Job
	Plan        []PhasePlan
	Skewed      []SkewedTask
	Phase       *schema.Phase
	Edges       []schema.Edge
	Attempt     *schema.Attempt
	Truth       *AttemptTruth
	Loss        *schema.Loss
	Maker       Maker // of the output that Loss is about
	Reason      string
}

// PhasePlan is a phase as the job's start announces it.
type PhasePlan struct {
	Phase   schema.Phase
	Parents []string // native ids
}

// Maker is the attempt that had made a lost output, by its native ids.
type Maker struct{ Task, Executor string }
