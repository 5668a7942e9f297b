-- Seconds of excess by phase and cause, and sums of their squares, which show how many tasks they are spread over.
SELECT j.application_id, t.phase_id, t.cause,
  CAST(sum(CAST(round(t.seconds * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS seconds,
  CAST(sum(CAST(round(least(t.seconds * t.seconds, 1e24) * 1e6) AS DECIMAL(31, 0))) AS DOUBLE) / 1e6 AS squares
FROM attributions t JOIN phases p ON p.phase_id = t.phase_id JOIN jobs j ON j.job_id = p.job_id
GROUP BY j.application_id, t.phase_id, t.cause
ORDER BY j.application_id NULLS LAST, t.phase_id NULLS LAST, t.cause NULLS LAST
