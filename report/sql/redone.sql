-- The phases that only recompute lost outputs; not, for instance, a stage resubmitted for two lost outputs and thirty tasks
-- that had not run yet. Needs report_apps.
SELECT p.phase_id
FROM phases p JOIN jobs j ON j.job_id = p.job_id SEMI JOIN report_apps r ON r.application_id = j.application_id
  ANTI JOIN (SELECT a.phase_id FROM attempts a SEMI JOIN (SELECT phase_id FROM phases WHERE recompute) q ON q.phase_id = a.phase_id
             WHERE NOT a.recompute) n ON n.phase_id = p.phase_id
WHERE p.recompute
