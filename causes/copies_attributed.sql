-- The phases that copies attribute, and those that they compare with earlier runs of their stage (timed = 1), each with the
-- input that it came from, the stage that it is an execution of, and the application. Phases of an application form shares of
-- {attempts} attempts: a share has the number of its first phase, is sent to one copy, and includes what its phases need about
-- the application.
WITH wanted AS (
  SELECT phase_id, max(timed) AS timed FROM (
    SELECT phase_id, 0 AS timed FROM causes_outliers WHERE again IS NOT NULL
    UNION ALL
    SELECT phase_id, 1 FROM stage_history WHERE usual_s IS NOT NULL
  ) AS w
  GROUP BY phase_id
), placed AS (
  SELECT w.phase_id, w.timed, {input} AS input, j.application_id, app.name || '/' || p.kind || '/' || coalesce(p.name, '') AS stage,
    CAST(coalesce(sum(s.attempts) OVER (PARTITION BY j.application_id ORDER BY w.phase_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS DOUBLE) AS before
  FROM wanted w
    JOIN phases p ON p.phase_id = w.phase_id
    JOIN jobs j ON j.job_id = p.job_id
    JOIN applications app ON app.application_id = j.application_id
    LEFT JOIN phase_stats s ON s.phase_id = w.phase_id
)
SELECT phase_id, timed, input, application_id, stage, min(phase_id) OVER (PARTITION BY application_id, floor(before / {attempts})) AS share
FROM placed
