-- Which exchanges, scans and shuffle reads the phases with skewed tasks ran.
SELECT DISTINCT p.query_id, p.phase_id, p.node_id, p.role
FROM node_phases p
JOIN plan_nodes n ON n.node_id = p.node_id
JOIN attributions a ON a.phase_id = p.phase_id
WHERE a.cause = 'data_skew' AND a.seconds > 0 AND n.kind IN ('exchange', 'scan', 'shuffle_read')
ORDER BY p.query_id NULLS LAST, p.phase_id NULLS LAST, p.node_id NULLS LAST, p.role NULLS LAST
