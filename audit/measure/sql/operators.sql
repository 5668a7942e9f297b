-- The topmost operator that each stage ran, preferably one with details, in the order of queries and of their plans. The
-- writing side of an exchange belongs to another stage.
SELECT phase_id, application_id, description, shape, plan_fingerprint, kind, operator, keys, right_keys, join_type, source, tables, detail, fingerprint
FROM (
  SELECT x.phase_id, q.application_id, q.query_id, q.start_time, q.description, q.shape, q.plan_fingerprint,
    n.kind, n.operator, n.keys, n.right_keys, n.join_type, n.source, n.tables, n.detail, n.fingerprint, n.position,
    row_number() OVER (PARTITION BY x.phase_id ORDER BY q.start_time NULLS LAST, q.query_id NULLS LAST,
      CASE WHEN n.kind IN ('other', 'filter', 'project') THEN 1 ELSE 0 END NULLS LAST, n.position NULLS LAST, n.node_id NULLS LAST) AS place
  FROM node_phases x
    JOIN plan_nodes n ON n.node_id = x.node_id
    JOIN queries q ON q.query_id = n.query_id
  WHERE n.plan = 'final' AND x.role <> 'reads' AND n.kind NOT IN ('wrapper', 'shuffle_read')
) AS ran
WHERE place = 1
ORDER BY application_id NULLS LAST, start_time NULLS LAST, query_id NULLS LAST, position NULLS LAST, phase_id NULLS LAST
