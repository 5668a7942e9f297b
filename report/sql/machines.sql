-- Machines that ran anything. Needs report_apps.
SELECT coalesce(a.machine, '') AS machine, max(a.rack) AS rack, count(*) AS attempts, count(DISTINCT a.phase_id) AS phases
FROM attempts a SEMI JOIN report_apps r ON r.application_id = a.application_id
WHERE a.machine IS NOT NULL
GROUP BY a.machine
ORDER BY attempts DESC NULLS LAST, machine NULLS LAST
