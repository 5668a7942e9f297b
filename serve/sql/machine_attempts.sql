-- The attempts on a machine that were slow. {name} is the machine's.
SELECT count(*) OVER () AS total, a.attempt_id AS id, a.native_id, a.task, a.number, a.status, a.duration_s AS took_s, a.machine, a.input_bytes, a.start_time,
  o.excess_s, c.cause, p.time_origin
FROM (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE rule <> 'slower_than_usual' GROUP BY attempt_id) o
  JOIN (SELECT * FROM attempts WHERE machine = {name}) a ON a.attempt_id = o.attempt_id
  JOIN applications p ON p.application_id = a.application_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1) c ON c.attempt_id = o.attempt_id
