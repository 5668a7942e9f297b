package model

import (
	"fmt"
	"maps"
	"slices"

	"straggler/causes/fit"
	"straggler/causes/machines"
)

// Statistics are sums over the phases of one application, which a Learner merges. Merged in the order of the applications, they
// give the same model to the last bit, whenever they were computed.
type Statistics struct {
	Stages  map[uint64]StageStatistics // by signature; 0: of phases whose program has no name
	Windows map[machines.Window]machines.SufficientStats
	CPU     map[int64]machines.SufficientStats // by machine
}

// StageStatistics are the statistics of a stage, of its outliers and of slow starts of its executors.
type StageStatistics struct {
	Stage
	Outliers fit.OutlierCounts
	Starts   fit.StartCounts
}

// NewStatistics returns empty statistics.
func NewStatistics() *Statistics {
	return &Statistics{map[uint64]StageStatistics{}, map[machines.Window]machines.SufficientStats{}, map[int64]machines.SufficientStats{}}
}

// Add adds the observation of a phase of a stage.
func (s *Statistics) Add(signature uint64, o *Observation) {
	if _, seen := s.Stages[signature]; !seen && len(s.Stages) >= maxStages {
		signature = 0
	}
	stage := s.Stages[signature]
	stage.add(o.Stage, 1)
	stage.Outliers.Add(o.Outliers)
	stage.Starts.Add(o.Starts)
	s.Stages[signature] = stage
	for _, m := range o.Machines {
		w := s.Windows[m.Window]
		w.Add(m.Mean, m.Variance, m.N)
		s.Windows[m.Window] = w
		if m.CPUKnown {
			c := s.CPU[m.Window.Machine]
			c.Add(m.CPUMean, m.CPUVariance, 1)
			s.CPU[m.Window.Machine] = c
		}
	}
}

// Renumber replaces the machines' numbers by those given, which must include every machine present.
func (s *Statistics) Renumber(numbers []int64) error {
	windows, cpu := make(map[machines.Window]machines.SufficientStats, len(s.Windows)), make(map[int64]machines.SufficientStats, len(s.CPU))
	number := func(machine int64) (int64, error) {
		if machine < 0 || machine >= int64(len(numbers)) {
			return 0, fmt.Errorf("statistics of machine %d, of %d", machine, len(numbers))
		}
		return numbers[machine], nil
	}
	for w, t := range s.Windows {
		k, err := number(w.Machine)
		if err != nil {
			return err
		}
		windows[machines.Window{Machine: k, Number: w.Number}] = t
	}
	for machine, t := range s.CPU {
		k, err := number(machine)
		if err != nil {
			return err
		}
		cpu[k] = t
	}
	s.Windows, s.CPU = windows, cpu
	return nil
}

// Merge adds the statistics of an application. The last bits of the sums depend on the order of the calls.
func (l *Learner) Merge(s *Statistics) {
	for _, signature := range slices.Sorted(maps.Keys(s.Stages)) {
		t := s.Stages[signature]
		l.MergeStage(signature, &t)
	}
	for _, w := range machines.SortedWindows(s.Windows) {
		l.MergeWindow(w, s.Windows[w])
	}
	for _, k := range slices.Sorted(maps.Keys(s.CPU)) {
		c := s.CPU[k]
		l.MergeCPU(k, &c)
	}
}

// MergeStage, MergeWindow and MergeCPU are the steps of Merge, for statistics in the same order: first all stages by signature,
// then all windows by machine and time, then all machines.
func (l *Learner) MergeStage(signature uint64, t *StageStatistics) {
	l.model.pool(signature, t.Stage)
	l.counts.Add(t.Outliers)
	l.starts.Add(t.Starts)
}

// MergeWindow is part of Merge.
func (l *Learner) MergeWindow(w machines.Window, t machines.SufficientStats) {
	m := &l.model
	m.Machines.Merge(w, t)
	for len(m.CPU) < len(m.Machines.Machines) {
		m.CPU = append(m.CPU, machines.SufficientStats{})
	}
}

// MergeCPU is part of Merge, for a machine that has a window.
func (l *Learner) MergeCPU(machine int64, t *machines.SufficientStats) { l.model.CPU[machine].Merge(t) }
