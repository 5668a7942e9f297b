-- All phases of the store as executions of stages: kind and name, and the program of the application, are those of the stage, and submissions of one stage in
-- an application share native_id. The first counts where it has attempts.
SELECT p.phase_id, j.application_id, p.native_id, p.kind, p.name, p.attempt = 0 AS is_first FROM phases p JOIN jobs j ON j.job_id = p.job_id
