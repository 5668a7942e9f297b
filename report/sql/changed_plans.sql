-- Queries of the picked applications with another plan than the query of that name in all earlier runs of their program, if
-- these agree, with the operators that occur more or less often; without operators if the plan has the same ones. At least
-- three earlier runs must have the query. Needs report_earlier.
WITH runs AS (SELECT application_id, count(*) AS runs FROM report_earlier GROUP BY application_id HAVING count(*) >= 3),
was AS (
  SELECT e.application_id, q.description, min(q.plan_fingerprint) AS was, max(q.plan_fingerprint) AS most, min(q.query_id) AS query_id, count(DISTINCT e.earlier_id) AS runs
  FROM report_earlier e JOIN queries q ON q.application_id = e.earlier_id
  WHERE q.description IS NOT NULL AND q.plan_fingerprint IS NOT NULL
  GROUP BY e.application_id, q.description
),
changed AS (
  SELECT w.application_id, w.description, min(q.query_id) AS query_id, min(w.query_id) AS earlier_id, min(w.runs) AS runs
  FROM was w JOIN runs n ON n.application_id = w.application_id AND n.runs = w.runs
    JOIN queries q ON q.application_id = w.application_id AND q.description = w.description
  WHERE w.was = w.most AND q.plan_fingerprint IS NOT NULL
  GROUP BY w.application_id, w.description
  HAVING min(CASE WHEN q.plan_fingerprint = w.was THEN 0 ELSE 1 END) = 1
),
counted AS (
  SELECT c.query_id, n.operator, CAST(sum(CASE WHEN n.query_id = c.query_id THEN 1 ELSE 0 END) AS BIGINT) AS now,
    CAST(sum(CASE WHEN n.query_id = c.query_id THEN 0 ELSE 1 END) AS BIGINT) AS usually
  FROM (SELECT query_id, query_id AS of_id FROM changed UNION ALL SELECT query_id, earlier_id FROM changed) AS c
    JOIN plan_nodes n ON n.query_id = c.of_id
  WHERE n.plan = 'final' AND n.kind IN ('join', 'exchange', 'broadcast', 'scan', 'aggregate', 'window', 'sort')
  GROUP BY c.query_id, n.operator
)
SELECT c.application_id, q.native_id, c.description, c.runs, d.operator, d.now, d.usually
FROM changed c JOIN queries q ON q.query_id = c.query_id
  LEFT JOIN (SELECT * FROM counted WHERE now <> usually) AS d ON d.query_id = c.query_id
ORDER BY c.application_id NULLS LAST, c.query_id NULLS LAST, d.operator NULLS LAST
LIMIT 1000
