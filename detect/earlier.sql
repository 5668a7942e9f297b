-- Which earlier executions each execution of a stage is compared with: takes detected_stages and detected_strides, gives pairs of phases.
--
-- All up to 64; of more, 33 to 64 that are spread evenly over all that the store holds, every so manyth from the first on: a result costs the
-- same however many there are, and a stage that was disturbed for weeks is held against the time before as well. A run of the last executions
-- only would take the disturbance for usual as soon as it fills half of them. They are counted from the first and not from the one before, and
-- the stride is a power of two, so that the executions of a night, and of the nights after it, are compared with the same ones, and an
-- execution that one is not compared with is none that a later one is.
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
