// Package mincost takes a network with supplies, capacities and costs, all integers, and gives a flow of least cost; after
// edits it gives the next one from where the last ended.
//
//  1. network.go holds the network and its edits: nodes and arcs added and removed, costs, capacities and supplies changed.
//     An edit keeps a spanning tree and a flow that satisfies every supply, with artificial arcs where it must.
//  2. basis.go is that tree: each node hangs on a parent by an arc, and its potential is the cost of the way to the root.
//  3. price.go finds arcs whose reduced cost says that flow should move; after an edit it looks only where potentials moved.
//  4. pivot.go moves flow around the cycle that such an arc closes, and exchanges it for an arc that is full or empty.
//
// # The method
//
// Primal network simplex on strongly feasible trees (Cunningham, A network simplex method, Mathematical Programming 11,
// 1976; Ahuja, Magnanti, Orlin, Network Flows, chapter 11). It was chosen for what follows an event in a scheduler: the
// optimal tree of the moment before is nearly optimal after it, and a handful of pivots mends it, each costing no more
// than the part of the tree that it moves. Every edit leaves a strongly feasible tree: an arc that would not be is
// exchanged for the artificial arc of its node. So no sequence of edits can make the pivots cycle.
//
// The same edits in the same order give the same flow. Nothing is allocated but when the network outgrows what it was.
//
// Start with network.go.
package mincost
