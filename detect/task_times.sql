-- The tasks of the executions that are to do and that later ones may be compared with: takes attempts and detected_stages, gives rows of task_times.
--
-- An execution is compared with every so manyth before it (earlier.sql), by strides of powers of two that only grow: who is none of those that
-- the next execution is compared with is none that any later one is. stride is the longest by which an execution is one of them.
SELECT a.phase_id, e.stride, a.task, a.duration_s, a.input_bytes, a.input_records
FROM attempts a JOIN (
  SELECT phase_id, CASE WHEN place = 1 THEN 4611686018427387904 ELSE (place - 1) & (1 - place) END AS stride,
    CASE WHEN place <= 64 THEN 1 ELSE CAST(power(2, length(bin(CAST(floor((place + 63) / 64) AS BIGINT) - 1))) AS BIGINT) END AS next
  FROM detected_stages
  WHERE todo = 1
) AS e ON e.phase_id = a.phase_id
WHERE e.stride >= e.next AND a.status = 'success' AND a.duration_s > 0 AND a.duration_s <= 1e15
