-- Speculative copies and how many of them won. Needs report_apps.
SELECT count(*) AS copies, count(*) FILTER (WHERE a.status = 'success') AS wins
FROM attempts a SEMI JOIN report_apps r ON r.application_id = a.application_id
WHERE a.speculative
