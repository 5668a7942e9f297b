-- The earlier executions that each execution of a stage is compared with: takes detected_stages and detected_strides, returns
-- pairs of phases.
--
-- Up to 64 executions, these are all of them. Of more, they are 33 to 64 that are spread evenly over everything in the store,
-- every k-th counted from the first: the cost of a result does not depend on how many there are, and a stage that was disturbed
-- for weeks is also compared with the time before. A window of the last executions would take the disturbance for usual as soon
-- as it fills half of the window. They are counted from the first one rather than from the previous one, and the stride k is a
-- power of two, so that the executions of a night, and of the nights after it, are compared with the same ones, and an
-- execution that one is not compared with is not compared with by any later one.
SELECT e.phase_id, h.phase_id AS earlier_phase
FROM (
  SELECT s.phase_id, s.stage_id, s.place, r.stride
  FROM detected_stages s JOIN detected_strides r ON s.place BETWEEN r.first_place AND r.last_place
  WHERE s.todo = 1
) AS e
CROSS JOIN (
  SELECT 8 * a.n + b.n AS k
  FROM (SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)) AS a
    CROSS JOIN (SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)) AS b
) AS c
JOIN detected_stages h ON h.stage_id = e.stage_id AND h.place = 1 + c.k * e.stride AND h.place < e.place
