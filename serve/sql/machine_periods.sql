-- The latest periods of time in which a machine was judged. {days} is the length of a period, as in the history of machines.
SELECT DISTINCT CAST(floor((unix_micros(window_start) / 86400e6 + 3) / {days}) AS BIGINT) AS period
FROM machine_health
WHERE machine IS NOT NULL AND window_start IS NOT NULL
ORDER BY period DESC
LIMIT 60
