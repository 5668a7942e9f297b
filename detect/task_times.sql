-- The tasks of the executions that are to do and that later ones may be compared with: takes attempts, detected_stages and
-- detected_strides, returns rows of task_times.
--
-- An execution is compared with every k-th before it (earlier.sql), with strides k that are powers of two and only grow: an
-- execution that the next one is not compared with is not compared with by any later one either. stride is the longest by which
-- an execution is one of them.
SELECT a.phase_id, e.stride, a.task, a.duration_s, a.input_bytes, a.input_records
FROM attempts a JOIN (
  SELECT s.phase_id, CASE WHEN s.place = 1 THEN 4611686018427387904 ELSE (s.place - 1) & (1 - s.place) END AS stride, r.stride AS next
  FROM detected_stages s JOIN detected_strides r ON s.place + 1 BETWEEN r.first_place AND r.last_place
  WHERE s.todo = 1
) AS e ON e.phase_id = a.phase_id
WHERE e.stride >= e.next AND a.status = 'success' AND a.duration_s > 0 AND a.duration_s <= 1e15
