-- How many machines were judged over all runs, and how many were slow in some window, or flaky in one and slow in none: takes
-- machine_health.
SELECT count(*) AS machines, count(*) FILTER (WHERE slow = 1) AS slow, count(*) FILTER (WHERE slow = 0 AND flaky = 1) AS flaky
FROM (
  SELECT machine,
    max(CASE WHEN verdict = 'slow' THEN 1 ELSE 0 END) AS slow,
    max(CASE WHEN verdict = 'flaky' THEN 1 ELSE 0 END) AS flaky
  FROM machine_health
  WHERE application_id IS NULL
  GROUP BY machine
) AS m
