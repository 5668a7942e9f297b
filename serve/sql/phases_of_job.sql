-- The phases of a job. {key} is the job's.
SELECT count(*) OVER () AS total, p.phase_id AS id, p.native_id, p.attempt, p.name, p.status,
  (unix_micros(p.finish_time) - unix_micros(p.start_time)) / 1e6 AS took_s, s.tasks, s.median_s, s.max_s, s.lost_s, s.outliers
FROM phases p LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
WHERE p.job_id = {key}
