// Command straggler finds the slow tasks in the logs of clusters, why they were slow, and what would have helped.
//
//  1. main.go runs the command line; root.go lists the verbs.
//  2. Each verb has a file: an options struct, a command that fills it from flags, and a run function that calls the
//     packages and prints. demo.go, report.go, ingest.go with logs.go, export.go, sql.go, detect.go, causes.go, whatif.go,
//     watch.go with notify.go, serve.go, mcp.go, simulate.go, reproduce.go, compare.go, audit.go with audit_help.go,
//     generate.go, schema.go, notebook.go, formats.go, store.go, version.go, man.go for releases, and copy.go, which executors
//     of a cluster run.
//  3. topics.go has the help topics.
//  4. selection.go has the flags that choose applications, history.go downloads logs of History Servers, open.go opens stores,
//     engines and configurations, output.go writes results, progress.go shows progress.
//  5. flags.go refuses flags that have no effect together, use.go explains errors of the command line, exit.go maps errors to exit codes.
//
// Anything beyond flags and printing belongs in a package.
//
// Start with root.go.
package main
