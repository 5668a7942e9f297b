-- Settings of the picked applications that differ from those of all earlier runs of their program, where these agree: a setting that has another
-- value in each run, such as an address, never does. Three earlier runs or more must have it. Needs report_slow_apps and
-- report_programs.
WITH earlier AS (
  SELECT a.application_id, b.application_id AS earlier_id
  FROM applications a SEMI JOIN report_slow_apps r ON r.application_id = a.application_id
    JOIN report_programs n ON n.application_id = a.application_id JOIN report_programs m ON m.program = n.program
    JOIN applications b ON b.application_id = m.application_id AND b.start_time < a.start_time
),
runs AS (SELECT application_id, count(*) AS runs FROM earlier GROUP BY application_id HAVING count(*) >= 3),
was AS (
  SELECT e.application_id, s.name, min(s.value) AS was, max(s.value) AS most, count(DISTINCT e.earlier_id) AS runs
  FROM earlier e JOIN settings s ON s.application_id = e.earlier_id
  GROUP BY e.application_id, s.name
)
SELECT w.application_id, w.name, w.was, s.value, w.runs
FROM was w JOIN runs n ON n.application_id = w.application_id AND n.runs = w.runs
  LEFT JOIN (SELECT application_id, name, min(value) AS value FROM settings GROUP BY application_id, name) AS s
    ON s.application_id = w.application_id AND s.name = w.name
WHERE w.was = w.most AND (s.value IS NULL OR s.value <> w.was)
ORDER BY w.application_id NULLS LAST, w.name NULLS LAST
LIMIT 1000
