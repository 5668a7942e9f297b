-- What the tasks of the picked applications have in common: of each stage that has a history, how many tasks share a machine, a
-- rack, a place that most of their input was read from, a table or path that the stage reads, a sixteenth of the application's
-- time in which they started, and how many of these are slower than usual. Needs report_slow_apps.
WITH tasks AS (
  SELECT a.application_id, a.phase_id, a.task, a.machine, coalesce(a.rack, m.rack) AS rack, a.start_time,
    CASE WHEN o.attempt_id IS NULL THEN 0 ELSE 1 END AS slow
  FROM attempts a SEMI JOIN report_slow_apps r ON r.application_id = a.application_id
    SEMI JOIN (SELECT phase_id FROM stage_history WHERE usual_s IS NOT NULL) AS h ON h.phase_id = a.phase_id
    LEFT JOIN (SELECT machine, min(rack) AS rack FROM machines GROUP BY machine HAVING count(DISTINCT rack) = 1) AS m ON m.machine = a.machine
    LEFT JOIN (SELECT attempt_id FROM outliers WHERE rule = 'slower_than_usual') AS o ON o.attempt_id = a.attempt_id
  WHERE a.status = 'success' AND NOT a.recompute
),
span AS (
  SELECT i.application_id, unix_micros(i.start_time) AS start, CAST(unix_micros(i.finish_time) - unix_micros(i.start_time) AS DOUBLE) AS micros
  FROM applications i SEMI JOIN report_slow_apps r ON r.application_id = i.application_id
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
scans AS (
  SELECT DISTINCT x.phase_id, n.source, n.path
  FROM node_phases x JOIN plan_nodes n ON n.node_id = x.node_id SEMI JOIN tasks k ON k.phase_id = x.phase_id
  WHERE n.plan = 'final' AND n.kind = 'scan' AND x.role <> 'reads'
)
SELECT application_id, phase_id, 'stage' AS dimension, '' AS value, count(*) AS tasks, CAST(sum(slow) AS BIGINT) AS slow FROM tasks GROUP BY application_id, phase_id
UNION ALL
SELECT application_id, phase_id, 'machine', machine, count(*), CAST(sum(slow) AS BIGINT) FROM tasks WHERE machine IS NOT NULL GROUP BY application_id, phase_id, machine
UNION ALL
SELECT application_id, phase_id, 'rack', rack, count(*), CAST(sum(slow) AS BIGINT) FROM tasks WHERE rack IS NOT NULL GROUP BY application_id, phase_id, rack
UNION ALL
SELECT k.application_id, k.phase_id, 'source', s.source_machine, count(*), CAST(sum(k.slow) AS BIGINT)
FROM tasks k JOIN sources s ON s.phase_id = k.phase_id AND s.task = k.task
GROUP BY k.application_id, k.phase_id, s.source_machine
UNION ALL
SELECT k.application_id, k.phase_id, 'table', c.source, count(*), CAST(sum(k.slow) AS BIGINT)
FROM tasks k JOIN (SELECT DISTINCT phase_id, source FROM scans WHERE source IS NOT NULL) AS c ON c.phase_id = k.phase_id
GROUP BY k.application_id, k.phase_id, c.source
UNION ALL
SELECT k.application_id, k.phase_id, 'path', c.path, count(*), CAST(sum(k.slow) AS BIGINT)
FROM tasks k JOIN (SELECT DISTINCT phase_id, path FROM scans WHERE path IS NOT NULL) AS c ON c.phase_id = k.phase_id
GROUP BY k.application_id, k.phase_id, c.path
UNION ALL
SELECT application_id, phase_id, 'time', CAST(place AS STRING), count(*), CAST(sum(slow) AS BIGINT)
FROM (
  SELECT k.application_id, k.phase_id, k.slow, CAST(floor(greatest(0e0, least(15e0, 16 * (unix_micros(k.start_time) - s.start) / nullif(s.micros, 0)))) AS BIGINT) AS place
  FROM tasks k JOIN span s ON s.application_id = k.application_id
  WHERE k.start_time IS NOT NULL AND s.micros > 0
) AS t
GROUP BY application_id, phase_id, place
ORDER BY application_id NULLS LAST, dimension NULLS LAST, value NULLS LAST, phase_id NULLS LAST
