// Package replay takes a pool of package workload and gives what happens on it under a straggler policy, and under a
// scheduler where the log's own order is not kept: a deterministic discrete-event simulation of jobs, phases and tasks on
// the slots of machines. It is the one simulator; everything that is simulated runs on it.
//
//  1. sim.go runs the events, which queue.go keeps in order; draws.go draws what happens to copies.
//  2. dispatch.go gives slots to tasks, in the order of the log or that of order.go, ends.go takes them back; actions.go
//     carries out what a policy asks for, clones.go how clones read what others made, progress.go what attempts report.
//  3. view.go is what a policy may see, policy.go what it may ask for, looks.go how often; observed.go shows it an application
//     that runs elsewhere.
//  4. scheduler.go is what a scheduler may see and do, assign.go how it is asked, near.go which tasks are near a machine.
//  5. stages.go runs the parts of a task's time in a planned pool: reading, copying and computing, over package network;
//     hosts.go shares a host's disks among its virtual machines that work, and theirs among their attempts; parts.go is the
//     progress of attempts that copy and then compute; losses.go recomputes the outputs that machines lose. Instants are
//     those of time.go.
//
// # Why policy none is exact
//
// An original keeps its observed duration. A phase is released as long after its parents reached the count of finished
// tasks they had when it was released in the log, and a job as long after the job before it as it was. Tasks are
// launched in the observed order. The k-th launch of a phase claims a slot when its turn has come and either the
// observed wait at the head of the queue has passed, or more slots are idle than the observed scheduler ever left
// unused while that launch waited; it starts the observed lag later. With nothing changed every claim falls on the
// observed instant and on the observed slot. With tasks shortened, slots come free earlier and tasks move up; with
// copies in the way, tasks wait. A task that lands on another machine than observed takes as much longer as that
// machine is slower.
//
// Start with sim.go.
package replay
