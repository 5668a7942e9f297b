-- The part of its query's plan that each phase ran: takes queries, plan_nodes and node_phases, returns the fingerprint of one
-- operator for each phase of a query.
--
-- It is the operator nearest to the root, since its fingerprint covers all those below it, preferably one that transforms the
-- rows. What a phase reads from an exchange was run by another phase. For a phase shared by several queries, the first query
-- counts.
SELECT phase_id, fingerprint
FROM (
  SELECT x.phase_id, n.fingerprint,
    row_number() OVER (PARTITION BY x.phase_id ORDER BY q.start_time NULLS LAST, q.query_id NULLS LAST,
      CASE WHEN n.kind IN ('other', 'filter', 'project') THEN 1 ELSE 0 END NULLS LAST, n.position NULLS LAST, n.node_id NULLS LAST) AS place
  FROM node_phases x JOIN plan_nodes n ON n.node_id = x.node_id JOIN queries q ON q.query_id = n.query_id
  WHERE n.plan = 'final' AND x.role <> 'reads' AND n.kind NOT IN ('wrapper', 'shuffle_read')
) AS ran
WHERE place = 1
