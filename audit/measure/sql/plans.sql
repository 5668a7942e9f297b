-- What the queries of each application did, by the operators of the plans that ran which say how: joins, exchanges, scans, groups.
SELECT q.application_id, q.query_id, q.description, q.shape, q.plan_fingerprint, n.kind, n.operator, n.keys, n.right_keys, n.join_type, n.source, n.detail
FROM queries q
JOIN plan_nodes n ON n.query_id = q.query_id
WHERE n.plan = 'final' AND q.plan_fingerprint IS NOT NULL AND q.shape IS NOT NULL
  AND n.kind IN ('join', 'exchange', 'broadcast', 'scan', 'aggregate', 'window')
ORDER BY q.application_id NULLS LAST, q.start_time NULLS LAST, q.query_id NULLS LAST, n.position NULLS LAST
