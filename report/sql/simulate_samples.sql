-- Slots, waiting tasks and links over time in the runs of the first seed; of queues the five that use most.
SELECT r.run_id, r.scheduler, r.policy, s.time_s, s.what, s.queue, s.value
FROM simulate_samples s JOIN simulate_runs r ON r.run_id = s.run_id
WHERE r.seed = (SELECT min(seed) FROM simulate_runs) AND (s.queue = '' OR s.queue IN (
    SELECT queue FROM (
        SELECT queue, sum(TRY_CAST(round(value * 1e6) AS DECIMAL(28, 0))) AS used FROM simulate_samples WHERE queue <> '' GROUP BY queue ORDER BY used DESC NULLS LAST, queue NULLS LAST LIMIT 5
    ) t))
ORDER BY r.run_id NULLS LAST, s.what NULLS LAST, s.queue NULLS LAST, s.time_s NULLS LAST
LIMIT 200000
