package read

// DAG is a directed acyclic graph. Its nodes are numbered from 0.
type DAG struct {
	next [][]int
	seen map[[2]int]bool // edges that were added or refused
}

// NewDAG returns a graph with n nodes and no edges.
func NewDAG(nodes int) *DAG { return &DAG{next: make([][]int, nodes)} }

// Add adds an edge, unless it leads from a node to itself, was added before, or would close a cycle. The last case is reported
// once per edge.
func (g *DAG) Add(from, to int) (added, cycle bool) {
	edge := [2]int{from, to}
	if from == to || g.seen[edge] {
		return false, false
	}
	if g.seen == nil {
		g.seen = map[[2]int]bool{}
	}
	g.seen[edge] = true
	if g.reaches(to, from) {
		return false, true
	}
	g.next[from] = append(g.next[from], to)
	return true, false
}

// reaches reports whether there is a path from one node to another.
func (g *DAG) reaches(from, to int) bool {
	seen := make([]bool, len(g.next))
	stack := []int{from}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == to {
			return true
		}
		if !seen[n] {
			seen[n] = true
			stack = append(stack, g.next[n]...)
		}
	}
	return false
}
