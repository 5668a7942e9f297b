// Package catalog watches logs, keeps a store up to date, and serves what pages and tools show: the applications, documents on
// parts of them, and rows of queries, always from one consistent state of the store.
//
//  1. catalog.go opens a Catalog and runs its work until the context ends.
//  2. watch.go follows logs, newest first, and brings the store's results up to date.
//  3. status.go reports progress and problems.
//  4. version.go is one state of the store: a snapshot with its engines. refresh.go replaces it when the store has changed.
//  5. documents.go builds documents on parts of the store and caches the latest; storewide.go has results over the whole store,
//     which are renewed for the next version while pages show the previous ones.
//  6. runs.go measures an application as an audit does, and audits the store.
//  7. replays.go runs replays requested by readers.
//  8. query.go runs SQL of users on a locked engine.
//
// Start with catalog.go.
package catalog
