SELECT * FROM edges ORDER BY from_phase NULLS LAST, to_phase NULLS LAST
