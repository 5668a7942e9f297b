-- The attempts that are slower than usual, with what their stage usually spends: takes outliers, attempts and stage_history.
SELECT a.application_id, a.attempt_id, a.phase_id, coalesce(a.machine, '') AS machine, a.duration_s, o.excess_s, a.cpu_s, a.fetch_wait_s AS wait_s,
  h.work_ratio, h.usual_cpu_s, h.usual_wait_s
FROM outliers o JOIN attempts a ON a.attempt_id = o.attempt_id JOIN stage_history h ON h.phase_id = a.phase_id
WHERE o.rule = 'slower_than_usual' AND o.excess_s > 0 AND a.duration_s > o.excess_s
ORDER BY a.phase_id NULLS LAST, a.attempt_id NULLS LAST
