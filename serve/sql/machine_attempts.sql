-- The attempts on a machine that were slow. {name} is the machine's. Outliers and causes of other attempts are left out before
-- rows are grouped and joined: in a large store nearly all are on other machines.
WITH here AS (
  SELECT attempt_id, application_id, native_id, task, number, status, duration_s, machine, input_bytes, start_time FROM attempts WHERE machine = {name}
),
slow AS (
  SELECT attempt_id, max(excess_s) AS excess_s FROM outliers
  WHERE rule <> 'slower_than_usual' AND attempt_id IN (SELECT attempt_id FROM here) GROUP BY attempt_id
)
SELECT count(*) OVER () AS total, a.attempt_id AS id, a.native_id, a.task, a.number, a.status, a.duration_s AS took_s, a.machine, a.input_bytes, a.start_time,
  o.excess_s, c.cause, p.time_origin
FROM slow o
  JOIN here a ON a.attempt_id = o.attempt_id
  JOIN applications p ON p.application_id = a.application_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1 AND attempt_id IN (SELECT attempt_id FROM slow)) c ON c.attempt_id = o.attempt_id
