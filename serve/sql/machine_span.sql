-- The time span in which the health of machines is known.
SELECT min(window_start) AS first, max(window_start) AS last FROM machine_health
