// Package pull takes JSON that is in memory and gives its members one by one, without building a tree: for the records
// of logs, of which a reader wants ten members of a hundred.
//
// Start with pull.go.
package pull
