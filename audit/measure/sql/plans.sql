-- The operators of the final plans of each application's queries that determine how a query runs: joins, exchanges, scans,
-- groups. With the bytes that scans read, and the broadcast threshold of the query's session.
SELECT q.application_id, q.query_id, q.description, q.shape, q.plan_fingerprint, n.kind, n.operator, n.keys, n.right_keys, n.join_type, n.source, n.detail,
  m.rows_read, m.bytes_read, coalesce(o.value, s.value) AS broadcast_threshold
FROM queries q
JOIN plan_nodes n ON n.query_id = q.query_id
LEFT JOIN (
  SELECT node_id, max(CASE WHEN name = 'number of output rows' THEN value END) AS rows_read, max(CASE WHEN name = 'size of files read' THEN value END) AS bytes_read
  FROM node_metrics
  WHERE name IN ('number of output rows', 'size of files read') AND node_id IS NOT NULL
  GROUP BY node_id
) AS m ON m.node_id = n.node_id AND n.kind = 'scan'
LEFT JOIN query_settings o ON o.query_id = q.query_id AND o.name = 'spark.sql.autoBroadcastJoinThreshold'
LEFT JOIN settings s ON s.application_id = q.application_id AND s.name = 'spark.sql.autoBroadcastJoinThreshold'
WHERE n.plan = 'final' AND q.plan_fingerprint IS NOT NULL AND q.shape IS NOT NULL
  AND n.kind IN ('join', 'exchange', 'broadcast', 'scan', 'aggregate', 'window')
ORDER BY q.application_id NULLS LAST, q.start_time NULLS LAST, q.query_id NULLS LAST, n.position NULLS LAST
