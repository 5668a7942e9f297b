-- How each phase compares with the earlier executions of its stage, or why that cannot be said: takes phases, jobs, applications, phase_stats and
-- detected_usual, gives the rows of stage_history.
SELECT p.phase_id, i.name AS program, coalesce(p.name, '') AS stage, p.kind, CAST(l.ordinal AS INTEGER) AS ordinal,
  coalesce(l.executions, 0) AS executions, coalesce(l.compared, 0) AS compared,
  s.median_s, l.usual_s, s.median_s / l.usual_s AS ratio, CASE WHEN l.usual_s IS NOT NULL THEN l.work_ratio END AS work_ratio,
  CASE WHEN l.usual_s IS NOT NULL THEN l.between_runs END AS between_runs, l.within_run, l.limit_s,
  l.median_s > l.limit_s AS slow,
  s.succeeded * (l.median_s - l.usual_s) AS excess_s,
  l.cpu_s, l.usual_cpu_s, l.usual_bytes AS usual_input_bytes, l.usual_records AS usual_input_records, l.wait_s, l.usual_wait_s,
  CASE WHEN l.usual_s IS NOT NULL THEN NULL
       WHEN i.name IS NULL THEN 'its program has no name'
       WHEN p.attempt > 0 OR p.recompute THEN 'submitted again'
       WHEN coalesce(s.succeeded, 0) = 0 THEN 'no successful attempt'
       WHEN coalesce(s.median_s, 0) = 0 THEN 'no median duration'
       WHEN coalesce(l.executions, 0) = 0 THEN 'no earlier execution in the store'
       ELSE 'fewer than 3 earlier executions in the store' END AS note
FROM phases p JOIN jobs j ON j.job_id = p.job_id JOIN applications i ON i.application_id = j.application_id
  LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
  LEFT JOIN detected_usual l ON l.phase_id = p.phase_id
