// Package terminal takes a Document and writes it for a terminal: the headline, the tables cut to what matters, and what to
// do.
//
//  1. terminal.go orders it.
//  2. table.go fits a table into the width.
//  3. wrap.go breaks lines by the width of characters on the screen.
//
// Start with terminal.go.
package terminal
