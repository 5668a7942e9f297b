package serve

// Addresses are the patterns of all pages.
func (s *Server) Addresses() (at []string) {
	for _, p := range s.pages() {
		at = append(at, p.at)
	}
	return at
}
