-- The queries of an application with the jobs of each. {key} is the application's.
SELECT q.query_id, q.native_id, q.description, q.status, q.start_time, q.finish_time, j.job_id, j.native_id AS job, j.status AS job_status
FROM (
  SELECT * FROM queries WHERE application_id = {key} ORDER BY start_time NULLS LAST, query_id {page}
) q LEFT JOIN query_jobs x ON x.query_id = q.query_id LEFT JOIN jobs j ON j.job_id = x.job_id
ORDER BY q.start_time NULLS LAST, q.query_id, j.job_id NULLS LAST
