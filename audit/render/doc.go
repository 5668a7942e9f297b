// Package render takes the result of an audit, or the difference of two runs, and writes it: for a terminal, as Markdown,
// JSON, JUnit XML, SARIF and GitHub's workflow commands. Names from logs are hostile; each writer escapes them for its format.
//
//  1. text.go, markdown.go, junit.go, sarif.go and github.go write a night.
//  2. pair.go and pair.html.tmpl write a pair; json.go writes either.
//  3. notify.go makes the message of a night whose findings have changed.
//  4. words.go writes the sentences about findings.
//
// Start with text.go.
package render
