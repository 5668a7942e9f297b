-- Verdicts by cause and machine, the location of the cause if known. Sums are of integers, which do not depend on their order.
-- Needs report_apps.
SELECT c.cause, coalesce(CASE WHEN c.place LIKE 'machine %' THEN substr(c.place, 9) END, a.machine, '') AS machine, count(*) AS n, count(c.confidence) AS rated,
  CAST(sum(CAST(round(c.seconds * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS seconds,
  CAST(coalesce(sum(CAST(round(c.confidence * 1e6) AS BIGINT)), 0) AS DOUBLE) / 1e6 AS confidence
FROM attributions c JOIN attempts a ON a.attempt_id = c.attempt_id
  SEMI JOIN report_apps r ON r.application_id = a.application_id
WHERE c.rank = 1
GROUP BY c.cause, coalesce(CASE WHEN c.place LIKE 'machine %' THEN substr(c.place, 9) END, a.machine, '')
ORDER BY c.cause NULLS LAST, seconds DESC NULLS LAST, machine NULLS LAST
