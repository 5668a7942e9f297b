package synth

// Events that the simulation waits for. At the same instant, the lower kind comes first, then the one queued first.
type kind int8

const (
	attemptEnds kind = iota
	executorBack
	jobArrives
	stageAgain
	lookForSlow
)

type event struct {
	at    int64
	kind  kind
	seq   uint64
	ref   ref
	run   *run
	stage *stage
}

func (e *event) before(f *event) bool {
	if e.at != f.at {
		return e.at < f.at
	}
	if e.kind != f.kind {
		return e.kind < f.kind
	}
	return e.seq < f.seq
}

// queue is a binary heap of events.
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) len() int     { return len(q.heap) }
func (q *queue) peek() *event { return &q.heap[0] }

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = e
}

func (q *queue) pop() event {
	top := q.heap[0]
	n := len(q.heap) - 1
	e := q.heap[n]
	q.heap[n] = event{}
	q.heap = q.heap[:n]
	if n == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && q.heap[down+1].before(&q.heap[down]) {
			down++
		}
		if !q.heap[down].before(&e) {
			break
		}
		q.heap[i] = q.heap[down]
		i = down
	}
	q.heap[i] = e
	return top
}
