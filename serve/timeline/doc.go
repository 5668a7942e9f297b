// Package timeline takes a catalog and a window of time of an application, and returns a picture of that window, of bounded size
// for any number of attempts: bins if there are many, each attempt on its slot if there are few, and in both cases every outlier,
// copy, retry and failure, alone or counted with its neighbours.
//
//  1. view.go reads a window and returns a View of it.
//  2. slots.go assigns attempts to slots, as the export for trace viewers does.
//  3. sql.go fills in the .sql files.
//
// Start with view.go.
package timeline
