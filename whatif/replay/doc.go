// Package replay takes a pool of package workload and simulates it under a straggler policy, and optionally under a scheduler
// that replaces the log's own order: a deterministic discrete-event simulation of jobs, phases and tasks on the slots of
// machines. All simulations of the program use it.
//
//  1. sim.go processes events, which queue.go keeps in order, and outcome.go has the results; reset.go prepares the next
//     replay. draws.go draws the random numbers for copies, normal.go the errors of progress.
//  2. dispatch.go assigns slots to tasks, in the order of the log or that of order.go, and ends.go releases them; actions.go
//     carries out the actions of policies, clones.go models how clones read upstream outputs, progress.go what attempts report.
//  3. view.go is what a policy may see, awake.go which attempts it need not visit, policy.go what it may do, looks.go how often;
//     observed.go runs policies on a live application, and decision.go has what they decide.
//  4. scheduler.go is what a scheduler may see and do, assign.go calls it, near.go finds tasks near a machine.
//  5. stages.go simulates the stages of a task in a planned pool: reading, copying and computing, over package network;
//     hosts.go shares a host's disks among its active virtual machines, and each share among their attempts; parts.go computes
//     the progress of attempts that copy and then compute; losses.go recomputes the outputs that machines lose. time.go defines
//     instants.
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
