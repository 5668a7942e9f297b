-- The successful attempts of tasks that an earlier attempt had completed. Needs report_apps.
SELECT attempt_id FROM (
  SELECT a.attempt_id, row_number() OVER (PARTITION BY a.phase_id, a.task
    ORDER BY a.finish_time NULLS LAST, a.number NULLS LAST, a.attempt_id NULLS LAST) AS place
  FROM attempts a SEMI JOIN report_apps r ON r.application_id = a.application_id
    SEMI JOIN (SELECT phase_id, task FROM attempts WHERE number > 0) AS t ON t.phase_id = a.phase_id AND t.task = a.task
  WHERE a.status = 'success'
) AS x
WHERE place > 1
