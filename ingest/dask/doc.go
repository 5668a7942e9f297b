// Package dask takes Dask's task stream and returns rows.
//
// 1. dask.go reads the list of tasks that get_task_stream returns, and turns its spans into attempts.
// 2. page.go finds the same stream in the page that performance_report writes.
//
// Start with dask.go. No real list was available; its layout follows Dask's source. Pages of five versions of Bokeh were
// tested.
package dask
