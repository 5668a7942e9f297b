-- The phases of every job in order of job. Needs report_apps and report_redone.
SELECT j.application_id, j.job_id, p.phase_id, d.phase_id IS NOT NULL AS recompute, p.start_time, p.finish_time, s.lost_s, s.attempts, s.tasks,
  j.submit_time AS job_submit, coalesce(j.submit_time, j.start_time) AS job_start, j.finish_time AS job_finish
FROM jobs j SEMI JOIN report_apps r ON r.application_id = j.application_id
  LEFT JOIN (SELECT * FROM phases WHERE status <> 'skipped') p ON p.job_id = j.job_id
  LEFT JOIN report_redone d ON d.phase_id = p.phase_id
  LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
ORDER BY j.job_id NULLS LAST, p.phase_id NULLS LAST
