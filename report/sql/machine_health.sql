-- Machines by window. Health is of the whole store: a machine is judged by all that ran on it.
SELECT h.machine, h.window_start, h.window_end, h.attempts, h.phases, h.factor, h.factor_low, h.factor_high, h.outlier_rate, h.losses, h.verdict
FROM machine_health h
ORDER BY h.machine NULLS LAST, h.window_start NULLS LAST
