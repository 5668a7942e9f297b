// Package yarn takes the application summaries logged by YARN's ResourceManager and returns rows.
//
//  1. yarn.go reads the lines and makes rows; rest.go reads the same from JSON, cli.go from the output of 'yarn application'.
//
// Start with yarn.go. No real file was available to the tests; the layout follows the documentation.
package yarn
