-- The attempts whose excess is to be split. One that made a lost output again is redone work as a whole, slow or not.
-- Of an attempt that still ran when the log stopped, the ratio says how long it had lasted.
-- Of those that are slower than usual there is beyond_s, and the rest is NULL where no other rule found them.
-- They lie by phase, so that a range of phases finds its own without looking at all.
SELECT attempt_id, phase_id,
  max(CASE WHEN rule = 'recompute' THEN 1 WHEN rule = 'high_runtime' THEN 0 END) AS again,
  coalesce(max(CASE WHEN rule = 'recompute' THEN excess_s END), max(CASE WHEN rule = 'high_runtime' THEN excess_s END)) AS excess_s,
  max(CASE WHEN rule = 'high_runtime' AND ratio > 1 THEN excess_s * ratio / nullif(ratio - 1, 0) END) AS lasted_s,
  max(CASE WHEN rule = 'slower_than_usual' THEN excess_s END) AS beyond_s
FROM outliers
WHERE rule IN ('high_runtime', 'recompute', 'slower_than_usual') AND excess_s IS NOT NULL
GROUP BY attempt_id, phase_id
ORDER BY phase_id NULLS LAST
