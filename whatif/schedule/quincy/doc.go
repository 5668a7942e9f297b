// Package quincy takes the events of a cluster (jobs and tasks arrive and end, machines fail, time passes) and returns which
// tasks to start where and which to preempt, as Quincy decides: Isard et al., Quincy: Fair Scheduling for Distributed Computing
// Clusters, SOSP 2009. It does not depend on a simulator: machines, racks, jobs and tasks are numbers, data is in bytes, time
// in seconds.
//
//  1. scheduler.go takes events, and Schedule returns the changes. A returned change counts as carried out.
//  2. graph.go maintains the flow network: task nodes, an unscheduled node per job, a cluster, racks, machines, a sink.
//  3. costs.go computes the costs of its edges: data to be moved, seconds waited, work that would be lost.
//  4. shares.go computes how many slots a job must and may have: the capacities that distinguish the four modes.
//  5. decide.go derives the changes from the flow that package mincost finds.
//
// # Use
//
//	s, err := quincy.New(quincy.Cluster{Rack: []int{0, 0, 1}, Slots: []int{2, 2, 2}}, quincy.Options{Fair: true, Preempt: true})
//	job := s.AddJob(quincy.Share{})
//	task := s.AddTask(job, quincy.Input{Bytes: 256e6, Machines: []quincy.Part{{Where: 1, Bytes: 256e6}}})
//	for _, c := range must(s.Schedule()) { … }   // {Start, task, machine 1}
//	s.Advance(31.5)                              // seconds since the start, never backwards
//	s.Finish(task)                               // and Schedule again
//	s.SetSlots(2, 0)                             // a machine is gone, and what ran there waits again:
//	s.Return(task)
//	s.RemoveJob(job)                             // once its tasks are finished
//
// Start with scheduler.go.
package quincy
