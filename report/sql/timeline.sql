-- When and where the attempts of a timeline ran, by machine and start, on the machines that fit into it. Needs
-- report_picked_jobs and report_timeline_machines.
SELECT a.attempt_id, coalesce(a.machine, '') AS machine, a.start_time, a.finish_time
FROM attempts a SEMI JOIN report_picked_jobs r ON r.job_id = a.job_id
  JOIN report_timeline_machines m ON m.machine = coalesce(a.machine, '') AND m.place <= 48
WHERE a.start_time IS NOT NULL
ORDER BY machine NULLS LAST, a.start_time NULLS LAST, a.attempt_id NULLS LAST
