-- The outliers of a job or a phase with the most excess, whatever they cost. Needs report_scope_phases.
SELECT o.attempt_id
FROM (SELECT attempt_id, max(phase_id) AS phase_id, max(excess_s) AS excess_s FROM outliers WHERE rule IN ('high_runtime', 'recompute') AND excess_s IS NOT NULL GROUP BY attempt_id) o
  SEMI JOIN report_scope_phases r ON r.phase_id = o.phase_id
ORDER BY o.excess_s DESC NULLS LAST, o.attempt_id NULLS LAST
LIMIT 100
