// Package measure summarises each application of an analysed store as a Run: counts, sums and a sketch of each stage, small
// enough to be kept for many nights.
//
//  1. measure.go reads the tables with the .sql files; tasks.go reads what is needed only for runs that are judged.
//  2. run.go defines a Run, plans.go what it keeps of the plans of queries.
//  3. signature.go names stages so that they can be found in other runs, and match.go finds them; grouping.go decides which
//     runs are of the same program.
//
// Names come from logs and are hostile: the code that writes them escapes them.
//
// Start with run.go.
package measure
