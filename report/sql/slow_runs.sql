-- The picked applications that took longer than earlier runs of their program: a fifth more than the median of these, and more
-- than the prediction limit for one more run, which is that of stage_history (detect/usual.sql) in seconds. At least three
-- earlier runs are required; of more than 64, an evenly spaced sample is used, as in detect/earlier.sql. Needs report_apps and
-- report_programs.
WITH took AS (
  SELECT i.application_id, i.native_id, i.name, n.program, i.start_time, CAST(unix_micros(i.finish_time) - unix_micros(i.start_time) AS DOUBLE) / 1e6 AS took_s,
    row_number() OVER (PARTITION BY n.program ORDER BY i.start_time NULLS LAST, i.application_id NULLS LAST) AS place
  FROM applications i JOIN report_programs n ON n.application_id = i.application_id
  WHERE i.complete AND i.finish_time > i.start_time AND coalesce(i.status, 'unknown') IN ('succeeded', 'unknown')
),
earlier AS (
  SELECT t.application_id, e.took_s
  FROM (
    SELECT t.application_id, t.program, t.place - 1 - c.k * CAST(floor((t.place + 62) * 0.015625e0) AS BIGINT) AS place
    FROM took t SEMI JOIN report_apps r ON r.application_id = t.application_id
      CROSS JOIN (
        SELECT 8 * a.n + b.n AS k
        FROM (SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)) AS a
          CROSS JOIN (SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)) AS v(n)) AS b
      ) AS c
  ) AS t
    JOIN took e ON e.program = t.program AND e.place = t.place
),
usual AS (
  SELECT application_id, count(*) AS runs, percentile_cont(0.5) WITHIN GROUP (ORDER BY took_s) AS usual_s, max(took_s) - min(took_s) AS range_s
  FROM earlier GROUP BY application_id HAVING count(*) >= 3
),
scatter AS (
  SELECT u.application_id, u.runs, u.usual_s,
    greatest(1.4826e0 * percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(e.took_s - u.usual_s)), max(u.range_s) / nullif(4 * sqrt(u.runs), 0)) AS scatter_s
  FROM usual u JOIN earlier e ON e.application_id = u.application_id
  GROUP BY u.application_id, u.runs, u.usual_s
)
SELECT t.application_id, t.native_id, t.name, t.program, t.start_time, t.took_s, s.usual_s, s.scatter_s, s.runs
FROM took t JOIN scatter s ON s.application_id = t.application_id
WHERE t.took_s > 1.2 * s.usual_s
  AND t.took_s - s.usual_s > (3 + 7.5e0 / nullif(s.runs - 1, 0) + 17.25e0 / nullif((s.runs - 1) * (s.runs - 1), 0)) * sqrt(1 + 1e0 / nullif(s.runs, 0)) * s.scatter_s
ORDER BY t.took_s - s.usual_s DESC NULLS LAST, t.application_id NULLS LAST
LIMIT 1000
