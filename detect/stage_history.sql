-- How each phase compares with the earlier executions of its stage, or why that is unknown: takes detected_own and
-- detected_usual, returns the rows of stage_history.
SELECT o.phase_id, o.program, o.stage, o.identity, o.kind, o.ordinal, o.run_start_time,
  coalesce(l.executions, 0) AS executions, coalesce(l.compared, 0) AS compared,
  o.tasks, l.usual_tasks, o.median_s, o.spread, l.usual_s, o.median_s / l.usual_s AS ratio, CASE WHEN l.usual_s IS NOT NULL THEN l.work_ratio END AS work_ratio,
  CASE WHEN l.usual_s IS NOT NULL THEN l.between_runs END AS between_runs, l.within_run, l.limit_s,
  o.median_s > l.limit_s AS slow,
  o.tasks * (o.median_s - l.usual_s) AS excess_s,
  o.input_bytes, l.usual_bytes AS usual_input_bytes, o.input_records, l.usual_records AS usual_input_records,
  o.cpu_s, l.usual_cpu_s, o.wait_s, l.usual_wait_s, o.tick_s,
  CASE WHEN o.note IS NOT NULL THEN o.note
       WHEN l.usual_s IS NOT NULL THEN NULL
       WHEN coalesce(l.executions, 0) = 0 THEN 'no earlier execution in the store'
       ELSE 'fewer than 3 earlier executions in the store' END AS note
FROM detected_own o LEFT JOIN detected_usual l ON l.phase_id = o.phase_id
