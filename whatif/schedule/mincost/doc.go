// Package mincost takes a network with supplies, capacities and costs, all integers, and returns a flow of least cost; after
// edits it computes the next one from the previous flow.
//
//  1. network.go holds the network and its edits: nodes and arcs added and removed, costs, capacities and supplies changed.
//     An edit that makes the flow infeasible takes back as much of it as it must, and records the excess or the lack of units
//     of a node.
//  2. prices.go repairs the potentials after edits, so that no arc with room has a negative reduced cost; if that would need
//     many arcs to be scanned, it fills the arc instead.
//  3. augment.go moves units from nodes with excess to nodes that lack them, each time along a shortest path in reduced costs.
//
// # The method
//
// Successive shortest paths with potentials (Edmonds and Karp, Theoretical improvements in algorithmic efficiency for network
// flow problems, JACM 19, 1972; Ahuja, Magnanti, Orlin, Network Flows, §9.7), restarted from the previous flow and potentials.
// It was chosen by measurement: a network simplex that continued from its last tree took hundreds to thousands of degenerate
// pivots after one event in a scheduler's network, whose arcs mostly hold one unit; here an event is a few searches, and a
// search ends at the first node that can take the unit. When many units must be moved, as in a solve from scratch, the order of
// the searches determines how far each must go; see rank. Both directions are tried; see race.
//
// The same edits in the same order give the same flow. Memory is allocated only when the network outgrows its previous size.
//
// Start with network.go.
package mincost
