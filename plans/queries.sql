-- When each query ran, on how many slots, in which version of Spark.
WITH slots AS (SELECT application_id, CAST(sum(slots) AS BIGINT) AS slots FROM machines WHERE application_id IS NOT NULL GROUP BY application_id)
SELECT q.query_id, q.start_time, q.finish_time, c.slots, a.framework_version AS version
FROM queries q
JOIN applications a ON a.application_id = q.application_id
LEFT JOIN slots c ON c.application_id = q.application_id
ORDER BY q.query_id NULLS LAST
