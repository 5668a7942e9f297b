-- How many tasks the picked applications had for how many slots, and how many earlier runs of their program: the medians, of three earlier runs or
-- more. The machines of a log that names no application's slots say nothing. Needs report_earlier.
WITH slots AS (
  SELECT application_id, CAST(sum(slots) AS DOUBLE) AS slots FROM machines WHERE executor IS NOT NULL AND slots > 0 GROUP BY application_id
),
tasks AS (
  SELECT j.application_id, CAST(sum(s.succeeded) AS DOUBLE) AS tasks
  FROM phase_stats s JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id
  GROUP BY j.application_id
),
usual AS (
  SELECT e.application_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.tasks) AS usual_tasks, percentile_cont(0.5) WITHIN GROUP (ORDER BY s.slots) AS usual_slots
  FROM report_earlier e JOIN tasks t ON t.application_id = e.earlier_id JOIN slots s ON s.application_id = e.earlier_id
  GROUP BY e.application_id HAVING count(*) >= 3
)
SELECT u.application_id, t.tasks, s.slots, u.usual_tasks, u.usual_slots
FROM usual u JOIN tasks t ON t.application_id = u.application_id JOIN slots s ON s.application_id = u.application_id
ORDER BY u.application_id NULLS LAST
