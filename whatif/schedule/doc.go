// Package schedule takes what replay shows a scheduler and gives its decisions: who gets the next slot, and whose attempts
// are killed for it. Any straggler policy runs under any of them.
//
//  1. table.go lists the schedulers with their options, defaults and sources; choose.go chooses one by name; refuse.go says
//     what a pool lacks for one to do what its name says.
//  2. offer.go offers idle slots, machine by machine, to jobs in some order: the frame of all but Quincy.
//  3. fifo.go and fair.go are the orders; fair.go also kills for starved pools. share.go is the max-min fill under it.
//  4. delay.go lets a job wait for a slot near its data; copycompute.go splits reduces into a copying and a computing part;
//     placed.go spreads them over racks.
//  5. quincy.go tells package quincy what happened, and does what it says.
//
// Start with offer.go.
package schedule
