-- The tasks of the picked phases that are drawn one by one: all of a small phase, the slowest outliers of a large one.
-- Needs report_tasks.
SELECT phase_id, attempt_id, task, machine, d AS duration_s, coalesce(cause, '') AS cause
FROM (
  SELECT t.*, count(*) OVER (PARTITION BY phase_id) AS n,
    row_number() OVER (PARTITION BY phase_id ORDER BY CASE WHEN cause IS NULL THEN 1 ELSE 0 END NULLS LAST, d DESC NULLS LAST, attempt_id NULLS LAST) AS place
  FROM report_tasks t
) x
WHERE n <= 200 OR cause IS NOT NULL AND place <= 60
ORDER BY phase_id NULLS LAST, d NULLS LAST, attempt_id NULLS LAST
