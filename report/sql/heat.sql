-- How each machine did in the picked phases. Needs report_tasks.
SELECT phase_id, machine, count(*) AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY d) AS median_s
FROM report_tasks
WHERE machine IS NOT NULL
GROUP BY phase_id, machine
ORDER BY phase_id NULLS LAST, machine NULLS LAST
