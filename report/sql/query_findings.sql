-- The findings about the queries of the report, with the phase of each. Needs report_apps.
SELECT f.query_id, f.kind, f.phase_id, p.native_id AS phase, p.attempt AS phase_attempt, f.node_id, f.operator_id, f.operator, f.keys, f.side, f.tables, f.other,
  f.task, f.rows, f.ratio, f.bytes, f.tasks, f.partitions, f.seconds, f.query_s, f.saves_s, f.split_into, f.remedy, f.apply, f.why_not, f.attempt_id
FROM query_findings f JOIN queries q ON q.query_id = f.query_id SEMI JOIN report_apps r ON r.application_id = q.application_id
  LEFT JOIN phases p ON p.phase_id = f.phase_id
ORDER BY f.query_id NULLS LAST, f.seconds DESC NULLS LAST, f.node_id NULLS LAST, f.phase_id NULLS LAST
