// Package replay takes the rows of a log and gives what would have happened under another straggler policy: a
// deterministic discrete-event simulation of jobs, phases and tasks on the slots of machines.
//
//  1. rows.go holds the rows a replay needs, compactly; trace.go fills them from rows in memory.
//  2. build.go makes pools of them: the applications that share slots, with their jobs, phases and attempts.
//  3. place.go gives each attempt the slot it ran on; releases.go says what each phase and job waited for.
//  4. losses.go keeps which outputs were lost; calibrate.go keeps how the observed scheduler behaved: the order of launches, its waits and its lags.
//  5. work.go says how long a task should take for its data and its machine; draws.go draws a copy's duration from that.
//  6. sim.go runs the events; dispatch.go gives slots to tasks, ends.go takes them back; actions.go carries out what a
//     policy asks for.
//  7. view.go is what a policy may see, policy.go what it may ask for.
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
// Start with workload.go.
package replay
