// Package laws takes rows of the log tables and gives those that break a law: what holds of the rows that any format makes
// of any log. Tests of formats and `straggler store verify --rows` check the same laws.
//
//  1. laws.go lists the laws and says what a violation is.
//  2. trace.go checks a trace in memory.
//  3. rows.go has the laws of a row by itself: what the declaration of its columns asks for, and how they go together.
//  4. keys.go has the laws of keys: which columns are unique, which name a row of another table.
//  5. joined.go has the laws of a row and of those that it refers to, such as an attempt and its phase.
//  6. cycle.go finds cycles among edges.
//
// Package verify checks stores of any size: it streams rows into rows.go and joined.go, and asks for the laws of keys in
// SQL.
//
// Start with laws.go.
package laws
