// Package yarn takes the application summaries that YARN's ResourceManager logs and gives rows.
//
//  1. yarn.go reads the lines and makes rows; rest.go reads the same from JSON, cli.go from what 'yarn application' prints.
//
// Start with yarn.go. No real file was available to the tests; the layout is the documented one.
package yarn
