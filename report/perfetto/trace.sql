-- All attempts by machine and start, for a trace viewer. Needs report_apps.
SELECT a.attempt_id, coalesce(a.machine, '') AS machine, a.executor, a.task, a.number, a.native_id, a.start_time, a.finish_time, a.status,
  coalesce(a.speculative, false) AS speculative, a.recompute, a.input_bytes, h.native_id AS phase, h.attempt AS phase_attempt, h.name AS phase_name,
  j.native_id AS job, c.cause, o.excess_s
FROM attempts a SEMI JOIN report_apps r ON r.application_id = a.application_id
  JOIN phases h ON h.phase_id = a.phase_id
  JOIN jobs j ON j.job_id = a.job_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1) c ON c.attempt_id = a.attempt_id
  LEFT JOIN (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE rule <> 'slower_than_usual' GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
WHERE a.start_time IS NOT NULL
ORDER BY machine NULLS LAST, a.start_time NULLS LAST, a.attempt_id NULLS LAST
