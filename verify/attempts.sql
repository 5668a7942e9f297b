-- Attempts whose phase there is, with what the laws compare of the phase and of the job.
SELECT a.attempt_id, a.phase_id, a.job_id, a.application_id, a.task, a.start_time, a.finish_time, a.quality,
       p.job_id AS phase_job, p.status AS phase_status, p.start_time AS phase_start, p.finish_time AS phase_finish,
       p.attempt AS phase_attempt, p.recompute AS phase_recompute, p.task_count,
       j.application_id AS job_application
FROM attempts a
JOIN phases p ON p.phase_id = a.phase_id
LEFT JOIN jobs j ON j.job_id = a.job_id
