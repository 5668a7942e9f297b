// Package recompute takes how long tasks ran, how large their outputs are and how often machines lose outputs, and returns
// which outputs to copy to another machine, and which to recompute before they are needed (MANTRI §5.3).
//
//  1. longest.go computes how long to wait for inputs that are lost too, a part of t_redo.
//  2. replicate.go selects the outputs that are worth a copy, within a budget of bytes.
//  3. onset.go takes the first losses on a machine as the onset of more.
//
// Start with longest.go.
package recompute
