// Package audit takes the analysed store of a night and the baseline of the nights before, and gives findings: what got
// worse, by more than the rules allow and by more than runs differ anyway.
//
//  1. measure.go reads each application of a store as a Run: counts, sums and a sketch of each stage, by the .sql files.
//  2. signature.go names stages so that a stage of tonight finds itself in the runs before.
//  3. baseline.go keeps the last runs, the open findings and the decisions in one file of JSON lines, sorted by what
//     they are about.
//  4. rules.go is the table of what is compared; config.go reads straggler.yaml, which changes thresholds.
//  5. judge.go compares a Run with the runs of its group; prediction.go has the test and the false discovery rate.
//  6. night.go joins findings with what was known: new, ongoing, fixed, accepted, suppressed.
//  7. pair.go compares any two runs. text.go, markdown.go, pair.html.tmpl, json.go, junit.go, sarif.go and github.go write.
//
// Names come from logs and are hostile: writers escape them, each in its own way.
//
// Start with judge.go.
package audit
