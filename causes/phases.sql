-- The phases, in the order in which causes goes through them. attempts is how many there may be at most. The signature is
-- shared by the executions of a stage; programs without a name have none.
SELECT p.phase_id, p.job_id, j.application_id, p.native_id,
  CASE WHEN app.name IS NULL THEN '' ELSE concat_ws('/', app.name, coalesce(p.kind, ''), coalesce(p.name, '')) END AS signature,
  p.start_time, p.finish_time, p.attempt,
  coalesce(s.attempts, 0) AS attempts,
  coalesce(n.outliers, 0) AS outliers
FROM phases p
  JOIN jobs j ON j.job_id = p.job_id
  JOIN applications app ON app.application_id = j.application_id
  LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
  LEFT JOIN (
    SELECT phase_id, count(*) AS outliers FROM outliers WHERE rule IN ('high_runtime', 'recompute') GROUP BY phase_id
  ) AS n ON n.phase_id = p.phase_id
ORDER BY p.phase_id NULLS LAST
