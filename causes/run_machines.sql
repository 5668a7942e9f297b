-- The tasks of each machine in each run of a stage that has a history, from attempts, stage_history and outliers: a row per
-- phase and machine, in any order, with medians of the tasks there. Usual values are those of the stage; tick_s is the
-- resolution of the log's clock if it has whole seconds.
SELECT m.*, h.usual_s, h.within_run, h.usual_cpu_s, h.usual_wait_s, h.usual_input_bytes, h.usual_input_records
FROM (
  SELECT a.application_id, a.phase_id, a.machine, count(*) AS tasks, count(o.attempt_id) AS slow,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY a.duration_s) AS median_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY a.cpu_s) AS cpu_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY a.fetch_wait_s) AS wait_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(a.input_bytes AS DOUBLE)) AS input_bytes,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(a.input_records AS DOUBLE)) AS input_records,
    min(a.start_time) AS first_start, max(a.finish_time) AS last_finish,
    CASE WHEN count(*) FILTER (WHERE unix_micros(a.start_time) % 1000000 = 0 AND unix_micros(a.finish_time) % 1000000 = 0) = count(*)
         THEN 1e0 ELSE 0e0 END AS tick_s
  FROM attempts a SEMI JOIN (SELECT phase_id FROM stage_history WHERE usual_s IS NOT NULL) AS j ON j.phase_id = a.phase_id
    LEFT JOIN (SELECT attempt_id FROM outliers WHERE rule = 'slower_than_usual') AS o ON o.attempt_id = a.attempt_id
  WHERE a.status = 'success' AND NOT a.recompute AND a.machine IS NOT NULL AND a.duration_s > 0 AND a.duration_s <= 1e15
    AND a.start_time IS NOT NULL AND a.finish_time IS NOT NULL
  GROUP BY a.application_id, a.phase_id, a.machine
) AS m JOIN stage_history h ON h.phase_id = m.phase_id
