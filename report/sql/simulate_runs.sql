-- The runs of a simulation, in their order.
SELECT * FROM simulate_runs ORDER BY run_id NULLS LAST LIMIT 20000
