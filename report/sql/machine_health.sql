-- Machines by window. Health is of the whole store: a machine is judged by all that ran on it.
SELECT h.*
FROM machine_health h
ORDER BY h.machine NULLS LAST, h.window_start NULLS LAST
