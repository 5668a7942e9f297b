// Package network takes machines in racks, the bandwidth of their links and the data to be moved, and returns when it has
// arrived. The model is fluid: every flow has its max-min fair rate at every instant.
//
//  1. topology.go makes links of racks, interfaces and disks, and determines which of them a read passes through.
//  2. fluid.go runs flows on links: events are the starts and ends of flows, and between two events all rates are constant.
//  3. classes.go groups flows that always have the same rate, by the link that limits them, so that a change of rates is one of
//     links; fill.go computes the rates by progressive filling, starting where they change. heaps.go orders what ends when a
//     count of bytes is reached.
//  4. blocks.go places replicas on machines as HDFS does.
//
// # A simulator with a network
//
// Start flows as tasks begin to read, ask Next when the first of them ends if nothing else happens before, and Advance to the
// next event of either kind. Instants are in seconds; a simulator that counts in µs rounds Next up, which loses nothing, since
// Advance ends every flow at its own exact instant.
//
// Start with fluid.go.
package network
