-- How slow machines are, where that could be told.
SELECT * FROM machine_health
WHERE factor IS NOT NULL
ORDER BY machine NULLS LAST, window_start NULLS LAST
