// Package sqlplan parses the physical plan of a query of Spark SQL, whose operators are texts for people: what each of them
// does (its kind, keys, join, source) and what follows from its position in the plan.
//
//  1. operator.go parses the texts of one operator; native.go maps operators of other engines (RAPIDS, Photon, Gluten, Comet)
//     to the names of Spark's.
//  2. text.go removes ids and literals from texts: literals may be personal data, and ids differ from run to run.
//  3. tree.go derives what follows from positions: tables, the side of a join, the fragment, the fingerprint of the plan.
//
// Start with tree.go.
package sqlplan
