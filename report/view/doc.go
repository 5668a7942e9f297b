// Package view takes a Document and gives its sections: what every rendering shows, as tables of text that is not yet
// escaped, sentences, and pictures that are not yet drawn.
//
//  1. section.go says what a section is and lists those of a report.
//  2. read.go, cost.go, history.go, queries.go, phases.go, timeline.go, outliers.go, skew.go, lost_outputs.go, machines.go,
//     policies.go, advice.go and papers.go make one section each; to add one, add such a file and its function to the list.
//  3. scoped.go lists those of a document on a job, a phase or an attempt, and attempt.go says why one attempt took as long as
//     it did. link.go names what a page of its own may be about.
//  4. simulation.go makes the sections of a simulated workload.
//  5. table.go says what a table is, parts.go puts lost time by cause into words; titles.go names the document and says
//     how to run its queries.
//
// Start with section.go.
package view
