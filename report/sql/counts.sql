-- How much was read: one row. Needs report_apps and report_rejects.
SELECT
  a.applications, a.incomplete, a.first_start, a.last_finish, j.jobs, p.phases, p.skipped, t.attempts, t.machines,
  t.start_time, t.finish_time, t.task_s,
  (SELECT count(*) FROM report_rejects) AS rejects,
  (SELECT count(DISTINCT machine) FROM machines WHERE application_id IS NULL) AS listed,
  (SELECT count(DISTINCT o.attempt_id)
   FROM attributions o JOIN phases p ON p.phase_id = o.phase_id JOIN jobs j ON j.job_id = p.job_id SEMI JOIN report_apps r ON r.application_id = j.application_id) AS outliers
FROM
  (SELECT count(*) AS applications, count(*) FILTER (WHERE NOT complete) AS incomplete,
     min(start_time) AS first_start, max(finish_time) AS last_finish
   FROM applications a SEMI JOIN report_apps r ON r.application_id = a.application_id) a
  CROSS JOIN (SELECT count(*) AS jobs FROM jobs j SEMI JOIN report_apps r ON r.application_id = j.application_id) j
  CROSS JOIN (SELECT count(*) FILTER (WHERE p.status <> 'skipped') AS phases, count(*) FILTER (WHERE p.status = 'skipped') AS skipped
              FROM phases p JOIN jobs j ON j.job_id = p.job_id SEMI JOIN report_apps r ON r.application_id = j.application_id) p
  CROSS JOIN (SELECT count(*) AS attempts, count(DISTINCT machine) AS machines, min(start_time) AS start_time, max(finish_time) AS finish_time,
                CAST(sum(CAST(round(CASE WHEN duration_s BETWEEN 0 AND 1e9 THEN duration_s END * 1e6) AS BIGINT)) AS DOUBLE) / 1e6 AS task_s
              FROM attempts t SEMI JOIN report_apps r ON r.application_id = t.application_id) t
