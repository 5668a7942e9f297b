-- The tasks of the picked phases, each represented by its winning attempt. Needs report_picked_phases.
SELECT a.phase_id, a.attempt_id, a.task, a.machine, a.duration_s AS d, c.cause
FROM (
    SELECT phase_id, attempt_id, task, machine, duration_s,
      row_number() OVER (PARTITION BY phase_id, task ORDER BY finish_time NULLS LAST, number NULLS LAST, attempt_id NULLS LAST) AS place
    FROM attempts a SEMI JOIN report_picked_phases r ON r.phase_id = a.phase_id
    WHERE status = 'success'
  ) a
  LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1) c ON c.attempt_id = a.attempt_id
WHERE a.place = 1 AND a.duration_s BETWEEN 0 AND 1e15
