// Package sqlplan takes the physical plan of a query of Spark SQL, whose operators are texts for people, and gives what each
// of them does (its kind, keys, join, source) and what follows from its place in the plan.
//
//  1. operator.go reads the texts of one operator; native.go gives those of other engines (RAPIDS, Photon, Gluten, Comet) the
//     names of Spark's.
//  2. text.go takes ids and literals out of texts: literals may be personal data, and ids differ from run to run.
//  3. tree.go says what follows from a place: tables, the side of a join, the fragment, the fingerprint of the plan.
//
// Start with tree.go.
package sqlplan
