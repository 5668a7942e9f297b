-- The outputs lost on each machine in each run: takes losses, phases and jobs.
SELECT j.application_id, l.machine, count(*) AS losses
FROM losses AS l
JOIN phases AS p ON p.phase_id = l.phase_id
JOIN jobs AS j ON j.job_id = p.job_id
WHERE l.machine IS NOT NULL
GROUP BY j.application_id, l.machine
