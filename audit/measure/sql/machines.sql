-- The health of the machines of an application in the windows of time in which it used them.
SELECT u.application_id, h.machine, h.verdict, h.attempts, h.factor, h.factor_low, h.factor_high, h.q_value, h.window_start
FROM (
  SELECT application_id, machine, min(start_time) AS first_start, max(finish_time) AS last_finish
  FROM attempts WHERE machine IS NOT NULL GROUP BY application_id, machine
) AS u
  JOIN machine_health h ON h.machine = u.machine AND h.application_id IS NULL AND h.window_start <= u.last_finish AND h.window_end >= u.first_start
ORDER BY u.application_id NULLS LAST, h.machine NULLS LAST, h.window_start NULLS LAST
