-- The attempts of a timeline that are drawn one by one, with details: outliers by their excess, then the others by their
-- length. Needs report_picked_jobs.
SELECT x.attempt_id, x.task, x.number, x.status, x.speculative, x.recompute, h.native_id AS phase, h.attempt AS phase_attempt, c.cause, s.excess_s
FROM (
  SELECT a.attempt_id, a.phase_id, a.task, a.number, a.status, coalesce(a.speculative, false) AS speculative, a.recompute
  FROM attempts a SEMI JOIN report_picked_jobs r ON r.job_id = a.job_id
    LEFT JOIN (SELECT attempt_id, sum(CAST(round(seconds * 1e6) AS DECIMAL(28, 0))) AS excess_us
               FROM attributions GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
  WHERE a.start_time IS NOT NULL
    AND (o.attempt_id IS NOT NULL OR a.status <> 'success' OR a.number > 0 OR a.recompute OR coalesce(a.speculative, false))
  ORDER BY o.excess_us DESC NULLS LAST, a.duration_s DESC NULLS LAST, a.attempt_id NULLS LAST
  LIMIT 300
) x
  JOIN phases h ON h.phase_id = x.phase_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1) c ON c.attempt_id = x.attempt_id
  LEFT JOIN (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE rule <> 'slower_than_usual' GROUP BY attempt_id) s ON s.attempt_id = x.attempt_id
ORDER BY x.attempt_id NULLS LAST
