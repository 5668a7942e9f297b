-- Completion times by scheduler and policy: fifty steps of their distribution over all seeds.
SELECT scheduler, policy, took_s, CAST(place AS DOUBLE) / nullif(n, 0) AS share
FROM (
    SELECT r.scheduler, r.policy, j.took_s,
        row_number() OVER (PARTITION BY r.scheduler, r.policy ORDER BY j.took_s NULLS LAST, j.run_id NULLS LAST, j.job NULLS LAST) AS place,
        count(*) OVER (PARTITION BY r.scheduler, r.policy) AS n
    FROM simulate_jobs j JOIN simulate_runs r ON r.run_id = j.run_id
) p
WHERE floor(CAST(place AS DOUBLE) * 50 / nullif(n, 0)) > floor((CAST(place AS DOUBLE) - 1) * 50 / nullif(n, 0))
ORDER BY scheduler NULLS LAST, policy NULLS LAST, place NULLS LAST
LIMIT 20000
