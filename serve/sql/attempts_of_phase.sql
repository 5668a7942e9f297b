-- The attempts of a phase. {key} is the phase's.
SELECT count(*) OVER () AS total, a.attempt_id AS id, a.native_id, a.number, a.task, a.status, a.duration_s AS took_s, a.machine, a.input_bytes, a.start_time,
  o.excess_s, c.cause, p.time_origin
FROM (SELECT * FROM attempts WHERE phase_id = {key}) a JOIN applications p ON p.application_id = a.application_id
  LEFT JOIN (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE phase_id = {key} AND rule <> 'slower_than_usual' GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1 AND phase_id = {key}) c ON c.attempt_id = a.attempt_id
