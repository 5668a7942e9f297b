-- The execution of a stage that each phase is: takes the rows of runs.sql as detected_runs, returns them with their ordinal,
-- which is NULL for those that are not executions.
SELECT phase_id, program, stage, identity, kind, CASE WHEN countable AND median_s > 0 THEN CAST(number AS INTEGER) END AS ordinal, run_start_time,
  tasks, median_s, spread, note
FROM (
  SELECT r.*, row_number() OVER (PARTITION BY application_id, identity, kind, countable
                                 ORDER BY submitted NULLS LAST, phase_id NULLS LAST) AS number
  FROM detected_runs r
) AS numbered
