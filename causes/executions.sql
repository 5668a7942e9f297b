-- All phases of the store as executions of stages, by key: program, kind and name are those of the stage, and submissions of one stage in an application
-- share native_id. The first that has attempts counts.
SELECT p.phase_id, j.application_id, p.native_id, app.name AS program, p.kind, p.name, p.attempt = 0 AND coalesce(s.attempts, 0) > 0 AS counts
FROM phases p
  JOIN jobs j ON j.job_id = p.job_id
  JOIN applications app ON app.application_id = j.application_id
  LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
ORDER BY p.phase_id NULLS LAST
