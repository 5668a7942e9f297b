// Package verify takes an engine on a store and returns the rows that break a law of their table.
//
//  1. verify.go streams the log tables through the laws of rows, and the joins through the laws of rows that refer to others.
//  2. collect.go counts the violations and keeps the first of each law.
//  3. keys.go makes the SQL of the laws of keys from their list.
//  4. attempts.sql, phase_tasks.sql, edges.sql, progress.sql, plan_nodes.sql and losses.sql put rows together with those they
//     refer to.
//
// Memory is what the engine takes for a join or a group, which it spills to disk, and the edges of one component: of one
// job, or of one application where edges go from job to job.
//
// Start with verify.go.
package verify
