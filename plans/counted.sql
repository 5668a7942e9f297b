-- Rows that attempts slowed by their data read from exchanges and scans; the totals of each operator over all attempts; how
-- many partitions adaptive execution split; and how many tasks wrote an exchange.
SELECT n.query_id, n.node_id, c.attempt_id, c.name, c.value
FROM node_attempts c
JOIN plan_nodes n ON n.node_id = c.node_id
JOIN attributions a ON a.attempt_id = c.attempt_id
WHERE a.cause = 'data_skew' AND a.seconds > 0 AND n.kind IN ('exchange', 'scan') AND c.name IN ('records read', 'number of output rows', 'output rows', 'rows output')
UNION ALL
SELECT m.query_id, m.node_id, CAST(NULL AS BIGINT), m.name, m.value
FROM node_metrics m
JOIN plan_nodes n ON n.node_id = m.node_id
WHERE m.name IN ('records read', 'number of output rows', 'output rows', 'rows output', 'shuffle records written', 'data size')
   OR n.kind = 'shuffle_read' AND m.name IN ('number of skewed partitions', 'number of skewed partition splits')
UNION ALL
SELECT x.query_id, x.node_id, CAST(NULL AS BIGINT), 'tasks that write it', CAST(max(p.task_count) AS DOUBLE)
FROM node_phases x
JOIN plan_nodes n ON n.node_id = x.node_id
JOIN phases p ON p.phase_id = x.phase_id
WHERE x.role = 'writes' AND n.kind = 'exchange' AND p.task_count IS NOT NULL
GROUP BY x.query_id, x.node_id
ORDER BY query_id NULLS LAST, node_id NULLS LAST, attempt_id NULLS LAST, name NULLS LAST
