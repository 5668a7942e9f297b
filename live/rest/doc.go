// Package rest takes the address of a server and credentials, and gives what its REST API answers: JSON decoded, or a
// stream. It asks rarely, and more rarely where answers take long, reads a bounded answer, and never shows a secret.
//
//  1. client.go asks, with credentials, retries and limits.
//  2. page.go recognises web pages that stand in place of an answer: of proxies, logins and errors.
//
// Start with client.go.
package rest
