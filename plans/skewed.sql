-- Attempts of queries slowed by their data, which is the verdict, or a quarter of the excess. With what the others of their
-- phase read, and how many ran at once.
WITH skewed AS (
  SELECT a.attempt_id, a.phase_id, CAST(sum(CAST(round(a.seconds * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS seconds
  FROM attributions a
  WHERE a.cause = 'data_skew' AND a.seconds > 0 AND (a.rank = 1 OR a.share >= 0.25)
  GROUP BY a.attempt_id, a.phase_id
),
phases_of AS (SELECT DISTINCT phase_id FROM skewed),
won AS (
  SELECT t.phase_id, t.input_records, t.input_bytes, t.duration_s, t.start_time, t.finish_time
  FROM attempts t
  JOIN phases_of p ON p.phase_id = t.phase_id
  WHERE t.status = 'success'
),
whole AS (
  SELECT phase_id, count(*) AS tasks,
         percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(input_records AS DOUBLE)) AS median_records,
         percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(input_bytes AS DOUBLE)) AS median_bytes,
         percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_s) AS median_s,
         CAST(sum(CAST(input_bytes AS DECIMAL(28, 0))) AS DOUBLE) AS total_bytes
  FROM won
  GROUP BY phase_id
)
SELECT q.query_id, s.phase_id, s.attempt_id, s.seconds, t.task, t.input_records, t.input_bytes, t.duration_s,
       w.tasks, w.median_records, w.median_bytes, w.median_s, w.total_bytes
FROM skewed s
JOIN attempts t ON t.attempt_id = s.attempt_id
JOIN query_jobs q ON q.job_id = t.job_id
JOIN whole w ON w.phase_id = s.phase_id
WHERE t.status = 'success'
ORDER BY q.query_id NULLS LAST, s.phase_id NULLS LAST, s.seconds DESC NULLS LAST, s.attempt_id NULLS LAST
