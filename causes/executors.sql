-- When each executor had ended its first attempt, less the {overlap} of it in which its successor may be launched: attempts
-- that started before are cold. An executor that ran one or two attempts, such as a container of its own for each,
-- never warms up.
SELECT application_id, executor,
  min(unix_micros(finish_time) - {overlap} * (unix_micros(finish_time) - unix_micros(start_time))) AS warm_us
FROM attempts
WHERE executor IS NOT NULL AND finish_time IS NOT NULL AND start_time IS NOT NULL
GROUP BY application_id, executor
HAVING count(*) > 2
