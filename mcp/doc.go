// Package mcp takes a catalog of a store and gives assistants ten tools to ask it with, over the Model Context Protocol. All of
// them only read.
//
//  1. server.go makes the server with its tools, for standard input and output or for HTTP; lines.go refuses lines that are no
//     messages.
//  2. tools.go has the tools about applications, tasks, machines and policies; runs.go compares runs; sql.go has the tables
//     and the SQL.
//  3. answer.go is what every answer looks like, and keeps it short: the rows that do not fit are left for the next call.
//
// Text out of logs is hostile, and an assistant may take it for instructions. So it stands only under keys that end in
// _from_log, cleaned and cut, and the server says so.
//
// Start with server.go.
package mcp
