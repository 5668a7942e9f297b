-- Edges with the jobs and applications of their phases, component by component: the edges of a job, or of an application
-- for those jobs of it that edges join with others.
WITH ends AS (
  SELECT e.job_id, e.from_phase, e.to_phase,
         f.job_id AS from_job, t.job_id AS to_job, fj.application_id AS from_application, tj.application_id AS to_application
  FROM edges e
  LEFT JOIN phases f ON f.phase_id = e.from_phase
  LEFT JOIN phases t ON t.phase_id = e.to_phase
  LEFT JOIN jobs fj ON fj.job_id = f.job_id
  LEFT JOIN jobs tj ON tj.job_id = t.job_id
),
crossing AS (
  SELECT from_job AS job_id FROM ends WHERE from_job <> to_job
  UNION
  SELECT to_job AS job_id FROM ends WHERE from_job <> to_job
)
SELECT CASE WHEN c.job_id IS NULL THEN coalesce(e.to_job, e.job_id) ELSE coalesce(e.to_application, 0) END AS component,
       e.job_id, e.from_phase, e.to_phase, e.from_application, e.to_job, e.to_application
FROM ends e
LEFT JOIN crossing c ON c.job_id = e.to_job
ORDER BY component, e.job_id, e.from_phase, e.to_phase
