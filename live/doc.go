// Package live takes what a source knows of a running application, again and again, and gives what to do about it: which
// tasks are slow or surely will be, when they will probably end, why so far, and what each policy of package whatif would
// do now. It changes nothing in the cluster.
//
//  1. run.go asks a source until the application ends or is gone. source.go says what a source gives: the rows of the
//     application so far, as a log of it would say them, and the time by the cluster's clock. Packages sparkrest, yarn and
//     eventlog have sources.
//  2. watch.go takes one state after the other: feed.go hands what is new to the policies, which look through the View of
//     package replay, at the instants at which they would have looked. heartbeat.go learns when executors report.
//  3. estimate.go estimates what a cluster does not say: how long an attempt takes in all,
//     from what others took on its machine, in its phase and in earlier ones (duration.go), given what it has reported
//     (reported.go), and what a copy would gain.
//  4. Causes so far, and slow machines, are what package causes says of the rows, with running attempts as long as they
//     have run.
//  5. frame.go is what is shown, advice.go puts it into words. Package screen writes it.
//  6. keep.go writes what was seen into a store.
//
// Start with run.go.
package live
