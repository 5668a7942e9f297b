-- The outliers with the most excess, whatever they cost. Needs report_apps.
SELECT o.attempt_id
FROM (SELECT attempt_id, max(phase_id) AS phase_id, max(excess_s) AS excess_s FROM outliers WHERE rule IN ('high_runtime', 'recompute') AND excess_s IS NOT NULL GROUP BY attempt_id) o
  JOIN phases p ON p.phase_id = o.phase_id JOIN jobs j ON j.job_id = p.job_id SEMI JOIN report_apps r ON r.application_id = j.application_id
ORDER BY o.excess_s DESC NULLS LAST, o.attempt_id NULLS LAST
LIMIT 50
