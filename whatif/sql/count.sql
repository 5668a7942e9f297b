-- How many attempts each application has, when its first started, and the last instant that one of them started or ended.
SELECT application_id, count(*) AS n, min(start_time) AS first_start, greatest(max(start_time), max(finish_time)) AS last_time
FROM attempts
GROUP BY application_id
ORDER BY application_id NULLS LAST
