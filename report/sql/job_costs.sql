-- What each cause cost each job, replayed without it. Needs report_apps.
SELECT c.job_id, c.cause, c.cost_s, c.cost_low, c.cost_high, c.together_s
FROM job_costs c JOIN jobs j ON j.job_id = c.job_id SEMI JOIN report_apps r ON r.application_id = j.application_id
ORDER BY c.job_id NULLS LAST, c.cause NULLS LAST
