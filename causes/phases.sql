-- The phases whose attempts have durations, in the order in which causes goes through them.
SELECT p.phase_id, p.job_id,
  concat_ws('/', coalesce(app.name, ''), coalesce(p.kind, ''), coalesce(p.name, '')) AS signature,
  p.start_time, p.finish_time,
  n.attempts,
  coalesce(n.outliers, 0) AS outliers
FROM phases p
  JOIN (
    SELECT a.phase_id, count(*) AS attempts, count(o.attempt_id) AS outliers
    FROM attempts a LEFT JOIN causes_outliers o ON o.attempt_id = a.attempt_id
    WHERE coalesce(a.duration_s, o.lasted_s) BETWEEN 0 AND 1e15
    GROUP BY a.phase_id
  ) AS n ON n.phase_id = p.phase_id
  JOIN jobs j ON j.job_id = p.job_id
  JOIN applications app ON app.application_id = j.application_id
ORDER BY p.phase_id NULLS LAST
