-- Where a phase belongs. {key} is the phase's.
SELECT a.application_id, a.native_id AS application, q.query_id, q.native_id AS query, q.description AS query_name, j.job_id, j.native_id AS job, j.name AS job_name,
  p.phase_id, p.native_id AS phase, p.attempt AS phase_attempt, p.name AS phase_name,
  CAST(NULL AS BIGINT) AS attempt_id, CAST(NULL AS BIGINT) AS task, CAST(NULL AS INT) AS number
FROM phases p JOIN jobs j ON j.job_id = p.job_id JOIN applications a ON a.application_id = j.application_id
  LEFT JOIN query_jobs x ON x.job_id = j.job_id LEFT JOIN queries q ON q.query_id = x.query_id
WHERE p.phase_id = {key}
ORDER BY q.query_id NULLS LAST
LIMIT 1
