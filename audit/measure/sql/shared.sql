-- What the tasks of each stage have in common: how many of a stage share a machine, a rack, the machine that most of their
-- input was read from, or the sixteenth of the application's time in which they started, by how long they took: bin is a bin of
-- the logarithm of the duration, ten per factor of e, so that the number of slow tasks is the same for every feature. For a
-- table or path, only the stages that read it. The tasks are those of stages.sql; an application with more rows than can be
-- kept has none.
WITH tasks AS (
  SELECT a.application_id, a.phase_id, a.task, a.machine, coalesce(a.rack, m.rack) AS rack, a.start_time,
    CAST(floor(10 * ln(greatest(a.duration_s, 1e-3))) AS BIGINT) AS bin
  FROM attempts a LEFT JOIN (SELECT machine, min(rack) AS rack FROM machines GROUP BY machine HAVING count(DISTINCT rack) = 1) AS m ON m.machine = a.machine
  WHERE a.status = 'success' AND NOT a.recompute AND a.duration_s BETWEEN 0 AND 1e15
),
span AS (
  SELECT application_id, unix_micros(start_time) AS start, CAST(unix_micros(finish_time) - unix_micros(start_time) AS DOUBLE) AS micros
  FROM applications WHERE finish_time > start_time
),
sources AS (
  SELECT phase_id, task, source_machine
  FROM (
    SELECT t.phase_id, t.task, t.source_machine, sum(t.bytes) AS bytes, sum(sum(t.bytes)) OVER (PARTITION BY t.phase_id, t.task) AS total
    FROM transfers t SEMI JOIN tasks k ON k.phase_id = t.phase_id
    WHERE t.source_machine IS NOT NULL
    GROUP BY t.phase_id, t.task, t.source_machine
  ) AS s
  WHERE 2 * bytes > total
),
shared AS (
  SELECT application_id, phase_id, 'stage' AS dimension, '' AS value, bin FROM tasks
  UNION ALL
  SELECT application_id, phase_id, 'machine', machine, bin FROM tasks WHERE machine IS NOT NULL
  UNION ALL
  SELECT application_id, phase_id, 'rack', rack, bin FROM tasks WHERE rack IS NOT NULL
  UNION ALL
  SELECT k.application_id, k.phase_id, 'source', s.source_machine, k.bin FROM tasks k JOIN sources s ON s.phase_id = k.phase_id AND s.task = k.task
  UNION ALL
  SELECT k.application_id, k.phase_id, 'time',
    CAST(CAST(floor(greatest(0e0, least(15e0, 16 * (unix_micros(k.start_time) - s.start) / nullif(s.micros, 0)))) AS BIGINT) AS STRING), k.bin
  FROM tasks k JOIN span s ON s.application_id = k.application_id
  WHERE k.start_time IS NOT NULL
),
counted AS (
  SELECT application_id, phase_id, dimension, value, bin, count(*) AS tasks FROM shared GROUP BY application_id, phase_id, dimension, value, bin
  UNION ALL
  SELECT DISTINCT p.application_id, x.phase_id, k.dimension, CASE WHEN k.dimension = 'table' THEN n.source ELSE n.path END, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
  FROM node_phases x JOIN plan_nodes n ON n.node_id = x.node_id JOIN (SELECT DISTINCT application_id, phase_id FROM tasks) AS p ON p.phase_id = x.phase_id
    CROSS JOIN (SELECT * FROM (VALUES ('table'), ('path')) AS v(dimension)) AS k
  WHERE n.plan = 'final' AND n.kind = 'scan' AND x.role <> 'reads'
)
SELECT phase_id, dimension, value, bin, tasks
FROM (SELECT c.*, count(*) OVER (PARTITION BY application_id) AS kept FROM counted c WHERE value IS NOT NULL) AS k
WHERE kept <= 100000
ORDER BY phase_id NULLS LAST, dimension NULLS LAST, value NULLS LAST, bin NULLS LAST
