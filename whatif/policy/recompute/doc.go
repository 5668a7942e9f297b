// Package recompute takes how long tasks ran, how large their outputs are and how often machines lose outputs, and gives
// which outputs to copy to another machine, and which to recompute before they are needed (MANTRI §5.3).
//
//  1. longest.go says how long the inputs that are lost too are waited for, of which t_redo is made.
//  2. replicate.go copies what is worth it, within a budget of bytes.
//  3. onset.go takes the first losses on a machine for the beginning of more.
//
// Start with longest.go.
package recompute
