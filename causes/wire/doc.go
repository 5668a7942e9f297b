// Package wire takes values that list their fields, and gives the bytes that copies of the program on a cluster's machines
// exchange, and back. One method, Fields, serves both directions, so that what is written is what is read.
//
// Start with codec.go.
package wire
