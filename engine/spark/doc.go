// Package spark runs SQL over the tables of a store with Spark SQL, behind a HiveServer2 on a cluster.
//
//  1. spark.go keeps a session there with the tables of the store in it, and runs statements; a session that is lost is
//     opened again.
//  2. remote.go has the executors run copies of this program.
//  3. guard.go, with functions.txt, restricts the SQL of a locked engine; statement.go removes syntax that Spark lacks.
//  4. views.go defines the tables: statements that create views over the store's files. load.go creates one over rows of this
//     process.
//  5. kept.go has the tables of a session: files that the executors write, or rows cached in their memory.
//  6. result.go streams the rows of a statement as vectors of package engine.
//  7. errors.go explains errors to people.
//  8. address.go parses spark://USER@HOST:PORT?OPTION=VALUE.
//
// hs2 is the protocol, and sparktest a real server for tests.
//
// Start with spark.go.
package spark
