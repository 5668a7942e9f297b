-- The applications of a store with what they are chosen by, one row each: takes applications and jobs. began is NULL where the
-- log says neither when an application started nor when any of its jobs did.
SELECT a.application_id, a.native_id, a.name, coalesce(a.start_time, j.began) AS began
FROM applications a LEFT JOIN (
  SELECT application_id, min(coalesce(submit_time, start_time)) AS began FROM jobs GROUP BY application_id
) AS j ON j.application_id = a.application_id
ORDER BY a.application_id NULLS LAST
