-- Where an attempt belongs. {key} is the attempt's.
SELECT a.application_id, a.native_id AS application, q.query_id, q.native_id AS query, q.description AS query_name, j.job_id, j.native_id AS job, j.name AS job_name,
  p.phase_id, p.native_id AS phase, p.attempt AS phase_attempt, p.name AS phase_name, t.attempt_id, t.task, t.number
FROM (SELECT attempt_id, phase_id, task, number FROM attempts WHERE attempt_id = {key}) t
  JOIN phases p ON p.phase_id = t.phase_id JOIN jobs j ON j.job_id = p.job_id JOIN applications a ON a.application_id = j.application_id
  LEFT JOIN query_jobs x ON x.job_id = j.job_id LEFT JOIN queries q ON q.query_id = x.query_id
ORDER BY q.query_id NULLS LAST
LIMIT 1
