-- The operators of the final plans, parents first, of queries that may have findings: those with tasks slowed by their data,
-- with partitions that adaptive execution split, with joins of many rows or exchanges of many bytes.
WITH wanted AS (
  SELECT DISTINCT q.query_id
  FROM attributions a
  JOIN attempts t ON t.attempt_id = a.attempt_id
  JOIN query_jobs q ON q.job_id = t.job_id
  WHERE a.cause = 'data_skew' AND a.seconds > 0
  UNION
  SELECT DISTINCT query_id FROM plan_nodes WHERE split
  UNION
  SELECT DISTINCT n.query_id
  FROM plan_nodes n
  JOIN node_metrics m ON m.node_id = n.node_id
  WHERE n.kind = 'join' AND m.name IN ('number of output rows', 'output rows', 'rows output') AND m.value >= 1e6
     OR n.kind IN ('exchange', 'broadcast') AND m.name = 'data size' AND m.value >= 1e8
)
SELECT n.query_id, n.node_id, n.parent_id, n.reuses_id, n.position, n.kind, n.operator, n.engine, n.keys, n.right_keys, n.detail, n.join_type, n.source, n.tables,
       n.coalesced, n.split, n.fingerprint
FROM plan_nodes n
JOIN wanted w ON w.query_id = n.query_id
WHERE n.plan = 'final'
ORDER BY n.query_id NULLS LAST, n.position NULLS LAST
