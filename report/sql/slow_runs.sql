-- Applications that took longer than runs of their name usually do: a fifth more than their median, and three robust standard
-- deviations more (1.4826 x the median absolute deviation, which is that of a normal distribution). Of fewer than four runs the
-- median says too little. usual_s and scatter_s are of all runs of the name in the store, this one among them.
WITH took AS (
  SELECT application_id, native_id, name, start_time, CAST(unix_micros(finish_time) - unix_micros(start_time) AS DOUBLE) / 1e6 AS took_s
  FROM applications
  WHERE name IS NOT NULL AND complete AND finish_time > start_time AND (status IS NULL OR status = 'succeeded')
),
usual AS (
  SELECT name, count(*) AS runs, percentile_cont(0.5) WITHIN GROUP (ORDER BY took_s) AS usual_s
  FROM took GROUP BY name HAVING count(*) >= 4
),
scatter AS (
  SELECT t.name, 1.4826 * percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(t.took_s - u.usual_s)) AS scatter_s
  FROM took t JOIN usual u ON u.name = t.name GROUP BY t.name
)
SELECT t.application_id, t.native_id, t.name, t.start_time, t.took_s, u.usual_s, s.scatter_s, u.runs
FROM took t JOIN usual u ON u.name = t.name JOIN scatter s ON s.name = t.name
WHERE t.took_s > 1.2 * u.usual_s AND t.took_s - u.usual_s > 3 * s.scatter_s
ORDER BY t.took_s - u.usual_s DESC NULLS LAST, t.application_id NULLS LAST
LIMIT 1000
