// Package ray takes Ray's records of its tasks and returns rows.
//
//  1. ray.go recognises the layouts and has the code that they share.
//  2. state.go reads task states, as printed by 'ray list tasks --format json --detail'.
//  3. export.go assembles task states from exported events.
//  4. timeline.go reads the timeline, as written by 'ray timeline'.
//
// Start with ray.go.
package ray
