-- The operators of the final plans of an application's queries. {key} is the application's.
SELECT n.query_id, n.position, n.operator, n.codegen, p.position AS parent
FROM plan_nodes n JOIN (SELECT query_id FROM queries WHERE application_id = {key}) q ON q.query_id = n.query_id
  LEFT JOIN plan_nodes p ON p.node_id = n.parent_id
WHERE n.plan = 'final'
ORDER BY n.query_id, n.position
