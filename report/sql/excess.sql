-- Excess by job and cause, over all slots. Sums are of microseconds, which add up the same in any order. Needs report_apps.
SELECT j.application_id, j.job_id, c.cause, count(*) FILTER (WHERE c.rank = 1) AS outliers,
  CAST(sum(CAST(round(c.seconds * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS sum_s
FROM attributions c JOIN phases p ON p.phase_id = c.phase_id JOIN jobs j ON j.job_id = p.job_id
  SEMI JOIN report_apps r ON r.application_id = j.application_id
GROUP BY j.application_id, j.job_id, c.cause
ORDER BY j.job_id NULLS LAST, c.cause NULLS LAST
