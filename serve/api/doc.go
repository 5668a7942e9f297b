// Package api serves a catalog and the running applications to programs, under /api/v1.
//
//  1. api.go is the table of addresses, with their parameters and results; openapi.go describes it.
//  2. answer.go writes results and errors.
//  3. applications.go lists applications, and finds the one that a request names; stages.go returns its jobs and stages,
//     tasks.go the tasks of a stage and quantiles over them, executors.go its executors and settings, queries.go its queries.
//     They use the format of Spark's REST API (https://spark.apache.org/docs/latest/monitoring.html#rest-api) for every field
//     that means the same, so that clients of a History Server can use them.
//  4. timeline.go, running.go, replays.go, report.go, sql.go and status.go have formats of their own.
//
// In Spark's format ids are the framework's, unknown values are omitted, and the names of additional fields begin with straggler.
//
// Start with api.go.
package api
