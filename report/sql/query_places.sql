-- In which phases the operators of the drawn queries ran. Needs report_drawn_queries.
SELECT DISTINCT p.query_id, p.node_id, p.phase_id, p.role, s.native_id AS phase, s.attempt
FROM node_phases p SEMI JOIN report_drawn_queries r ON r.query_id = p.query_id JOIN phases s ON s.phase_id = p.phase_id
ORDER BY p.query_id NULLS LAST, p.node_id NULLS LAST, p.phase_id NULLS LAST, p.role NULLS LAST
