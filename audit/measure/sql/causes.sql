-- Seconds of excess by phase and cause, and sums of their squares, which show how many tasks they are spread over.
SELECT j.application_id, t.phase_id, t.cause, sum(t.seconds) AS seconds, sum(t.seconds * t.seconds) AS squares
FROM attributions t JOIN phases p ON p.phase_id = t.phase_id JOIN jobs j ON j.job_id = p.job_id
GROUP BY j.application_id, t.phase_id, t.cause
ORDER BY j.application_id NULLS LAST, t.phase_id NULLS LAST, t.cause NULLS LAST
