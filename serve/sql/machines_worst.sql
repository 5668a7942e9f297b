-- The outliers with the most excess on every machine, at most {most}, and their number: those of machine_attempts.sql, worst
-- first.
WITH slow AS (
  SELECT a.machine, o.attempt_id, o.excess_s
  FROM (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE rule <> 'slower_than_usual' GROUP BY attempt_id) o
    JOIN (SELECT attempt_id, machine FROM attempts WHERE machine IS NOT NULL) a ON a.attempt_id = o.attempt_id
),
worst AS (
  SELECT * FROM (SELECT s.*, row_number() OVER (PARTITION BY machine ORDER BY excess_s DESC NULLS LAST, attempt_id NULLS LAST) AS place FROM slow s) x
  WHERE place <= {most}
)
SELECT n.total, a.attempt_id AS id, a.native_id, a.task, a.number, a.status, a.duration_s AS took_s, a.machine, a.input_bytes, a.start_time,
  w.excess_s, c.cause, p.time_origin
FROM worst w JOIN (SELECT machine, count(*) AS total FROM slow GROUP BY machine) n ON n.machine = w.machine
  JOIN attempts a ON a.attempt_id = w.attempt_id
  JOIN applications p ON p.application_id = a.application_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1) c ON c.attempt_id = w.attempt_id
ORDER BY w.machine, w.place
