package duckdb

// The prebuilt library requests that the program export all of its symbols, for extensions loaded at run time. There are none
// here, and without the table of 60 000 names the program is 7 MB smaller.

// #cgo linux LDFLAGS: -Wl,--no-export-dynamic
import "C"
