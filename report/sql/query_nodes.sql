-- The operators of the final plans of the picked queries, parents first, with the bytes that they spilled and the rows that
-- they returned. Needs report_drawn_queries.
SELECT n.query_id, n.node_id, n.parent_id, n.position, n.kind, n.operator, n.engine, n.detail, n.keys, n.right_keys, n.join_type, n.source, n.coalesced, n.split,
  max(CASE WHEN m.name = 'number of output rows' OR m.name = 'shuffle records written' THEN m.value END) AS rows,
  max(CASE WHEN m.name = 'spill size' THEN m.value END) AS spill_bytes
FROM plan_nodes n SEMI JOIN report_drawn_queries r ON r.query_id = n.query_id
  LEFT JOIN node_metrics m ON m.node_id = n.node_id
WHERE n.plan = 'final'
GROUP BY n.query_id, n.node_id, n.parent_id, n.position, n.kind, n.operator, n.engine, n.detail, n.keys, n.right_keys, n.join_type, n.source, n.coalesced, n.split
ORDER BY n.query_id NULLS LAST, n.position NULLS LAST
