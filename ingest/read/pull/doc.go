// Package pull reads the members of JSON in memory one by one, without building a tree: for records of logs from which a reader
// wants ten members of a hundred.
//
// Start with pull.go.
package pull
