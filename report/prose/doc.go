// Package prose takes numbers and texts of logs and gives them as people read them.
//
//  1. figures.go writes figures with three significant digits and a unit.
//  2. sentence.go joins clauses and lists.
//  3. clean.go bounds a text of a log and makes it one line that is safe to show.
//
// Start with figures.go.
package prose
