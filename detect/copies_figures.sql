-- The rows from which copies of this program compute the statistics, the rules and the history of stages: takes attempts and
-- phases, returns a row for each attempt and one for each phase, whose attempt_id is NULL.
SELECT phase_id, attempt_id, application_id, task, number, unix_micros(start_time) AS start_us, unix_micros(finish_time) AS finish_us, duration_s,
  status = 'success' AS succeeded, status = 'killed' AS killed, status = 'running' AS running, recompute, input_bytes, remote_bytes, input_records,
  cpu_s, fetch_wait_s, CAST(NULL AS BOOLEAN) AS gang, CAST(NULL AS BOOLEAN) AS skipped
FROM attempts
UNION ALL
SELECT phase_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, gang, status = 'skipped' FROM phases
