-- What a task of each execution of a repeated stage had to do and what it spent its time on: takes attempts and detected_stages, gives a
-- median per phase. whole says that the log's clock ticks in seconds.
SELECT a.phase_id,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(a.input_bytes AS DOUBLE)) AS input_bytes,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(a.input_records AS DOUBLE)) AS input_records,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY a.cpu_s) AS cpu_s,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY a.fetch_wait_s) AS wait_s,
  count(*) FILTER (WHERE unix_micros(a.start_time) % 1000000 = 0 AND unix_micros(a.finish_time) % 1000000 = 0) = count(*) AS whole
FROM attempts a SEMI JOIN detected_stages d ON d.phase_id = a.phase_id
WHERE a.status = 'success' AND a.duration_s BETWEEN 0 AND 1e15
GROUP BY a.phase_id
