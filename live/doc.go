// Package live polls a source for the state of a running application and reports which tasks are slow or almost certainly will
// be, when they will probably end, the likely cause so far, and what each policy of package whatif would do now. It changes
// nothing in the cluster.
//
//  1. run.go polls a source until the application ends or its source is gone. source.go defines what a source returns: the rows
//     of the application so far, as its log would have them, and the time by the cluster's clock. Packages sparkrest, yarn and
//     eventlog have sources.
//  2. watch.go processes the states one by one. feed.go passes new events to the policies, which see them through the View of
//     package replay, at the instants at which they would have decided. heartbeat.go infers when executors report.
//  3. estimate.go estimates what a cluster does not report: how long an attempt takes in all, from the durations of others
//     on its machine, in its phase and in earlier ones (duration.go) and from what it has reported (reported.go); and what
//     a copy would gain.
//  4. Package causes determines the causes so far and the slow machines. The duration of a running attempt is that until now.
//  5. frame.go has the data to show, and advice.go puts it into words. Package screen prints it.
//  6. keep.go writes what was seen into a store.
//
// Start with run.go.
package live
