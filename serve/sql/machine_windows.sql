SELECT window_start, window_end, attempts, phases, factor, factor_low, factor_high, outlier_rate, losses, verdict, note
FROM machine_health
WHERE machine = {name} AND application_id IS NULL
ORDER BY window_start NULLS LAST
LIMIT 500
