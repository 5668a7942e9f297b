package serve

import (
	"context"
	"fmt"

	"straggler/serve/catalog"
)

// Addresses returns the patterns of all pages.
func (s *Server) Addresses() (at []string) {
	for _, p := range s.pages() {
		at = append(at, p.at)
	}
	return at
}

// Machine returns the first page of a machine's outliers and its periods, as kept and as read; "" if none are kept.
func (s *Server) Machine(ctx context.Context, name string) (kept, read [2]string, err error) {
	worst, _, err := s.worst(ctx)
	if err != nil {
		return kept, read, err
	}
	outliers, err := catalog.Read[attemptRow](ctx, s.c, sqlNamed("machine_attempts", name)+"\nORDER BY excess_s DESC NULLS LAST, id LIMIT 100")
	if err != nil {
		return kept, read, err
	}
	all, _, err := s.byPeriod(ctx)
	if err != nil || all == nil {
		return kept, read, err
	}
	periods, err := catalog.Read[periodRow](ctx, s.c, all.sql("machine = "+printableText(name)))
	kept = [2]string{fmt.Sprint(worst.page(name)), fmt.Sprint(all.rows[name])}
	read = [2]string{fmt.Sprint(outliers), fmt.Sprint(periods)}
	return kept, read, err
}
