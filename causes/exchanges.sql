-- The exchanges that the phases of queries read, by keys, and whether adaptive execution coalesced or split their partitions,
-- in which case the number of a task does not identify keys.
SELECT x.phase_id, app.name AS program, n.keys, n.tables, n.kind = 'shuffle_read' AS merged
FROM node_phases x
JOIN plan_nodes n ON n.node_id = x.node_id
JOIN queries q ON q.query_id = n.query_id
JOIN applications app ON app.application_id = q.application_id
WHERE n.plan = 'final' AND (n.kind = 'exchange' AND x.role = 'reads' AND n.keys IS NOT NULL OR n.kind = 'shuffle_read' AND (n.coalesced OR n.split))
ORDER BY x.phase_id NULLS LAST, n.position NULLS LAST, n.node_id NULLS LAST
