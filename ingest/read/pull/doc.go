// Package pull reads the members of JSON in memory one by one, without building a tree: for records of logs of which a reader
// needs ten members of a hundred.
//
// Start with pull.go.
package pull
