-- A task's work and what it spent its time on, for each execution of a stage: takes attempts and detected_executions, returns a
-- median per phase, and the tick of the log's clock if it can be seen: a second, or 0.
SELECT a.phase_id,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(a.input_bytes AS DOUBLE)) AS input_bytes,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(a.input_records AS DOUBLE)) AS input_records,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY a.cpu_s) AS cpu_s,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY a.fetch_wait_s) AS wait_s,
  CASE WHEN count(*) FILTER (WHERE unix_micros(a.start_time) % 1000000 = 0 AND unix_micros(a.finish_time) % 1000000 = 0) = count(*)
       THEN 1e0 ELSE 0e0 END AS tick_s
FROM attempts a SEMI JOIN (SELECT phase_id FROM detected_executions WHERE ordinal IS NOT NULL) AS d ON d.phase_id = a.phase_id
WHERE a.status = 'success' AND a.duration_s BETWEEN 0 AND 1e15
GROUP BY a.phase_id
