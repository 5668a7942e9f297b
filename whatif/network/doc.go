// Package network takes machines in racks, the bandwidth of their links and what is to be moved, and gives when it has
// arrived: a fluid model, in which every flow has its max-min fair rate at every instant.
//
//  1. topology.go makes links of racks, interfaces and disks, and says which of them a read goes through.
//  2. fluid.go runs flows on links: something happens only when a flow starts or ends, and between two such events all
//     rates are constant.
//  3. classes.go keeps flows that always have the same rate together, by the link that holds them back, so that a change
//     of rates is one of links; fill.go gives the rates by progressive filling, from where they change on.
//     heaps.go keeps in order what ends when some count of bytes is reached.
//  4. blocks.go puts replicas on machines as HDFS does.
//
// # A simulator with a network
//
// Start flows as tasks begin to read, ask Next when the first of them ends if nothing else happens before, and Advance
// to the next event of either kind. Instants are seconds; a simulator that counts in µs rounds Next up, and loses
// nothing by it, since Advance ends every flow at its own exact instant.
//
// Start with fluid.go.
package network
