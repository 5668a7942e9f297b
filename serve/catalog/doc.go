// Package catalog takes logs to watch and a store, and gives what pages and tools show of them: the applications, documents
// on parts of them, and rows of queries, always of one consistent state of the store.
//
//  1. catalog.go opens a Catalog and runs its work until the context ends.
//  2. watch.go follows logs, newest first, and brings the store's results up to date.
//  3. status.go says how far that is and what went wrong.
//  4. version.go is one state of the store: a snapshot with its engines. refresh.go replaces it when the store has changed.
//  5. documents.go builds documents on parts of the store and keeps the latest of them; storewide.go has what is of all of it,
//     which the next version renews while pages show what there is.
//  6. runs.go measures an application as an audit does, and audits the store.
//  7. replays.go replays policies that readers ask for.
//  8. query.go runs SQL that users wrote, behind the fence of a locked engine.
//
// Start with catalog.go.
package catalog
