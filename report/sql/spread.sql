-- How long the tasks of the picked phases took. Needs report_tasks: phase_id, attempt_id, task, machine, d, cause.
SELECT phase_id, count(*) AS n, count(cause) AS outliers, min(d) AS min_s,
  percentile_cont(0.25) WITHIN GROUP (ORDER BY d) AS p25_s,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY d) AS median_s,
  percentile_cont(0.75) WITHIN GROUP (ORDER BY d) AS p75_s,
  percentile_cont(0.95) WITHIN GROUP (ORDER BY d) AS p95_s,
  max(d) AS max_s
FROM report_tasks
GROUP BY phase_id
ORDER BY phase_id NULLS LAST
