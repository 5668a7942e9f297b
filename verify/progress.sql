-- Progress samples with the times of their attempts.
SELECT p.attempt_id, p.time, a.start_time, a.finish_time
FROM progress p
JOIN attempts a ON a.attempt_id = p.attempt_id
