// Package measure takes the analysed tables of a store and gives each application in it as a Run: counts, sums and a
// sketch of each stage, small enough to be kept for many nights.
//
//  1. measure.go reads the tables by the .sql files; tasks.go reads what only a run that is judged needs.
//  2. run.go says what a Run is, plans.go what it keeps of the plans of queries.
//  3. signature.go names stages so that a stage of tonight finds itself in the runs before, and match.go finds it; grouping.go
//     says which runs are of the same program.
//
// Names come from logs and are hostile: whoever writes them escapes them.
//
// Start with run.go.
package measure
