// Package prose formats numbers and texts of logs for people.
//
//  1. figures.go writes figures with three significant digits and a unit.
//  2. sentence.go joins clauses and lists.
//  3. clean.go bounds a text of a log and makes it one line that is safe to show.
//
// Start with figures.go.
package prose
