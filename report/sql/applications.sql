-- The picked applications. Needs report_picked_apps.
SELECT a.application_id, a.native_id, a.name, a.user, a.framework, a.framework_version, a.start_time, a.finish_time, a.status,
  a.source_file, a.complete, a.time_origin, coalesce(j.jobs, 0) AS jobs, coalesce(t.attempts, 0) AS attempts
FROM applications a
  SEMI JOIN report_picked_apps r ON r.application_id = a.application_id
  LEFT JOIN (SELECT application_id, count(*) AS jobs FROM jobs GROUP BY application_id) j ON j.application_id = a.application_id
  LEFT JOIN (SELECT t.application_id, count(*) AS attempts FROM attempts t SEMI JOIN report_picked_apps r ON r.application_id = t.application_id
             GROUP BY t.application_id) t ON t.application_id = a.application_id
ORDER BY a.application_id NULLS LAST
