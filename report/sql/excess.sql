-- Excess by job and cause, over all slots. Sums are of microseconds, which add up the same in any order. Needs report_apps.
SELECT a.application_id, a.job_id, c.cause, count(*) FILTER (WHERE c.rank = 1) AS outliers,
  CAST(sum(CAST(round(c.seconds * 1e6) AS BIGINT)) AS DOUBLE) / 1e6 AS sum_s
FROM attributions c JOIN attempts a ON a.attempt_id = c.attempt_id
  SEMI JOIN report_apps r ON r.application_id = a.application_id
GROUP BY a.application_id, a.job_id, c.cause
ORDER BY a.job_id NULLS LAST, c.cause NULLS LAST
