-- The attempts of a window, with their causes, for attempts.sql and marks.sql. kind is 1 for an outlier, 2 for a failure, 3 for
-- a copy, 4 for a retry, 5 for a recomputation.
SELECT a.attempt_id, coalesce(a.machine, '') AS machine, a.task, a.number, unix_micros(a.start_time) AS start_us,
  greatest(coalesce(unix_micros(a.finish_time), {end}), unix_micros(a.start_time)) AS finish_us, a.finish_time IS NULL AS open, a.status,
  coalesce(a.speculative, false) AS speculative, a.recompute, h.native_id AS phase, h.attempt AS phase_attempt, c.cause, o.excess_s,
  CASE WHEN c.cause IS NOT NULL THEN 1 WHEN a.status <> 'success' AND a.status <> 'running' THEN 2
    WHEN coalesce(a.speculative, false) THEN 3 WHEN a.number > 0 THEN 4 WHEN a.recompute THEN 5 ELSE 0 END AS kind
FROM attempts a JOIN phases h ON h.phase_id = a.phase_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions c
             SEMI JOIN (SELECT p.phase_id FROM phases p JOIN jobs j ON j.job_id = p.job_id WHERE j.application_id = {application}) q ON q.phase_id = c.phase_id
             WHERE rank = 1) c ON c.attempt_id = a.attempt_id
  LEFT JOIN (SELECT attempt_id, CAST(sum(CAST(round(seconds * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS excess_s FROM attributions c
             SEMI JOIN (SELECT p.phase_id FROM phases p JOIN jobs j ON j.job_id = p.job_id WHERE j.application_id = {application}) q ON q.phase_id = c.phase_id
             GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
WHERE a.application_id = {application} AND a.start_time IS NOT NULL AND coalesce(a.machine, '') IN ({machines}) AND unix_micros(a.start_time) < {to}
  AND (a.finish_time IS NULL OR unix_micros(a.finish_time) > {from} OR unix_micros(a.start_time) >= {from})
