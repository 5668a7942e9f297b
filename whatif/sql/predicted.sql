-- How long a job takes under a policy, with each seed and under each set of the policy's parameters, the shortest first.
SELECT seed, parameters, predicted_s
FROM whatif_runs
WHERE job_id = {job} AND policy = {policy}
ORDER BY predicted_s NULLS LAST, seed NULLS LAST
