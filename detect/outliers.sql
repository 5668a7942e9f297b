-- The attempts that a rule calls slow, one row per rule: takes attempts, applications and phase_stats, returns the rows of
-- outliers.
--
-- It begins with SELECT, so that WITH phase_stats AS (...) can be put before it.
--
--   high_runtime    ran longer than 1.5 x the median of its phase (MANTRI 4.1)
--   straggler       worked at less than 0.5 x the median rate; where rates are durations, ran longer than 2 x the median (DOLLY 2.1.2)
--   late_slow_task  what LATE would have copied, judged while it ran: when the task of the phase that was launched last had run for a
--                   median, so that none waited and slots were free, it progressed more slowly than three quarters of the
--                   phase, its score / time under the 25th percentile, which at the end of a task (score 1) is a duration
--                   over the 75th; and its estimated time to the end was more than a copy takes, the median (LATE 4)
--   recompute       recomputed a lost output; all of its duration is excess (MANTRI 4.1)
--
-- Phases without a verdict (see their note) have recompute rows only. Attempts that were cut off ran at least as long as the
-- log says: a killed attempt, such as an original beaten by its copy, and one still running when an incomplete log stops, are
-- judged by the time until then, and their ratio and excess are lower bounds. Failed and lost attempts ended for other reasons,
-- often long before that was noticed, so they are not judged. A rate requires that the whole input was read, so only successful
-- attempts have one.
SELECT c.attempt_id, c.phase_id, r.rule,
  CASE WHEN r.rule = 'straggler' AND c.rate IS NOT NULL THEN c.median_rate / c.rate
       WHEN r.rule = 'late_slow_task' THEN c.d / nullif(c.p75_s, 0)
       ELSE c.d / nullif(c.median_s, 0) END AS ratio,
  CASE WHEN r.rule = 'recompute' THEN c.d ELSE c.d - c.median_s END AS excess_s
FROM (
  SELECT attempt_id, phase_id, d, rate, median_s, p75_s, median_rate, recompute,
    judged AND d > 1.5 * median_s AS high_runtime,
    judged AND (rate < 0.5 * median_rate OR basis = 'duration' AND status = 'success' AND d > 2 * median_s) AS straggler,
    judged AND d > p75_s AND CAST(unix_micros(start_time) - unix_micros(last_start) AS DOUBLE) / 1e6 + d > 2 * median_s AS late_slow_task
  FROM (
    SELECT n.attempt_id, n.phase_id, n.status, n.recompute, n.start_time, n.last_start,
      n.median_s, n.p75_s, n.median_rate, n.basis, n.verdict AND n.status IN ('success', 'killed', 'running') AS judged,
      CASE WHEN n.duration_s BETWEEN 0 AND 1e15 THEN n.duration_s
           WHEN n.status = 'running' AND n.start_time <= e.last_seen
             THEN CAST(unix_micros(e.last_seen) - unix_micros(n.start_time) AS DOUBLE) / 1e6 END AS d,
      CASE WHEN n.status = 'success' AND n.duration_s > 0 AND n.duration_s <= 1e15 THEN
        CASE WHEN n.basis = 'bytes' AND n.input_bytes > 0 THEN n.input_bytes / n.duration_s
             WHEN n.basis = 'records' AND n.input_records > 0 THEN n.input_records / n.duration_s END END AS rate
    FROM (
      -- Most attempts are not slow by any measure and are dropped here.
      SELECT a.attempt_id, a.phase_id, a.application_id, a.status, a.recompute, a.start_time, a.finish_time, a.duration_s,
        a.input_bytes, a.input_records, p.*
      FROM attempts a JOIN (
        SELECT s.phase_id AS judged_phase, s.median_s, s.p75_s, s.median_rate, s.slowdown_basis AS basis, w.last_start,
          s.outliers IS NOT NULL AS verdict,
          CASE WHEN s.outliers IS NOT NULL THEN least(1.5 * s.median_s, s.p75_s) END AS long_s,
          CASE WHEN s.slowdown_basis = 'bytes' THEN 0.5 * s.median_rate END AS slow_byte_rate,
          CASE WHEN s.slowdown_basis = 'records' THEN 0.5 * s.median_rate END AS slow_record_rate
        FROM phase_stats s
          LEFT JOIN (SELECT phase_id, max(start_time) AS last_start FROM attempts WHERE number = 0 GROUP BY phase_id) AS w
            ON w.phase_id = s.phase_id
      ) AS p ON p.judged_phase = a.phase_id
      WHERE a.duration_s > p.long_s
        OR a.input_bytes / nullif(a.duration_s, 0) < p.slow_byte_rate
        OR a.input_records / nullif(a.duration_s, 0) < p.slow_record_rate
        OR a.recompute OR a.status = 'running'
    ) AS n
      LEFT JOIN (SELECT b.application_id, max(greatest(b.start_time, b.finish_time)) AS last_seen
                 FROM attempts b JOIN applications i ON i.application_id = b.application_id
                 WHERE NOT i.complete GROUP BY b.application_id) AS e
        ON e.application_id = n.application_id
  ) AS timed
) AS c
CROSS JOIN (SELECT 'high_runtime' AS rule UNION ALL SELECT 'straggler' UNION ALL SELECT 'recompute' UNION ALL SELECT 'late_slow_task') AS r
WHERE CASE r.rule WHEN 'high_runtime' THEN c.high_runtime WHEN 'straggler' THEN c.straggler
                  WHEN 'recompute' THEN c.recompute ELSE c.late_slow_task END
