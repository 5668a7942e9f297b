-- The picked jobs. Needs report_picked_jobs.
SELECT j.job_id, j.application_id, a.native_id AS application, j.native_id, j.name, j.submit_time, j.start_time, j.finish_time, j.status,
  coalesce(p.phases, 0) AS phases, CAST(coalesce(p.tasks, 0) AS BIGINT) AS tasks
FROM jobs j JOIN applications a ON a.application_id = j.application_id
  SEMI JOIN report_picked_jobs r ON r.job_id = j.job_id
  LEFT JOIN (SELECT p.job_id, count(*) AS phases, sum(s.tasks) AS tasks
             FROM phases p LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
             WHERE p.status <> 'skipped' GROUP BY p.job_id) p ON p.job_id = j.job_id
ORDER BY j.job_id NULLS LAST
