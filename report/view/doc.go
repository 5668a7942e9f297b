// Package view takes a Document and returns its sections: what every rendering shows, as tables of unescaped text, sentences,
// and descriptions of pictures.
//
//  1. section.go defines sections and lists those of a report.
//  2. read.go, cost.go, history.go, queries.go, phases.go, timeline.go, outliers.go, skew.go, lost_outputs.go, machines.go,
//     policies.go, advice.go and papers.go make one section each; to add one, add such a file and its function to the list.
//  3. scoped.go lists those of a document on a job, a phase or an attempt, and attempt.go explains why one attempt took as long
//     as it did. link.go identifies what may have a page of its own.
//  4. simulation.go makes the sections of a simulated workload.
//  5. table.go defines tables, parts.go puts lost time by cause into words; titles.go has the title of the document and how to
//     run its queries.
//
// Start with section.go.
package view
