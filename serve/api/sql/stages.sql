-- The jobs of an application with their phases and how the attempts of those ended. {key} is the application's.
-- Sums of seconds are of decimals: those of doubles depend on the order of rows. Spark counts processor time in nanoseconds. What no
-- decimal holds is damage of a log.
SELECT j.job_id, j.native_id AS job, j.name AS job_name, j.status AS job_status, j.submit_time AS job_submit, j.finish_time AS job_finish,
  p.phase_id, p.native_id AS phase, p.attempt, p.name, p.status, p.task_count, p.submit_time, p.start_time, p.finish_time,
  coalesce(t.completed, 0) AS completed, coalesce(t.failed, 0) AS failed, coalesce(t.killed, 0) AS killed, coalesce(t.active, 0) AS active,
  t.output_bytes, t.shuffle_write_bytes, t.spill_bytes, t.cpu_s, t.gc_s, t.deserialize_s, t.fetch_wait_s, s.lost_s
FROM jobs j LEFT JOIN phases p ON p.job_id = j.job_id
  LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
  LEFT JOIN (
    SELECT phase_id, count(*) FILTER (WHERE status = 'success') AS completed, count(*) FILTER (WHERE status IN ('failed', 'lost')) AS failed,
      count(*) FILTER (WHERE status = 'killed') AS killed, count(*) FILTER (WHERE status = 'running') AS active,
      CAST(sum(output_bytes) AS BIGINT) AS output_bytes, CAST(sum(shuffle_write_bytes) AS BIGINT) AS shuffle_write_bytes, CAST(sum(spill_bytes) AS BIGINT) AS spill_bytes,
      CAST(sum(TRY_CAST(round(cpu_s * 1e9) AS DECIMAL(28, 0))) AS DOUBLE) / 1e9 AS cpu_s,
      CAST(sum(TRY_CAST(round(gc_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS gc_s,
      CAST(sum(TRY_CAST(round(deserialize_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS deserialize_s,
      CAST(sum(TRY_CAST(round(fetch_wait_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS fetch_wait_s
    FROM attempts WHERE application_id = {key} GROUP BY phase_id
  ) t ON t.phase_id = p.phase_id
WHERE j.application_id = {key}
ORDER BY j.job_id NULLS LAST, p.native_id NULLS LAST, p.attempt NULLS LAST
