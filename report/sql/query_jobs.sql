-- The jobs of the queries that the report is about. Needs report_apps.
SELECT q.query_id, q.job_id
FROM query_jobs q JOIN queries e ON e.query_id = q.query_id SEMI JOIN report_apps r ON r.application_id = e.application_id
ORDER BY q.query_id NULLS LAST, q.job_id NULLS LAST
