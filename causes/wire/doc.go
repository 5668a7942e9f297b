// Package wire encodes values that list their fields as the bytes that copies of the program on a cluster's machines
// exchange, and decodes them. One method, Fields, serves both directions, so that what is written is what is read.
//
// Start with codec.go.
package wire
