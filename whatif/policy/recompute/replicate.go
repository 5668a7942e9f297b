package recompute

// Worth reports whether an output is worth a copy: P(loss) · t_redo > t_rep, t_rep being the time to move it to another
// machine of its rack (MANTRI §5.3).
func Worth(loss, redo, rep float64) bool { return loss*redo > rep }

// Share is the part of the data that a job has processed which it may copy (MANTRI §5.3).
const Share = 0.1

// Bucket is a budget of tokens: bytes for copies, or slot seconds for making outputs early. The zero Bucket is empty.
type Bucket struct{ tokens float64 }

// Grant adds tokens for work that was done, a share of it.
func (b *Bucket) Grant(done, share float64) { b.tokens += done * share }

// Spend takes tokens out, if there are as many.
func (b *Bucket) Spend(tokens float64) bool {
	if tokens > b.tokens {
		return false
	}
	b.tokens -= tokens
	return true
}
