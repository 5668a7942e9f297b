// Package mincost takes a network with supplies, capacities and costs, all integers, and gives a flow of least cost; after
// edits it gives the next one from where the last ended.
//
//  1. network.go holds the network and its edits: nodes and arcs added and removed, costs, capacities and supplies changed.
//     An edit that leaves a flow impossible takes back as much of it as it must, and notes what a node then has too much or
//     too little.
//  2. prices.go mends the potentials after edits, so that no arc with room has a negative reduced cost; where that cannot
//     be done by looking at few arcs, it fills the arc instead.
//  3. augment.go moves what nodes have too much to nodes that have too little, each time on a shortest way in reduced costs.
//
// # The method
//
// Successive shortest paths with potentials (Edmonds and Karp, Theoretical improvements in algorithmic efficiency for
// network flow problems, JACM 19, 1972; Ahuja, Magnanti, Orlin, Network Flows, §9.7), taken up again from the flow and
// the potentials of the moment before. It was chosen by measuring: a network simplex that went on from its last tree took
// hundreds to thousands of degenerate exchanges after one event in a scheduler's network, whose arcs mostly hold one unit;
// here an event is a few searches, and a search ends at the first node that can take the unit. Where much is to be moved, as
// from nothing, the order of the searches decides how far each must look; see rank. Both directions are tried; see race.
//
// The same edits in the same order give the same flow. Nothing is allocated but when the network outgrows what it was.
//
// Start with network.go.
package mincost
