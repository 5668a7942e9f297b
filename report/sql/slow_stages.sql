-- Of the picked applications, the stages whose median task took longer than it usually does in runs of that name, by the time that all
-- their tasks took more, with what stage_history says that they spent it on. A stage is known by its name and kind. Needs report_slow_apps.
WITH stages AS (
  SELECT j.application_id, a.name AS program, p.phase_id, p.native_id, coalesce(p.name, '') AS stage, p.kind, s.median_s, s.succeeded, s.outliers
  FROM phases p JOIN jobs j ON j.job_id = p.job_id JOIN applications a ON a.application_id = j.application_id
    JOIN phase_stats s ON s.phase_id = p.phase_id
  WHERE a.name IS NOT NULL AND s.median_s IS NOT NULL AND NOT p.recompute
),
usual AS (
  SELECT program, stage, kind, percentile_cont(0.5) WITHIN GROUP (ORDER BY median_s) AS usual_s, count(DISTINCT application_id) AS runs,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(succeeded AS DOUBLE)) AS usual_tasks
  FROM stages GROUP BY program, stage, kind HAVING count(DISTINCT application_id) >= 4
)
SELECT t.application_id, t.phase_id, t.native_id, t.stage, t.kind, t.median_s, u.usual_s, u.runs, t.outliers, t.succeeded AS tasks, u.usual_tasks,
  h.work_ratio, h.cpu_s, h.usual_cpu_s, h.wait_s, h.usual_wait_s, t.succeeded * (t.median_s - u.usual_s) AS more_s
FROM stages t SEMI JOIN report_slow_apps r ON r.application_id = t.application_id
  JOIN usual u ON u.program = t.program AND u.stage = t.stage AND u.kind = t.kind
  LEFT JOIN stage_history h ON h.phase_id = t.phase_id
WHERE t.median_s > 1.2 * u.usual_s
ORDER BY more_s DESC NULLS LAST, t.phase_id NULLS LAST
LIMIT 1000
