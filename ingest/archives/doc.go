// Package archives takes the traces that public archives publish and gives rows.
//
//  1. wfcommons.go reads workflow instances of WfCommons.
//  2. swim.go reads SWIM's workload samples.
//  3. swf.go reads the Standard Workload Format.
//  4. jobrows.go makes the rows of both, in which every record is an application with one job.
//  5. wta.go reads the Workflow Trace Archive.
//
// Start with the format that is of interest: they do not depend on one another.
package archives
