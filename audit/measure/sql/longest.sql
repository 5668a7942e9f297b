-- Durations of the longest tasks of each stage, the same tasks as in stages.sql.
SELECT phase_id, duration_s
FROM (
  SELECT phase_id, duration_s, row_number() OVER (PARTITION BY phase_id ORDER BY duration_s DESC NULLS LAST, attempt_id NULLS LAST) AS place
  FROM attempts
  WHERE status = 'success' AND NOT recompute AND duration_s BETWEEN 0 AND 1e15
) AS ranked
WHERE place <= 16
ORDER BY phase_id NULLS LAST, place NULLS LAST
