-- Operators with those that read them, and rows that place an operator with the operator.
SELECT 'plan_nodes' AS table_name, n.node_id, n.query_id, n.plan, n.position,
       p.query_id AS other_query, p.plan AS other_plan, p.position AS other_position
FROM plan_nodes n
JOIN plan_nodes p ON p.node_id = n.parent_id
WHERE p.query_id <> n.query_id OR p.plan <> n.plan OR p.position >= n.position
UNION ALL
SELECT 'node_phases', r.node_id, r.query_id, 'final', 0, n.query_id, n.plan, 0
FROM node_phases r
JOIN plan_nodes n ON n.node_id = r.node_id
WHERE n.query_id <> r.query_id OR n.plan <> 'final'
