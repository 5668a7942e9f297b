-- The job that gains most of those that gain anything, under some policies.
SELECT policy, parameters, job_id
FROM whatif_savings
WHERE job_id IS NOT NULL AND saving_low > 0 AND verdict = 'saves' AND policy IN ({policies})
ORDER BY saving_s DESC NULLS LAST, policy NULLS LAST, parameters NULLS LAST, job_id NULLS LAST
LIMIT 1
