// Package tez reads the histories of Apache Tez.
//
//  1. format.go recognises the three containers.
//  2. json.go reads entities as SimpleHistoryLoggingService and the timeline server write them.
//  3. sequence.go and proto.go read what the protobuf logger writes into SequenceFiles.
//  4. fold.go folds entities, whichever container they came from, into rows; counters.go reads the counters of an attempt,
//     ids.go parses Tez's ids.
//
// Start with format.go, then fold.go. No real file was available to the tests; the layouts are those of Tez's source.
package tez
