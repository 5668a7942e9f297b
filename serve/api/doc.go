// Package api takes a catalog, and the applications that run, and answers programs under /api/v1.
//
//  1. api.go is the table of addresses, with what each answers and takes; openapi.go describes it.
//  2. answer.go writes answers and what went wrong.
//  3. applications.go finds the application that a request names, and lists them; stages.go has its jobs and stages,
//     tasks.go the tasks of a stage and quantiles over them, executors.go its executors and settings, queries.go its queries:
//     all in the shape of Spark's own REST API (https://spark.apache.org/docs/latest/monitoring.html#rest-api) where a field
//     means the same, so that clients of a History Server can ask here.
//  4. Others have a shape of their own: timeline.go, running.go, replays.go, report.go, sql.go and status.go.
//
// Ids of Spark's shape are the framework's; what the log does not say is left out; what begins with straggler is ours.
//
// Start with api.go.
package api
