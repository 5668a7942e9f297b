-- The tasks of phases with outliers in order of start, and the excess of each outlier over the median. A task is represented by
-- its winning attempt. Needs report_apps, report_redone and report_beaten.
WITH
slow AS (
  SELECT DISTINCT attempt_id, phase_id FROM attributions
),
picked AS (
  SELECT p.phase_id FROM phases p JOIN jobs j ON j.job_id = p.job_id
    SEMI JOIN report_apps r ON r.application_id = j.application_id
    SEMI JOIN slow o ON o.phase_id = p.phase_id
    ANTI JOIN report_redone d ON d.phase_id = p.phase_id
)
SELECT a.phase_id, a.start_time, a.duration_s,
  CASE WHEN o.attempt_id IS NOT NULL AND a.duration_s > s.median_s THEN a.duration_s - s.median_s ELSE CAST(0 AS DOUBLE) END AS excess_s
FROM attempts a SEMI JOIN picked p ON p.phase_id = a.phase_id
  JOIN phase_stats s ON s.phase_id = a.phase_id
  LEFT JOIN slow o ON o.attempt_id = a.attempt_id
  ANTI JOIN report_beaten b ON b.attempt_id = a.attempt_id
WHERE a.status = 'success' AND a.start_time IS NOT NULL AND a.duration_s BETWEEN 0 AND 1e15
ORDER BY a.phase_id NULLS LAST, a.start_time NULLS LAST, a.attempt_id NULLS LAST
