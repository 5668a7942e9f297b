// Package placement takes what each task of a reduce phase reads from each rack, and the bandwidth of the racks' links,
// and gives the rack for each task that makes the busiest link least busy (MANTRI §5.2), with a bound that says how far
// from the best it can be.
//
//  1. problem.go says what is minimised.
//  2. bound.go proves that no placement can be better than so much, by weighing the links against each other.
//  3. search.go places tasks one by one, and moves and swaps them while that helps.
//
// Start with problem.go.
package placement
