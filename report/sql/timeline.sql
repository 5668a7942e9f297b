-- The attempts of a timeline by machine and start, on the machines that it has room for. Needs report_picked_jobs and
-- report_timeline_machines.
SELECT a.attempt_id, coalesce(a.machine, '') AS machine, a.phase_id, a.task, a.number, a.start_time, a.finish_time, a.status,
  coalesce(a.speculative, false) AS speculative, a.recompute, h.native_id AS phase, h.attempt AS phase_attempt, c.cause, o.excess_s
FROM attempts a SEMI JOIN report_picked_jobs r ON r.job_id = a.job_id
  JOIN report_timeline_machines m ON m.machine = coalesce(a.machine, '') AND m.place <= 48
  JOIN phases h ON h.phase_id = a.phase_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1) c ON c.attempt_id = a.attempt_id
  LEFT JOIN (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE rule <> 'slower_than_usual' GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
WHERE a.start_time IS NOT NULL
ORDER BY machine NULLS LAST, a.start_time NULLS LAST, a.attempt_id NULLS LAST
