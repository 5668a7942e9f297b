-- The attempts whose excess is to be split. An attempt that recomputed a lost output counts as a whole, slow or not. For an
-- attempt that was still running at the end of the log, the duration follows from the ratio. beyond_s is set for attempts that
-- are slower than usual; the other columns are NULL unless another rule found them. Rows are sorted by phase, so that a range
-- of phases reads only its own.
SELECT attempt_id, phase_id,
  max(CASE WHEN rule = 'recompute' THEN 1 WHEN rule = 'high_runtime' THEN 0 END) AS again,
  coalesce(max(CASE WHEN rule = 'recompute' THEN excess_s END), max(CASE WHEN rule = 'high_runtime' THEN excess_s END)) AS excess_s,
  max(CASE WHEN rule = 'high_runtime' AND ratio > 1 THEN excess_s * ratio / nullif(ratio - 1, 0) END) AS lasted_s,
  max(CASE WHEN rule = 'slower_than_usual' THEN excess_s END) AS beyond_s
FROM outliers
WHERE rule IN ('high_runtime', 'recompute', 'slower_than_usual') AND excess_s IS NOT NULL
GROUP BY attempt_id, phase_id
ORDER BY phase_id NULLS LAST
