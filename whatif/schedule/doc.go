// Package schedule implements the schedulers of package replay: they decide which job gets the next slot, and whose attempts
// are killed for it. Any straggler policy runs under any of them.
//
//  1. table.go lists the schedulers with their options, defaults and sources; choose.go selects one by name; refuse.go checks
//     that a pool has what a scheduler needs.
//  2. offer.go offers idle slots, machine by machine, to jobs in some order; all schedulers but Quincy use it.
//  3. fifo.go and fair.go define the orders; fair.go also preempts for starved pools, and share.go computes max-min fair shares
//     for it.
//  4. delay.go lets a job wait for a slot near its data; copycompute.go splits reduces into a copying and a computing part;
//     placed.go spreads them over racks.
//  5. quincy.go passes events to package quincy and carries out its decisions.
//
// Start with offer.go.
package schedule
