package mincost

// Potential returns what a unit of flow from the node costs at the margin, up to a sum that is the same for all nodes, after
// Solve. With it no arc that has room has a negative reduced cost (its cost − potential of its tail + potential of its
// head), and none that has flow a positive one.
func (n *Network) Potential(u Node) int64 { return n.nodes[u].potential }
