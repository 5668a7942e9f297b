-- Settings of the picked applications that differ from those of all earlier runs of their program, if these agree, which
-- excludes settings with another value in each run, such as an address. At least three earlier runs must have it. Needs
-- report_earlier.
WITH runs AS (SELECT application_id, count(*) AS runs FROM report_earlier GROUP BY application_id HAVING count(*) >= 3),
was AS (
  SELECT e.application_id, s.name, min(s.value) AS was, max(s.value) AS most, count(DISTINCT e.earlier_id) AS runs
  FROM report_earlier e JOIN settings s ON s.application_id = e.earlier_id
  GROUP BY e.application_id, s.name
)
SELECT w.application_id, w.name, w.was, s.value, w.runs
FROM was w JOIN runs n ON n.application_id = w.application_id AND n.runs = w.runs
  LEFT JOIN (SELECT application_id, name, min(value) AS value FROM settings GROUP BY application_id, name) AS s
    ON s.application_id = w.application_id AND s.name = w.name
WHERE w.was = w.most AND (s.value IS NULL OR s.value <> w.was)
ORDER BY w.application_id NULLS LAST, w.name NULLS LAST
LIMIT 1000
