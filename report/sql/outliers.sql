-- The picked attempts with what a reader needs to find them. Needs report_picked_attempts.
SELECT a.attempt_id, a.phase_id, a.job_id, a.application_id, p.native_id AS application, j.native_id AS job, h.native_id AS phase,
  h.attempt AS phase_attempt, h.name AS phase_name, a.task, a.number, a.native_id, a.machine, a.executor, a.start_time, a.duration_s,
  s.median_s, a.duration_s / nullif(s.median_s, 0) AS ratio, o.excess_s, a.speculative, a.recompute, a.status, a.input_bytes,
  s.lost_s AS phase_lost_s, coalesce(h.finish_time >= h.start_time, false) AS phase_timed, e.parents = 0 AS stored_input
FROM attempts a SEMI JOIN report_picked_attempts r ON r.attempt_id = a.attempt_id
  JOIN phases h ON h.phase_id = a.phase_id
  JOIN jobs j ON j.job_id = a.job_id
  JOIN applications p ON p.application_id = a.application_id
  LEFT JOIN phase_stats s ON s.phase_id = a.phase_id
  LEFT JOIN (SELECT phase_id, sum(parents) AS parents
             FROM (SELECT from_phase AS phase_id, 0 AS parents FROM edges UNION ALL SELECT to_phase AS phase_id, 1 AS parents FROM edges) GROUP BY phase_id) e
    ON e.phase_id = a.phase_id
  LEFT JOIN (SELECT o.attempt_id, max(o.excess_s) AS excess_s FROM outliers o SEMI JOIN report_picked_attempts r ON r.attempt_id = o.attempt_id
             WHERE o.rule <> 'slower_than_usual' GROUP BY o.attempt_id) o ON o.attempt_id = a.attempt_id
ORDER BY a.attempt_id NULLS LAST
