// Package mcp offers a catalog of a store to assistants as ten read-only tools, over the Model Context Protocol.
//
//  1. server.go builds the server with its tools, for standard input and output or for HTTP; lines.go rejects lines that are
//     not messages, and stdin.go makes reads of standard input end with the context.
//  2. tools.go has the tools about applications, tasks, machines and policies; runs.go compares runs; sql.go has the tables
//     and the SQL.
//  3. answer.go has the form of every answer, and keeps it short: rows that do not fit are left for the next call.
//
// Text from logs is untrusted, and an assistant may mistake it for instructions. So it occurs only under keys that end in
// _from_log, cleaned and truncated, and the server's instructions say so.
//
// Start with server.go.
package mcp
