-- The time that the health of machines is known of.
SELECT min(window_start) AS first, max(window_start) AS last FROM machine_health
