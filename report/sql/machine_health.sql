-- Machines by window. Health covers the whole store: a machine is judged by everything that ran on it.
SELECT h.*
FROM machine_health h
ORDER BY h.machine NULLS LAST, h.window_start NULLS LAST
