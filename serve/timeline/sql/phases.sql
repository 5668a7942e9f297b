-- The longest phases of an application that ran in a window.
SELECT phase_id, phase, attempt, start_us, finish_us
FROM (
  SELECT p.phase_id, p.native_id AS phase, p.attempt, unix_micros(p.start_time) AS start_us, unix_micros(p.finish_time) AS finish_us
  FROM phases p JOIN jobs j ON j.job_id = p.job_id
  WHERE j.application_id = {application} AND p.start_time IS NOT NULL AND p.finish_time > p.start_time
    AND unix_micros(p.start_time) < {to} AND unix_micros(p.finish_time) > {from}
  ORDER BY unix_micros(p.finish_time) - unix_micros(p.start_time) DESC NULLS LAST, p.phase_id NULLS LAST
  LIMIT 200
) x
ORDER BY start_us NULLS LAST, phase_id NULLS LAST
