-- The picked queries. Needs report_picked_queries.
SELECT q.query_id, q.application_id, a.native_id AS application, q.native_id, q.description, q.start_time, q.finish_time, q.status, q.adaptive,
  q.operators, q.plan_fingerprint
FROM queries q JOIN applications a ON a.application_id = q.application_id SEMI JOIN report_picked_queries r ON r.query_id = q.query_id
ORDER BY q.query_id NULLS LAST
