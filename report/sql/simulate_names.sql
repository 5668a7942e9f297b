-- Jobs of a name under each scheduler and policy, compared with the same jobs of the same seeds under the first of them.
SELECT f.scheduler, f.policy, f.name, count(*) AS jobs,
    CAST(sum(TRY_CAST(round(f.took_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 / nullif(count(f.took_s), 0) AS mean_s,
    CAST(sum(TRY_CAST(round(f.node_local * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 / nullif(count(f.node_local), 0) AS node_local,
    CAST(sum(TRY_CAST(round(b.took_s / nullif(f.took_s, 0) * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6
        / nullif(count(b.took_s / nullif(f.took_s, 0)), 0) AS gain,
    max(b.took_s / nullif(f.took_s, 0)) AS most
FROM (
    SELECT r.run_id, r.scheduler, r.policy, r.seed, j.name, j.job, j.took_s, j.node_local
    FROM simulate_jobs j JOIN simulate_runs r ON r.run_id = j.run_id
) f JOIN (
    SELECT r.seed, j.job, j.took_s
    FROM simulate_jobs j JOIN simulate_runs r ON r.run_id = j.run_id JOIN (
        SELECT scheduler, policy FROM simulate_runs WHERE run_id = (SELECT min(run_id) FROM simulate_runs)
    ) m ON m.scheduler = r.scheduler AND m.policy = r.policy
) b ON b.seed = f.seed AND b.job = f.job
WHERE f.name IN (SELECT name FROM (SELECT name, count(*) AS n FROM simulate_jobs GROUP BY name ORDER BY n DESC NULLS LAST, name NULLS LAST LIMIT 12) t)
GROUP BY f.scheduler, f.policy, f.name
ORDER BY f.name NULLS LAST, min(f.run_id) NULLS LAST
LIMIT 500
