-- Until when each executor was cold: until the end of its first attempt, minus the share {overlap} in which its successor may
-- be launched. An executor that joined after the first of its application is also cold for as long after its own first attempt
-- began, at most for {young} µs. An executor that ran one or two attempts, such as a container of its own for each, never warms
-- up.
SELECT application_id, executor,
  greatest(ended_us, began_us + least({young}, began_us - min(began_us) OVER (PARTITION BY application_id))) AS warm_us
FROM (
  SELECT application_id, executor, min(unix_micros(start_time)) AS began_us,
    min(unix_micros(finish_time) - {overlap} * (unix_micros(finish_time) - unix_micros(start_time))) AS ended_us
  FROM attempts
  WHERE executor IS NOT NULL AND finish_time IS NOT NULL AND start_time IS NOT NULL
  GROUP BY application_id, executor
  HAVING count(*) > 2
) AS e
