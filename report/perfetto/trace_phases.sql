-- All phases by start, for a trace viewer. Needs report_apps.
SELECT a.native_id AS application, j.native_id AS job, h.native_id AS phase, h.attempt AS phase_attempt, h.name AS phase_name, h.start_time, h.finish_time, s.lost_s
FROM phases h JOIN jobs j ON j.job_id = h.job_id JOIN applications a ON a.application_id = j.application_id
  SEMI JOIN report_apps r ON r.application_id = j.application_id
  LEFT JOIN phase_stats s ON s.phase_id = h.phase_id
WHERE h.start_time IS NOT NULL AND h.finish_time IS NOT NULL
ORDER BY h.start_time NULLS LAST, h.phase_id NULLS LAST
