-- The machines of an application, the most excess first, and when its attempts began and ended.
SELECT machine, attempts, count(*) OVER () AS total, min(first_us) OVER () AS start_us, max(last_us) OVER () AS end_us
FROM (
  SELECT coalesce(a.machine, '') AS machine, count(*) AS attempts, min(unix_micros(a.start_time)) AS first_us,
    max(unix_micros(greatest(coalesce(a.finish_time, a.start_time), a.start_time))) AS last_us,
    coalesce(sum(c.excess_us), 0) AS excess_us
  FROM attempts a
    LEFT JOIN (SELECT c.attempt_id, sum(CAST(round(c.seconds * 1e6) AS DECIMAL(28, 0))) AS excess_us FROM attributions c
               SEMI JOIN (SELECT p.phase_id FROM phases p JOIN jobs j ON j.job_id = p.job_id WHERE j.application_id = {application}) q ON q.phase_id = c.phase_id
               GROUP BY c.attempt_id) c ON c.attempt_id = a.attempt_id
  WHERE a.application_id = {application} AND a.start_time IS NOT NULL
  GROUP BY coalesce(a.machine, '')
) x
ORDER BY excess_us DESC NULLS LAST, attempts DESC NULLS LAST, machine NULLS LAST
LIMIT {count} OFFSET {skip}
