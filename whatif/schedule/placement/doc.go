// Package placement takes the bytes that each task of a reduce phase reads from each rack, and the bandwidth of the racks'
// links, and assigns tasks to racks so as to minimise the load of the busiest link (MANTRI §5.2). It also returns a lower bound
// of the optimum.
//
//  1. problem.go defines the objective.
//  2. bound.go computes the lower bound, by weighting the links.
//  3. search.go places tasks one by one, then improves the placement by moves and swaps.
//
// Start with problem.go.
package placement
