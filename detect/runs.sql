-- What executions.sql needs of each phase: takes phases, jobs, applications, detected_programs, detected_operators and
-- phase_stats, returns a row per phase, with the columns of stage_history that depend only on its own log except its ordinal,
-- and in note why it is not an execution.
--
-- A stage is identified by the name of its program without what differs in each run (schema.Lasting, in detected_programs if
-- that is another name), its identity and kind, and its ordinal among the stages of that identity in an application. The
-- identity is the fingerprint of the part of its query's plan that it ran (operators.sql), so that neither a new stage nor a
-- moved line of the program changes the identity of the stages after it; if the log has no plan, it is the name. Resubmissions
-- and recomputations, which run only some of the tasks, are not executions, nor are phases without a successful task. Programs
-- without a name have no history.
SELECT phase_id, application_id, program, stage, identity, kind, countable, submitted, run_start_time, tasks, median_s,
  CASE WHEN p95_s > median_s THEN ln(p95_s / nullif(median_s, 0)) / 1.645e0 WHEN p95_s IS NOT NULL THEN 0e0 END AS spread,
  CASE WHEN program IS NULL THEN 'its program has no name'
       WHEN submitted_again THEN 'submitted again'
       WHEN tasks = 0 THEN 'no successful attempt'
       WHEN coalesce(median_s, 0) = 0 THEN 'no median duration' END AS note
FROM (
  SELECT p.phase_id, i.application_id, coalesce(n.program, i.name) AS program, coalesce(p.name, '') AS stage,
    coalesce('operator ' || o.fingerprint, p.name, '') AS identity, p.kind, p.attempt > 0 OR p.recompute AS submitted_again,
    i.name IS NOT NULL AND p.attempt = 0 AND NOT p.recompute AND coalesce(s.succeeded, 0) > 0 AS countable,
    coalesce(p.submit_time, p.start_time) AS submitted, coalesce(i.start_time, p.start_time, p.submit_time) AS run_start_time,
    coalesce(s.succeeded, 0) AS tasks, s.median_s, s.p95_s
  FROM phases p JOIN jobs j ON j.job_id = p.job_id
    JOIN applications i ON i.application_id = j.application_id
    LEFT JOIN detected_programs n ON n.application_id = i.application_id
    LEFT JOIN detected_operators o ON o.phase_id = p.phase_id
    LEFT JOIN phase_stats s ON s.phase_id = p.phase_id
) AS k
