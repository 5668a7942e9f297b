-- The program of each named application: its name without what differs in each run, as in stage_history. Interactive sessions are
-- not runs of a program. Needs report_sessions.
SELECT i.application_id, coalesce(h.program, i.name) AS program
FROM applications i LEFT JOIN (
  SELECT j.application_id, max(s.program) AS program
  FROM stage_history s JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id
  GROUP BY j.application_id
) AS h ON h.application_id = i.application_id
  ANTI JOIN report_sessions s ON s.name = i.name
WHERE i.name IS NOT NULL
