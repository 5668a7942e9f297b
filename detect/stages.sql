-- Which phases are executions of one stage: takes phases, jobs, applications and phase_stats, gives the phases of stages that the store
-- holds several executions of, numbered by time.
--
-- A stage is known by the name of its program, its own name and kind, and its ordinal: which of the stages of that name in an
-- application. Submissions again and recomputations, which run some of the tasks only, are no executions, and neither are
-- phases without a successful task. Programs without a name have no history.
--
-- place numbers the executions from 1 in the order in which their applications started; what is earlier has a smaller one. stage_id is the
-- key of the first.
SELECT phase_id, stage_id, ordinal, place, median_s, p95_s
FROM (
  SELECT n.*,
    row_number() OVER (PARTITION BY program, stage, kind, ordinal ORDER BY began NULLS LAST, phase_id NULLS LAST) AS place,
    count(*) OVER (PARTITION BY program, stage, kind, ordinal) AS executions,
    min(phase_id) OVER (PARTITION BY program, stage, kind, ordinal) AS stage_id
  FROM (
    SELECT p.phase_id, i.name AS program, coalesce(p.name, '') AS stage, p.kind, s.median_s, s.p95_s,
      unix_micros(coalesce(i.start_time, p.start_time, p.submit_time)) AS began,
      row_number() OVER (PARTITION BY i.application_id, coalesce(p.name, ''), p.kind
                         ORDER BY coalesce(p.submit_time, p.start_time) NULLS LAST, p.phase_id NULLS LAST) AS ordinal
    FROM phases p JOIN jobs j ON j.job_id = p.job_id
      JOIN applications i ON i.application_id = j.application_id
      JOIN phase_stats s ON s.phase_id = p.phase_id
    WHERE i.name IS NOT NULL AND p.attempt = 0 AND NOT p.recompute AND s.succeeded > 0
  ) AS n
) AS numbered
WHERE executions > 1 AND median_s > 0
