-- The attempts that began before the end of a window, in the order in which slots are taken.
SELECT attempt_id, coalesce(machine, '') AS machine, unix_micros(start_time) AS start_us, coalesce(unix_micros(finish_time), unix_micros(start_time)) AS finish_us,
  finish_time IS NULL OR unix_micros(finish_time) > {from} OR unix_micros(start_time) >= {from} AS shown
FROM attempts
WHERE application_id = {application} AND start_time IS NOT NULL AND coalesce(machine, '') IN ({machines}) AND unix_micros(start_time) < {to}
ORDER BY machine NULLS LAST, start_us NULLS LAST, attempt_id NULLS LAST
