-- Where a query belongs. {key} is the query's.
SELECT a.application_id, a.native_id AS application, q.query_id, q.native_id AS query, q.description AS query_name,
  CAST(0 AS BIGINT) AS job_id, '' AS job, CAST(NULL AS STRING) AS job_name,
  CAST(NULL AS BIGINT) AS phase_id, CAST(NULL AS STRING) AS phase, CAST(NULL AS INT) AS phase_attempt, CAST(NULL AS STRING) AS phase_name,
  CAST(NULL AS BIGINT) AS attempt_id, CAST(NULL AS BIGINT) AS task, CAST(NULL AS INT) AS number
FROM queries q JOIN applications a ON a.application_id = q.application_id
WHERE q.query_id = {key}
