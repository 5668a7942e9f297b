// Package serve is a web server for a catalog of a store: pages with the report's documents, and a SQL console. The API for
// programs is in package api.
//
//  1. serve.go listens until the context ends, and then lets running requests finish.
//  2. guard.go checks every request: who may connect, from where, how much at once, and what a browser may do with the answer.
//  3. routes.go has the table of routes.
//  4. page.go writes the frame of a page before its content is known, and errors in place of the content; listing.go has sorted
//     and paged tables, and rows.go those of the rows of a query; queries.go finds the .sql files.
//  5. applications.go lists the applications and logs.go the logs; parts.go has the pages of an application, a job, a phase and
//     an attempt, timelines.go the timeline, machines.go and periods.go the machines, and running.go the running applications.
//     names.go finds applications by the framework's ids, compare.go compares two of them, policies.go lists what policies would
//     have saved and replays others, audit.go shows the latest audit, and nights.go that of each day. heat.go is the heat map
//     of machines and of programs.
//  6. console.go runs the SQL of users, and chart.go draws its rows.
//  7. assets.go has the style sheets and scripts.
//
// Text from a log is hostile: package prose bounds it, html/template escapes it, and addresses contain keys instead of names,
// except for the names of machines.
//
// Start with routes.go.
package serve
