// Package report takes the tables of a store and gives one Document: what was read, what stragglers cost, why, and what
// to do. Renderers make text of it.
//
//  1. document.go says what a Document is: typed rows with their caveats, no markup.
//  2. build.go fills it from the store; every query is a .sql file beside it, in the portable dialect.
//  3. cost.go shares the time that a phase and its job lost among the tasks that ended late.
//  4. spread.go and timeline.go reduce tasks to pictures of bounded size; machines.go makes the heat map.
//  5. whatif.go and papers.go take in replays of policies and the papers' figures, where there are any.
//  6. words.go puts evidence into sentences; advice.go is the table of what to do when.
//  7. html.go, markdown.go, text.go and json.go render a Document; perfetto.go streams the timeline from the store.
//
// Whatever comes from a log is hostile: clean.go bounds and defuses names, the renderers escape them.
//
// Start with document.go.
package report
