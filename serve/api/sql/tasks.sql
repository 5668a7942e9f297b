-- The attempts of the tasks of a phase. {key} is the phase's.
SELECT t.attempt_id, t.native_id, t.task, t.number, t.start_time, t.duration_s, t.executor, t.machine, t.status, t.locality, t.speculative, t.reason,
  t.scheduler_delay_s, t.deserialize_s, t.cpu_s, t.gc_s, t.spill_bytes, t.peak_memory_bytes, c.cause, o.excess_s
FROM (SELECT * FROM attempts WHERE phase_id = {key}) t
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1 AND phase_id = {key}) c ON c.attempt_id = t.attempt_id
  LEFT JOIN (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE phase_id = {key} AND rule <> 'slower_than_usual' GROUP BY attempt_id) o ON o.attempt_id = t.attempt_id
