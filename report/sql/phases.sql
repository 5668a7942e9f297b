-- The picked phases. Needs report_picked_phases.
SELECT p.phase_id, p.job_id, j.application_id, a.native_id AS application, j.native_id AS job, p.native_id, p.attempt, p.name, p.kind, p.recompute,
  p.start_time, p.finish_time, s.tasks, s.attempts, s.succeeded, s.median_s, s.p95_s, s.max_s, s.slowdown_ratio, s.slowdown_basis,
  s.stragglers, s.outliers, s.lost_s, s.model_r2, s.model_n, s.note
FROM phases p JOIN jobs j ON j.job_id = p.job_id JOIN applications a ON a.application_id = j.application_id
  JOIN phase_stats s ON s.phase_id = p.phase_id
  SEMI JOIN report_picked_phases r ON r.phase_id = p.phase_id
ORDER BY p.phase_id NULLS LAST
