-- The attempts of a range of phases as attribution needs them; NaN is unknown. {those} selects the outliers: those of the
-- range, or none; {timed} the attempts that are compared with earlier runs of their stage: those of run_machines.sql, or none.
-- {attempts} is the table, or its rows from some inputs; {ran} selects those with a duration.
SELECT a.attempt_id, a.phase_id, a.task, a.start_time, coalesce(a.duration_s, o.lasted_s) AS duration_s,
  coalesce(m.number, -1) AS machine,
  coalesce(unix_micros(a.start_time) < x.warm_us, FALSE) AS cold,
  a.status = 'success' AS succeeded,
  a.status IN ('killed', 'running') AS cut,
  coalesce(o.again, 1) = 0 AS slow,
  coalesce(o.again, 0) = 1 AS recompute,
  coalesce(o.excess_s, CAST('NaN' AS DOUBLE)) AS excess_s,
  {timed} AS timed,
  coalesce(o.beyond_s, CAST('NaN' AS DOUBLE)) AS beyond_s,
  coalesce(CAST(a.input_bytes AS DOUBLE), CAST('NaN' AS DOUBLE)) AS input_bytes,
  coalesce(CAST(a.remote_bytes AS DOUBLE), CAST('NaN' AS DOUBLE)) AS remote_bytes,
  coalesce(CAST(a.input_records AS DOUBLE), CAST('NaN' AS DOUBLE)) AS input_records,
  coalesce(CAST(a.output_bytes AS DOUBLE) + a.shuffle_write_bytes, a.output_bytes, a.shuffle_write_bytes, CAST('NaN' AS DOUBLE)) AS written_bytes,
  coalesce(CAST(a.spill_bytes AS DOUBLE), CAST('NaN' AS DOUBLE)) AS spill_bytes,
  coalesce(a.cpu_s, CAST('NaN' AS DOUBLE)) AS cpu_s,
  CASE WHEN a.locality IN ('process_local', 'node_local') THEN 0e0
       WHEN a.locality IN ('rack_local', 'any') THEN 1e0
       ELSE CAST('NaN' AS DOUBLE) END AS away,
  coalesce(a.fetch_wait_s, CAST('NaN' AS DOUBLE)) AS fetch_wait_s,
  coalesce(a.gc_s, CAST('NaN' AS DOUBLE)) AS gc_s,
  coalesce(a.scheduler_delay_s, CAST('NaN' AS DOUBLE)) AS scheduler_delay_s,
  coalesce(a.deserialize_s + a.result_s, a.deserialize_s, a.result_s, CAST('NaN' AS DOUBLE)) AS convert_s
FROM {attempts} a
  LEFT JOIN causes_machines m ON m.machine = a.machine
  LEFT JOIN causes_executors x ON x.application_id = a.application_id AND x.executor = a.executor
  LEFT JOIN (SELECT * FROM causes_outliers WHERE {those}) AS o ON o.attempt_id = a.attempt_id
WHERE a.phase_id BETWEEN {low} AND {high} AND {ran}
