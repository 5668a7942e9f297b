// Package stats has the statistics that the analyses share.
//
//  1. order.go: the median, by selection.
//  2. survival.go: the upper tails of distributions, for tests and intervals. Its special functions are gonum's, whose own package
//     of distributions links a library of linear algebra.
//  3. robust.go: the median absolute deviation's scale, and Huber's weights and mean.
//  4. steadier.go: which of two samples scatters less.
//  5. logmean.go: the logarithmic mean, which splits a difference whose ratio is a product.
//  6. density.go: normal densities and the spike-and-slab prior.
//
// Start with order.go.
package stats
