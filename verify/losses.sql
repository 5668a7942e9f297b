-- Lost outputs with the attempt that made each and the one that made it again.
SELECT l.phase_id, l.task, l.attempt_id, l.recomputed_by, l.time,
       m.phase_id AS attempt_phase, m.task AS attempt_task, r.finish_time AS recomputed_finish
FROM losses l
LEFT JOIN attempts m ON m.attempt_id = l.attempt_id
LEFT JOIN attempts r ON r.attempt_id = l.recomputed_by
