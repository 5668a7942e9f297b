-- Tasks and slots of the picked applications, and the medians over at least three earlier runs of their program. Slots are
-- averaged over the time from the start of the first phase to the end of the last, because of dynamic allocation: each executor
-- counts for the part of that time in which it existed. Logs whose machines have no slots of an application are left out. Needs
-- report_earlier.
WITH span AS (
  SELECT j.application_id, unix_micros(min(p.start_time)) AS begun, unix_micros(max(p.finish_time)) AS ended
  FROM phases p JOIN jobs j ON j.job_id = p.job_id
  GROUP BY j.application_id
),
slots AS (
  SELECT m.application_id,
    CASE WHEN max(s.ended) > max(s.begun)
         THEN CAST(sum(TRY_CAST(m.slots * CAST(greatest(0, least(coalesce(unix_micros(m.removed_time), s.ended), s.ended)
                - greatest(coalesce(unix_micros(m.added_time), s.begun), s.begun)) AS DOUBLE) AS DECIMAL(28, 0))) AS DOUBLE)
                / nullif(max(s.ended - s.begun), 0)
         ELSE CAST(sum(m.slots) AS DOUBLE) END AS slots
  FROM machines m LEFT JOIN span s ON s.application_id = m.application_id
  WHERE m.executor IS NOT NULL AND m.slots > 0
  GROUP BY m.application_id
),
tasks AS (
  SELECT j.application_id, CAST(sum(s.succeeded) AS DOUBLE) AS tasks
  FROM phase_stats s JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id
  GROUP BY j.application_id
),
usual AS (
  SELECT e.application_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.tasks) AS usual_tasks, percentile_cont(0.5) WITHIN GROUP (ORDER BY s.slots) AS usual_slots
  FROM report_earlier e JOIN tasks t ON t.application_id = e.earlier_id JOIN slots s ON s.application_id = e.earlier_id AND s.slots > 0
  GROUP BY e.application_id HAVING count(*) >= 3
)
SELECT u.application_id, t.tasks, s.slots, u.usual_tasks, u.usual_slots
FROM usual u JOIN tasks t ON t.application_id = u.application_id JOIN slots s ON s.application_id = u.application_id AND s.slots > 0
ORDER BY u.application_id NULLS LAST
