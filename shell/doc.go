// Package shell is a prompt for SQL: it takes typed lines and shows the results of their statements.
//
//  1. shell.go reads lines, collects them until a semicolon ends a statement (engine/sqltext), and runs it; Ctrl-C stops
//     the statement.
//  2. commands.go has the commands of one line: \d, \d TABLE, \timing, \q, \?, and their names in other shells, such as .tables.
//  3. complete.go completes tables, columns and keywords for the Tab key. keys.go passes on the keys that are typed.
//
// A script, statement by statement without a prompt, goes through the same code.
//
// Start with shell.go.
package shell
