-- All phases of the store as executions of stages, which are identified by kind, name and the program of the application.
-- Submissions of one stage in an application share native_id; the first one with attempts counts.
SELECT p.phase_id, j.application_id, p.native_id, p.kind, p.name, p.attempt = 0 AS is_first FROM phases p JOIN jobs j ON j.job_id = p.job_id
