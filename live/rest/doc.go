// Package rest takes the address of a server and credentials, and gives what its REST API answers: JSON decoded, or a
// stream. It asks rarely, and more rarely where answers take long, reads a bounded answer, and never shows a secret.
//
// Start with Client.
package rest
