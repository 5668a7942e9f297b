-- How many attempts each application has, and when its first and its last started.
SELECT application_id, count(*) AS n, min(start_time) AS first_start, max(start_time) AS last_start
FROM attempts
GROUP BY application_id
ORDER BY application_id NULLS LAST
