-- The phases to process, in order. attempts is an upper bound; job_s is the time from the submission of their job to its end.
-- Program, kind and name are shared by the executions of a stage.
SELECT p.phase_id, p.job_id, j.application_id, app.name AS program, p.kind, p.name, p.start_time, p.finish_time,
  coalesce(s.attempts, 0) AS attempts,
  CAST(unix_micros(j.finish_time) - unix_micros(coalesce(j.submit_time, j.start_time)) AS DOUBLE) / 1e6 AS job_s
FROM phases p
  JOIN jobs j ON j.job_id = p.job_id
  JOIN applications app ON app.application_id = j.application_id
  LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
ORDER BY p.phase_id NULLS LAST
