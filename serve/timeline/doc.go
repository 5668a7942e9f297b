// Package timeline takes a catalog and a window of time of an application and gives what a picture of that window shows, of any
// number of attempts: bins where there are many, each attempt on its slot where there are few, and at every width each outlier,
// copy, retry and failure, alone or counted with its neighbours.
//
//  1. view.go asks for a window and gives a View of bounded size.
//  2. slots.go puts attempts on slots, as the export for trace viewers does.
//  3. sql.go fills in the .sql files.
//
// Start with view.go.
package timeline
