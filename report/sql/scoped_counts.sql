-- What a job or a phase consists of: one row. Needs report_apps and report_scope_phases.
SELECT
  a.applications, a.incomplete, CAST(NULL AS TIMESTAMP) AS first_start, CAST(NULL AS TIMESTAMP) AS last_finish,
  CAST(1 AS BIGINT) AS jobs, p.phases, p.skipped, t.attempts, t.machines, t.start_time, t.finish_time, t.task_s,
  CAST(0 AS BIGINT) AS rejects, CAST(0 AS BIGINT) AS listed, o.outliers
FROM
  (SELECT count(*) AS applications, count(*) FILTER (WHERE NOT complete) AS incomplete
   FROM applications a SEMI JOIN report_apps r ON r.application_id = a.application_id) a
  CROSS JOIN (SELECT count(*) FILTER (WHERE p.status <> 'skipped') AS phases, count(*) FILTER (WHERE p.status = 'skipped') AS skipped
              FROM phases p SEMI JOIN report_scope_phases r ON r.phase_id = p.phase_id) p
  CROSS JOIN (SELECT count(*) AS attempts, count(DISTINCT machine) AS machines, min(start_time) AS start_time, max(finish_time) AS finish_time,
                CAST(sum(CAST(round(CASE WHEN duration_s BETWEEN 0 AND 1e9 THEN duration_s END * 1e6) AS BIGINT)) AS DOUBLE) / 1e6 AS task_s
              FROM attempts t SEMI JOIN report_scope_phases r ON r.phase_id = t.phase_id) t
  CROSS JOIN (SELECT count(DISTINCT o.attempt_id) AS outliers
              FROM attributions o JOIN attempts x ON x.attempt_id = o.attempt_id SEMI JOIN report_scope_phases r ON r.phase_id = x.phase_id) o
