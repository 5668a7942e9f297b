// Package stats has the order statistics, robust estimates and distributions of the model of causes. MODEL.md names where each is
// used.
//
//  1. order.go: the median, by selection.
//  2. robust.go: the median absolute deviation's scale, and Huber's weights and mean.
//  3. logmean.go: the logarithmic mean, which splits a difference whose ratio is a product.
//  4. distributions.go: the spike-and-slab prior, normal densities and the binomial p-value.
//
// Start with robust.go.
package stats
