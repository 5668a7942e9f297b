-- What policies would have saved over all jobs.
SELECT policy, parameters, saving_s, saving_low, saving_high, this_run_low, this_run_high, saving_share, slot_time_change, verdict, assumptions
FROM whatif_savings
WHERE job_id IS NULL
ORDER BY saving_s DESC NULLS LAST, policy NULLS LAST, parameters NULLS LAST
LIMIT 40
