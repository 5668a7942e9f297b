-- The tasks of the executions that are to do and that later ones may be compared with: takes attempts, detected_stages and
-- detected_strides, gives rows of task_times.
--
-- An execution is compared with every so manyth before it (earlier.sql), by strides of powers of two that only grow: who is none of those that
-- the next execution is compared with is none that any later one is. stride is the longest by which an execution is one of them.
SELECT a.phase_id, e.stride, a.task, a.duration_s, a.input_bytes, a.input_records
FROM attempts a JOIN (
  SELECT s.phase_id, CASE WHEN s.place = 1 THEN 4611686018427387904 ELSE (s.place - 1) & (1 - s.place) END AS stride, r.stride AS next
  FROM detected_stages s JOIN detected_strides r ON s.place + 1 BETWEEN r.first_place AND r.last_place
  WHERE s.todo = 1
) AS e ON e.phase_id = a.phase_id
WHERE e.stride >= e.next AND a.status = 'success' AND a.duration_s > 0 AND a.duration_s <= 1e15
