-- The attempts that a rule calls slow, one row a rule: takes attempts, applications and phase_stats, gives the rows of outliers.
--
-- It begins with SELECT, so that WITH phase_stats AS (...) can be put before it.
--
--   high_runtime    ran longer than 1.5 x the median of its phase (MANTRI 4.1)
--   straggler       worked at less than 0.5 x the median rate; where rates are durations, ran longer than 2 x the median (DOLLY 2.1.2)
--   late_slow_task  progressed more slowly than three quarters of its phase, its score / time under the 25th percentile,
--                   which at the end of a task (score 1) is a duration over the 75th; and was running when no task of the
--                   phase waited any more, because LATE copies none before (LATE 4). A weak sign: a quarter of any phase
--                   that fits in one wave has it.
--   recompute       made a lost output again; all of its duration is excess (MANTRI 4.1)
--
-- Phases without a verdict (see their note) have recompute rows only. What was cut off ran at least as long as the log
-- says: a killed attempt, such as an original beaten by its copy, and one still running when an incomplete log stops, are
-- judged by the time until then, and their ratio and excess are lower bounds. Failed and lost attempts ended for a
-- reason of their own, and often long before anyone noticed: they are not judged. Rates need a whole input, so only
-- successful attempts have one.
SELECT c.attempt_id, c.phase_id, r.rule,
  CASE WHEN r.rule = 'straggler' AND c.rate IS NOT NULL THEN c.median_rate / c.rate
       WHEN r.rule = 'late_slow_task' THEN c.d / nullif(c.p75_s, 0)
       ELSE c.d / nullif(c.median_s, 0) END AS ratio,
  CASE WHEN r.rule = 'recompute' THEN c.d ELSE c.d - c.median_s END AS excess_s
FROM (
  SELECT attempt_id, phase_id, d, rate, median_s, p75_s, median_rate,
    judged AND d > 1.5 * median_s AS high_runtime,
    judged AND (rate < 0.5 * median_rate OR basis = 'duration' AND status = 'success' AND d > 2 * median_s) AS straggler,
    judged AND d > p75_s AND (finish_time > last_start OR status = 'running') AS late_slow_task,
    recompute
  FROM (
    SELECT a.attempt_id, a.phase_id, a.status, a.recompute, a.finish_time, w.last_start,
      p.median_s, p.p75_s, p.median_rate, p.slowdown_basis AS basis,
      p.outliers IS NOT NULL AND a.status IN ('success', 'killed', 'running') AS judged,
      CASE WHEN a.duration_s BETWEEN 0 AND 1e15 THEN a.duration_s
           WHEN a.status = 'running' AND a.start_time <= e.last_seen
             THEN CAST(unix_micros(e.last_seen) - unix_micros(a.start_time) AS DOUBLE) / 1e6 END AS d,
      CASE WHEN a.status = 'success' AND a.duration_s > 0 AND a.duration_s <= 1e15 THEN
        CASE WHEN p.slowdown_basis = 'bytes' AND a.input_bytes > 0 THEN a.input_bytes / a.duration_s
             WHEN p.slowdown_basis = 'records' AND a.input_records > 0 THEN a.input_records / a.duration_s END END AS rate
    FROM attempts a
      JOIN phase_stats p ON p.phase_id = a.phase_id
      LEFT JOIN (SELECT phase_id, max(start_time) AS last_start FROM attempts WHERE number = 0 GROUP BY phase_id) AS w
        ON w.phase_id = a.phase_id
      LEFT JOIN (SELECT b.application_id, max(greatest(b.start_time, b.finish_time)) AS last_seen
                 FROM attempts b JOIN applications i ON i.application_id = b.application_id
                 WHERE NOT i.complete GROUP BY b.application_id) AS e
        ON e.application_id = a.application_id
  ) AS timed
) AS c
CROSS JOIN (SELECT 'high_runtime' AS rule UNION ALL SELECT 'straggler' UNION ALL SELECT 'recompute' UNION ALL SELECT 'late_slow_task') AS r
WHERE CASE r.rule WHEN 'high_runtime' THEN c.high_runtime WHEN 'straggler' THEN c.straggler
                  WHEN 'recompute' THEN c.recompute ELSE c.late_slow_task END
ORDER BY c.phase_id NULLS LAST, c.attempt_id NULLS LAST, r.rule NULLS LAST
