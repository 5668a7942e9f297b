package store

import "context"

// clean removes what dead writers left: their staging directories, and the files that they stored but did not commit.
func (s *Store) clean(ctx context.Context, cat *catalog) error {
	if err := s.staging.clean(); err != nil {
		return err
	}
	_, err := s.removeOrphans(ctx, cat, false)
	return err
}

// removeOrphans removes files of dead writers and counts them.
func (s *Store) removeOrphans(ctx context.Context, cat *catalog, thorough bool) (int, error) {
	names, err := s.at.orphans(ctx, cat.files(), thorough)
	if err != nil {
		return 0, err
	}
	for i, name := range names {
		if err := s.at.remove(ctx, name); err != nil {
			return i, err
		}
	}
	return len(names), nil
}
