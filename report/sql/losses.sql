-- Outputs that were lost, by the machine they were on. Needs report_apps.
SELECT coalesce(l.machine, '') AS machine, count(*) AS losses, count(l.recomputed_by) AS recomputed
FROM losses l JOIN phases p ON p.phase_id = l.phase_id JOIN jobs j ON j.job_id = p.job_id
  SEMI JOIN report_apps r ON r.application_id = j.application_id
GROUP BY coalesce(l.machine, '')
ORDER BY losses DESC NULLS LAST, machine NULLS LAST
LIMIT 20
