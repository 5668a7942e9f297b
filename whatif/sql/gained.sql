-- The job that gains most under some policies, and the seeds of its runs under the policy by which it gains, the shortest run
-- first. NULL: there is no such run.
WITH most AS (
  SELECT policy, parameters, job_id
  FROM whatif_savings
  WHERE job_id IS NOT NULL AND saving_low > 0 AND verdict = 'saves' AND policy IN ({policies})
  ORDER BY saving_s DESC NULLS LAST, policy NULLS LAST, parameters NULLS LAST, job_id NULLS LAST
  LIMIT 1
)
SELECT m.policy, m.parameters, m.job_id, r.seed
FROM most m LEFT JOIN whatif_runs r ON r.job_id = m.job_id AND r.policy = m.policy AND r.parameters = m.parameters
ORDER BY r.predicted_s NULLS LAST, r.seed NULLS LAST
