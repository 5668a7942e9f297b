// Package rest is a client of REST APIs: given the address of a server and credentials, it returns decoded JSON, or a stream.
// It sends few requests, and fewer if answers take long, bounds the size of answers, and never shows a secret.
//
//  1. client.go sends requests, with credentials, retries and limits.
//  2. page.go recognises web pages returned instead of an answer: by proxies, logins and errors.
//
// Start with client.go.
package rest
