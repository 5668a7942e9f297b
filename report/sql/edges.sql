-- The dependencies of every job in order of job. Needs report_apps.
SELECT e.job_id, e.from_phase, e.to_phase
FROM edges e JOIN jobs j ON j.job_id = e.job_id SEMI JOIN report_apps r ON r.application_id = j.application_id
ORDER BY e.job_id NULLS LAST, e.from_phase NULLS LAST, e.to_phase NULLS LAST
