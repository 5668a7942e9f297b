-- The durations of the tasks of phases with skewed tasks, the order in which they started, and on how many slots their
-- application ran them at most.
WITH phases_of AS (
  SELECT DISTINCT phase_id FROM attributions WHERE cause = 'data_skew' AND seconds > 0
),
ends AS (
  SELECT t.phase_id, t.start_time AS moment, 1 AS step FROM attempts t JOIN phases_of p ON p.phase_id = t.phase_id
  WHERE t.status = 'success' AND t.start_time IS NOT NULL AND t.finish_time IS NOT NULL
  UNION ALL
  SELECT t.phase_id, t.finish_time AS moment, -1 AS step FROM attempts t JOIN phases_of p ON p.phase_id = t.phase_id
  WHERE t.status = 'success' AND t.start_time IS NOT NULL AND t.finish_time IS NOT NULL
),
held AS (
  SELECT phase_id, sum(step) OVER (PARTITION BY phase_id ORDER BY moment, step ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS held
  FROM ends
),
most AS (SELECT phase_id, CAST(max(held) AS BIGINT) AS slots FROM held GROUP BY phase_id)
SELECT t.phase_id, t.attempt_id, t.duration_s, m.slots
FROM attempts t
JOIN most m ON m.phase_id = t.phase_id
WHERE t.status = 'success' AND t.duration_s IS NOT NULL
ORDER BY t.phase_id NULLS LAST, t.start_time NULLS LAST, t.attempt_id NULLS LAST
