-- The attempts of a timeline that are drawn one by one: outliers by their excess, then the others by their length.
-- Needs report_picked_jobs.
SELECT a.attempt_id
FROM attempts a SEMI JOIN report_picked_jobs r ON r.job_id = a.job_id
  LEFT JOIN (SELECT attempt_id, sum(seconds) AS excess_s FROM attributions GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
WHERE a.start_time IS NOT NULL
  AND (o.attempt_id IS NOT NULL OR a.status <> 'success' OR a.number > 0 OR a.recompute OR coalesce(a.speculative, false))
ORDER BY o.excess_s DESC NULLS LAST, a.duration_s DESC NULLS LAST, a.attempt_id NULLS LAST
LIMIT 300
