// Package spark takes SQL over the tables of a store and gives rows, by Spark SQL behind a HiveServer2 on a cluster.
//
//  1. spark.go keeps a session there with the tables of the store in it, and runs statements; a session that is lost is
//     opened again.
//  2. remote.go has the executors run copies of this program.
//  3. guard.go is what users may ask of a locked engine, with functions.txt; statement.go takes out what Spark has no words
//     for.
//  4. views.go is what the tables are: statements that make views over the store's files. load.go makes one over rows of this
//     process.
//  5. kept.go is the tables that a session keeps: files that the executors write, or rows in their memory.
//  6. result.go streams the rows of a statement, and turns them into the vectors of package engine.
//  7. errors.go says what went wrong in words for people.
//  8. address.go is what spark://USER@HOST:PORT?OPTION=VALUE may say.
//
// hs2 is the protocol, and sparktest a real server for tests.
//
// Start with spark.go.
package spark
