// Package laws takes rows of the log tables and returns those that violate a law: what must hold for the rows that any format
// makes from any log. Tests of formats and `straggler store verify --rows` check the same laws.
//
//  1. laws.go lists the laws and defines a violation.
//  2. trace.go checks a trace in memory.
//  3. rows.go has the laws of single rows: what the declaration of their columns requires, and how columns relate.
//  4. keys.go has the laws of keys: which columns are unique, which refer to a row of another table.
//  5. joined.go has the laws of a row and the rows that it refers to, such as an attempt and its phase.
//  6. cycle.go finds cycles among edges.
//
// Package verify checks stores of any size: it streams rows into rows.go and joined.go, and evaluates the laws of keys in SQL.
//
// Start with laws.go.
package laws
