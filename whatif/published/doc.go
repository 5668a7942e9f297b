// Package published takes the papers' clusters and workloads, rebuilt from the numbers that the papers give, and returns each
// published number beside ours.
//
//  1. published.go lists the papers and runs their experiments, several at once.
//  2. clusters.go reads the clusters and workloads in clusters/. lab.go runs them on the engine, under the shipped policies and
//     schedulers, and statistics.go summarises their results.
//  3. The experiments are in late.go with late_clusters.go, mantri.go with mantri_phases.go and mantri_scales.go, placement.go and
//     losses.go, dolly.go with dolly_trace.go, fair.go with fair_table3.go, fair_links.go and fair_batch.go, and quincy.go.
//     swim.go runs Dolly's and FAIR's with the arrivals of a SWIM file.
//  4. row.go makes a row of a number: its kind, its tolerance or band, and the verdict.
//  5. mutants.go adds the results of policies that do nothing, and of ours without their main rules. It reads them from
//     mutants.tsv, which a test writes.
//  6. record.go compares the rows that hold with passing.tsv, the record of those that held before.
//  7. figure.go redraws the papers' figures: published values beside ours.
//  8. sheet.go lays a run out for display; page.go and markdown.go render it.
//
// # What counts as met
//
// The traces that the papers used are not public. Assumptions are stated with each row, and none was chosen to meet a number.
//
// A number counts as met if ours is within its tolerance, and if a policy that does nothing and ours without its main rule are
// outside it. A test runs these two mutants. Numbers about what a policy is compared with, or about the inputs of an
// experiment, do not count.
//
// If a paper leaves a parameter open, ours is a band over its plausible range. Bands are counted separately: the published number
// lies inside or outside of ours. A band that contains it is wide if it is wider than the number itself, and inconclusive if a
// mutant's contains it, too.
//
// For a number that cannot be rebuilt, the note says which sentence is missing in the paper.
//
// Start with row.go, then late.go.
package published
