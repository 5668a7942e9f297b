// Package live takes what a source reports of a running application, again and again, and says what to do about it: which
// tasks are slow or surely will be, when they will probably end, the likely cause so far, and what each policy of package
// whatif would do now. It changes nothing in the cluster.
//
//  1. run.go asks a source until the application ends or its source is gone. source.go says what a source returns: the rows
//     of the application so far, as its log would hold them, and the time by the cluster's clock. Packages sparkrest, yarn
//     and eventlog have sources.
//  2. watch.go takes one state after the other. feed.go passes what is new to the policies, which see it through the View of
//     package replay, at the instants at which they would have decided. heartbeat.go learns when executors report.
//  3. estimate.go estimates what a cluster does not report: how long an attempt takes in all, from the durations of others
//     on its machine, in its phase and in earlier ones (duration.go) and from what it has reported (reported.go); and what
//     a copy would gain.
//  4. Package causes gives the causes so far and the slow machines. The duration of a running attempt is that until now.
//  5. frame.go is what is shown, and advice.go puts it into words. Package screen prints it.
//  6. keep.go writes what was seen into a store.
//
// Start with run.go.
package live
