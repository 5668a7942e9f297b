// Package archives takes traces from public archives and returns rows.
//
//  1. wfcommons.go reads workflow instances of WfCommons.
//  2. swim.go reads SWIM's workload samples.
//  3. swf.go reads the Standard Workload Format.
//  4. jobrows.go makes the rows of SWIM and SWF, in which every record is an application with one job.
//  5. wta.go reads the Workflow Trace Archive.
//
// Start with any format: they do not depend on one another.
package archives
