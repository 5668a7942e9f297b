// Package ray takes what Ray says of its tasks and gives rows.
//
//  1. ray.go recognises the shapes and has what they share.
//  2. state.go reads task states, as 'ray list tasks --format json --detail' prints them.
//  3. export.go gathers the states that exported events tell one by one.
//  4. timeline.go reads the timeline, as 'ray timeline' writes it.
//
// Start with ray.go. No real file was available to the tests; the layouts are those of Ray's documentation.
package ray
