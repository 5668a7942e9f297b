-- The stages of the picked applications whose median task took longer than in earlier runs of the program, by the additional
-- time of all their tasks, with what it was spent on according to stage_history. Needs report_slow_apps.
SELECT j.application_id, h.phase_id, p.native_id, h.stage, h.kind, h.median_s, h.usual_s, h.compared AS runs, s.outliers, h.tasks, h.usual_tasks,
  h.work_ratio, h.cpu_s, h.usual_cpu_s, h.wait_s, h.usual_wait_s, h.usual_input_bytes, h.excess_s AS more_s
FROM stage_history h JOIN phases p ON p.phase_id = h.phase_id JOIN jobs j ON j.job_id = p.job_id
  SEMI JOIN report_slow_apps r ON r.application_id = j.application_id
  LEFT JOIN phase_stats s ON s.phase_id = h.phase_id
WHERE h.median_s > 1.2 * h.usual_s
ORDER BY more_s DESC NULLS LAST, h.phase_id NULLS LAST
LIMIT 1000
