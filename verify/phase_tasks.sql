-- How many different tasks of a phase have attempts.
SELECT p.phase_id, p.task_count, count(DISTINCT a.task) AS tasks
FROM phases p
JOIN attempts a ON a.phase_id = p.phase_id
WHERE p.task_count IS NOT NULL
GROUP BY p.phase_id, p.task_count
HAVING count(DISTINCT a.task) > p.task_count
