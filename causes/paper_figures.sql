-- The papers' figures on this store: takes phase_stats, outliers, attributions, job_costs, losses, attempts and jobs, gives
-- rows (figure, series, x, y, n): y is the share in the figure's title at x, n the number of which it is a share.
--
--   mantri-2a  phases in which more than x of the tasks are outliers                                  (MANTRI figure 2a)
--   mantri-2b  outliers that lasted more than x times the median of their phase                        (MANTRI figure 2b)
--   mantri-3a  phases with outliers in which more than x of them are explained by the data they read   (MANTRI figure 3a):
--              what is not data_skew or network is under a fifth of the duration
--   mantri-3b  phases in which more than x of the tasks took over 1.2 times what a line through the    (MANTRI figure 3b)
--              phase's durations over bytes gives them, and are no outliers: they might be faster elsewhere
--   mantri-4   phases that read others: how much of their slot time was waiting for blocks, which the  (after MANTRI figure 4)
--              best placement could save at most; and jobs that would end more than x earlier without the network's part
--   mantri-5a  lost outputs on the share x of machines that lost most                                  (MANTRI figure 5)
--   mantri-5b  lost outputs whose machine's processor, or memory, was then used over x times its average (MANTRI figure 5)
--   mantri-6   outliers, and lost outputs, on the share x of machines, and in the share x of a hundred (after MANTRI figure 6)
--              equal spans of time, that have most of them
--   mantri-7   slot time of the jobs that would end more than x earlier without a cause, or all of them (MANTRI figure 7)
--   dolly-1    median slowdown ratio of the phases of jobs with up to x tasks; y is the ratio           (DOLLY figure 1)
--   dolly-2    slot time used by the share x of the jobs that have the fewest tasks                     (DOLLY figure 2a)
--   dolly-2b   jobs that use more than x seconds of slots                                               (DOLLY figure 2b)
--   dolly-3    jobs of x tasks that straggle when each task, or each job, is run twice, by this store's (DOLLY figure 3)
--              share p of stragglers: 1 - (1 - p^2)^x and (1 - (1 - p)^x)^2
WITH
shares AS (SELECT * FROM (VALUES (0e0), (0.01e0), (0.05e0), (0.1e0), (0.15e0), (0.2e0), (0.3e0), (0.5e0), (0.75e0)) AS t(x)),
ratios AS (SELECT * FROM (VALUES (1.5e0), (2e0), (2.5e0), (3e0), (5e0), (10e0)) AS t(x)),
sizes AS (SELECT * FROM (VALUES (0e0, 10e0), (10e0, 50e0), (50e0, 150e0), (150e0, 500e0), (500e0, 1e18)) AS t(low, x)),
per_phase AS (
  SELECT s.phase_id, s.tasks, coalesce(o.slow, 0) AS slow, coalesce(o.again, 0) AS again
  FROM phase_stats s LEFT JOIN (
    SELECT phase_id, count(*) FILTER (WHERE rule = 'high_runtime') AS slow, count(*) FILTER (WHERE rule = 'recompute') AS again
    FROM outliers GROUP BY phase_id
  ) AS o ON o.phase_id = s.phase_id
  WHERE s.tasks > 0 AND s.median_s IS NOT NULL
),
explained AS (
  SELECT o.phase_id, count(*) AS slow,
    count(*) FILTER (WHERE o.excess_s - coalesce(c.data_s, 0) < 0.2 * o.excess_s * o.ratio / nullif(o.ratio - 1, 0)) AS by_data
  FROM outliers o LEFT JOIN (
    SELECT attempt_id, sum(seconds) AS data_s FROM attributions WHERE cause IN ('data_skew', 'network') GROUP BY attempt_id
  ) AS c ON c.attempt_id = o.attempt_id
  WHERE o.rule = 'high_runtime' AND o.ratio > 1
  GROUP BY o.phase_id
),
means AS (
  SELECT phase_id, CAST(sum(CAST(round(duration_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 / count(*) AS mean_s,
    CAST(sum(CAST(input_bytes AS DECIMAL(28, 0))) AS DOUBLE) / count(*) AS mean_bytes
  FROM attempts
  WHERE status = 'success' AND input_bytes IS NOT NULL AND duration_s BETWEEN 0 AND 1e15
  GROUP BY phase_id HAVING count(*) >= 5
),
deviations AS (
  SELECT a.phase_id, m.mean_s, m.mean_bytes, a.duration_s / nullif(m.mean_s, 0) - 1 AS of_s, CAST(a.input_bytes AS DOUBLE) / nullif(m.mean_bytes, 0) - 1 AS of_bytes
  FROM attempts a JOIN means m ON m.phase_id = a.phase_id
  WHERE a.status = 'success' AND a.input_bytes IS NOT NULL AND a.duration_s BETWEEN 0 AND 1e15
),
line AS (
  SELECT phase_id, mean_s, mean_bytes, mean_s / nullif(mean_bytes, 0) * CAST(sum(CAST(round(1e15 * of_s * of_bytes) AS DECIMAL(38, 0))) AS DOUBLE)
      / nullif(CAST(sum(CAST(round(1e15 * of_bytes * of_bytes) AS DECIMAL(38, 0))) AS DOUBLE), 0) AS slope
  FROM deviations GROUP BY phase_id, mean_s, mean_bytes
),
improvable AS (
  SELECT a.phase_id, count(*) AS tasks,
    count(*) FILTER (WHERE a.duration_s <= 1.5 * s.median_s
      AND a.duration_s > 1.2 * (l.mean_s + coalesce(l.slope, 0e0) * (CAST(a.input_bytes AS DOUBLE) - l.mean_bytes))) AS slow
  FROM attempts a JOIN line l ON l.phase_id = a.phase_id JOIN phase_stats s ON s.phase_id = a.phase_id
  WHERE a.status = 'success' AND a.input_bytes IS NOT NULL AND a.duration_s BETWEEN 0 AND 1e15 AND s.median_s IS NOT NULL
  GROUP BY a.phase_id
),
readers AS (
  SELECT a.phase_id, CAST(sum(TRY_CAST(round(a.fetch_wait_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE)
      / nullif(CAST(sum(CAST(round(a.duration_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE), 0) AS share
  FROM attempts a SEMI JOIN edges e ON e.to_phase = a.phase_id
  WHERE a.fetch_wait_s IS NOT NULL AND a.duration_s BETWEEN 0 AND 1e15
  GROUP BY a.phase_id
),
job_work AS (
  SELECT a.job_id, count(*) AS tasks, sum(CAST(round(a.duration_s * 1e6) AS DECIMAL(28, 0))) AS slot_us
  FROM attempts a WHERE a.duration_s BETWEEN 0 AND 1e15 GROUP BY a.job_id
),
job_time AS (
  SELECT w.job_id, w.tasks, w.slot_us, CAST(unix_micros(j.finish_time) - unix_micros(coalesce(j.start_time, j.submit_time)) AS DOUBLE) / 1e6 AS job_s
  FROM job_work w JOIN jobs j ON j.job_id = w.job_id
),
speedups AS (
  SELECT t.job_id, c.cause, t.slot_us, c.cost_s / nullif(t.job_s, 0) AS share
  FROM job_time t JOIN job_costs c ON c.job_id = t.job_id
  WHERE c.cost_s IS NOT NULL AND t.job_s > 0
),
together AS (
  SELECT t.job_id, t.slot_us, max(c.together_s) / nullif(t.job_s, 0) AS share
  FROM job_time t LEFT JOIN job_costs c ON c.job_id = t.job_id
  WHERE t.job_s > 0 GROUP BY t.job_id, t.slot_us, t.job_s
),
named AS (SELECT DISTINCT cause FROM speedups),
usual_use AS (
  SELECT machine, CAST(sum(TRY_CAST(round(cpu * 1e9) AS DECIMAL(28, 0))) AS DOUBLE) / 1e9 / nullif(count(cpu), 0) AS cpu,
    CAST(sum(TRY_CAST(round(memory * 1e9) AS DECIMAL(28, 0))) AS DOUBLE) / 1e9 / nullif(count(memory), 0) AS memory
  FROM machine_usage GROUP BY machine
),
loss_use AS (
  SELECT max(u.cpu / nullif(m.cpu, 0)) AS cpu, max(u.memory / nullif(m.memory, 0)) AS memory
  FROM losses l JOIN machine_usage u ON u.machine = l.machine JOIN usual_use m ON m.machine = l.machine
  WHERE unix_micros(l.time) >= unix_micros(u.time) AND unix_micros(l.time) < unix_micros(u.time) + 1e6 * u.window_s
  GROUP BY l.phase_id, l.task, l.machine, l.time
),
started AS (
  SELECT a.attempt_id, CAST(unix_micros(a.start_time) AS DOUBLE) AS began FROM attempts a WHERE a.start_time IS NOT NULL
),
span AS (SELECT min(began) AS first_at, nullif(max(began) - min(began), 0) AS length FROM started),
slow_times AS (
  SELECT floor(99.999e0 * (s.began - p.first_at) / p.length) AS bin, count(o.attempt_id) AS slow
  FROM started s CROSS JOIN span p LEFT JOIN (SELECT attempt_id FROM outliers WHERE rule = 'high_runtime') AS o ON o.attempt_id = s.attempt_id
  WHERE p.length IS NOT NULL GROUP BY bin
),
lost_times AS (
  SELECT floor(99.999e0 * least(1e0, greatest(0e0, (CAST(unix_micros(l.time) AS DOUBLE) - p.first_at) / p.length))) AS bin, count(*) AS lost
  FROM losses l CROSS JOIN span p WHERE l.time IS NOT NULL AND p.length IS NOT NULL GROUP BY bin
),
time_ranks AS (
  SELECT t.slow, coalesce(l.lost, 0) AS lost,
    row_number() OVER (ORDER BY t.slow DESC NULLS LAST, t.bin NULLS LAST) AS by_slow,
    row_number() OVER (ORDER BY coalesce(l.lost, 0) DESC NULLS LAST, t.bin NULLS LAST) AS by_lost
  FROM slow_times t LEFT JOIN lost_times l ON l.bin = t.bin
),
amounts AS (SELECT * FROM (VALUES (1e0), (10e0), (100e0), (1000e0), (10000e0), (100000e0)) AS t(x)),
machine_counts AS (
  SELECT m.machine, coalesce(o.n, 0) AS slow, coalesce(l.n, 0) AS lost
  FROM (SELECT DISTINCT machine FROM attempts WHERE machine IS NOT NULL) AS m
    LEFT JOIN (SELECT a.machine, count(*) AS n FROM outliers o JOIN attempts a ON a.attempt_id = o.attempt_id
               WHERE o.rule = 'high_runtime' GROUP BY a.machine) AS o ON o.machine = m.machine
    LEFT JOIN (SELECT machine, count(*) AS n FROM losses GROUP BY machine) AS l ON l.machine = m.machine
),
machine_ranks AS (
  SELECT slow, lost, count(*) OVER () AS machines,
    row_number() OVER (ORDER BY slow DESC NULLS LAST, machine NULLS LAST) AS by_slow,
    row_number() OVER (ORDER BY lost DESC NULLS LAST, machine NULLS LAST) AS by_lost
  FROM machine_counts
),
job_ranks AS (
  SELECT slot_us, count(*) OVER () AS jobs, row_number() OVER (ORDER BY tasks NULLS LAST, slot_us NULLS LAST, job_id NULLS LAST) AS place FROM job_work
),
chance AS (
  SELECT CAST(sum(stragglers) AS DOUBLE) / nullif(CAST(sum(CASE WHEN stragglers IS NOT NULL THEN succeeded END) AS DOUBLE), 0) AS p,
    CAST(sum(CASE WHEN stragglers IS NOT NULL THEN succeeded END) AS BIGINT) AS n
  FROM phase_stats
),
figures AS (
  SELECT 'mantri-2a' AS figure, 'high_runtime' AS series, x, CAST(count(*) FILTER (WHERE slow > x * tasks) AS DOUBLE) AS part, CAST(count(*) AS DOUBLE) AS total
  FROM shares CROSS JOIN per_phase GROUP BY x
  UNION ALL
  SELECT 'mantri-2a', 'recompute', x, CAST(count(*) FILTER (WHERE again > x * tasks) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM shares CROSS JOIN per_phase GROUP BY x
  UNION ALL
  SELECT 'mantri-2b', rule, x, CAST(count(*) FILTER (WHERE ratio > x) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM ratios CROSS JOIN outliers WHERE rule IN ('high_runtime', 'recompute') AND ratio IS NOT NULL GROUP BY rule, x
  UNION ALL
  SELECT 'mantri-3a', 'explained by data', x, CAST(count(*) FILTER (WHERE by_data > x * slow) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM shares CROSS JOIN explained GROUP BY x
  UNION ALL
  SELECT 'mantri-3b', 'slow for their data', x, CAST(count(*) FILTER (WHERE slow > x * tasks) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM shares CROSS JOIN improvable GROUP BY x
  UNION ALL
  SELECT 'mantri-4', 'phases: waiting for blocks', x, CAST(count(*) FILTER (WHERE share > x) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM shares CROSS JOIN readers GROUP BY x
  UNION ALL
  SELECT 'mantri-4', 'jobs: network', x, CAST(count(s.job_id) FILTER (WHERE s.share > x) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM shares CROSS JOIN job_time t LEFT JOIN speedups s ON s.job_id = t.job_id AND s.cause = 'network' GROUP BY x
  UNION ALL
  SELECT 'mantri-5a', 'lost outputs by machine', x, CAST(sum(CASE WHEN by_lost <= ceil(x * machines) THEN lost ELSE 0 END) AS DOUBLE), CAST(sum(lost) AS DOUBLE)
  FROM shares CROSS JOIN machine_ranks GROUP BY x
  UNION ALL
  SELECT 'mantri-5b', 'processor', x, CAST(count(*) FILTER (WHERE cpu > x) AS DOUBLE), CAST(count(cpu) AS DOUBLE)
  FROM ratios CROSS JOIN loss_use GROUP BY x
  UNION ALL
  SELECT 'mantri-5b', 'memory', x, CAST(count(*) FILTER (WHERE memory > x) AS DOUBLE), CAST(count(memory) AS DOUBLE)
  FROM ratios CROSS JOIN loss_use GROUP BY x
  UNION ALL
  SELECT 'mantri-6', 'outliers by machine', x, CAST(sum(CASE WHEN by_slow <= ceil(x * machines) THEN slow ELSE 0 END) AS DOUBLE), CAST(sum(slow) AS DOUBLE)
  FROM shares CROSS JOIN machine_ranks GROUP BY x
  UNION ALL
  SELECT 'mantri-6', 'outliers by time', x, CAST(sum(CASE WHEN by_slow <= ceil(x * 100) THEN slow ELSE 0 END) AS DOUBLE), CAST(sum(slow) AS DOUBLE)
  FROM shares CROSS JOIN time_ranks GROUP BY x
  UNION ALL
  SELECT 'mantri-6', 'lost outputs by time', x, CAST(sum(CASE WHEN by_lost <= ceil(x * 100) THEN lost ELSE 0 END) AS DOUBLE), CAST(sum(lost) AS DOUBLE)
  FROM shares CROSS JOIN time_ranks GROUP BY x
  UNION ALL
  SELECT 'mantri-7', n.cause, x, CAST(sum(CASE WHEN s.share > x THEN t.slot_us ELSE 0 END) AS DOUBLE) / 1e6, CAST(sum(t.slot_us) AS DOUBLE) / 1e6
  FROM shares CROSS JOIN named n CROSS JOIN job_time t LEFT JOIN speedups s ON s.job_id = t.job_id AND s.cause = n.cause
  GROUP BY n.cause, x
  UNION ALL
  SELECT 'mantri-7', 'all causes', x, CAST(sum(CASE WHEN share > x THEN slot_us ELSE 0 END) AS DOUBLE) / 1e6, CAST(sum(slot_us) AS DOUBLE) / 1e6
  FROM shares CROSS JOIN together GROUP BY x
  UNION ALL
  SELECT 'dolly-2b', 'jobs', x, CAST(count(*) FILTER (WHERE slot_us > x * 1e6) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM amounts CROSS JOIN job_work GROUP BY x
  UNION ALL
  SELECT 'dolly-2', 'smallest jobs', x, CAST(sum(CASE WHEN place <= x * jobs THEN slot_us ELSE 0 END) AS DOUBLE) / 1e6, CAST(sum(slot_us) AS DOUBLE) / 1e6
  FROM shares CROSS JOIN job_ranks GROUP BY x
)
SELECT figure, series, x, part / nullif(total, 0) AS y, CAST(round(total) AS BIGINT) AS n, '' AS note FROM figures
UNION ALL
SELECT 'dolly-1', 'slowdown ratio', z.x, percentile_cont(0.5) WITHIN GROUP (ORDER BY s.slowdown_ratio), count(s.slowdown_ratio), ''
FROM sizes z JOIN job_work w ON w.tasks > z.low AND w.tasks <= z.x
  JOIN phases p ON p.job_id = w.job_id JOIN phase_stats s ON s.phase_id = p.phase_id
WHERE s.slowdown_ratio IS NOT NULL
GROUP BY z.x
UNION ALL
SELECT 'dolly-3', 'tasks run twice', t.x, 1 - power(1 - c.p * c.p, t.x), c.n, '' FROM (SELECT x FROM ratios WHERE x > 3 UNION ALL SELECT 50e0) AS t CROSS JOIN chance c
UNION ALL
SELECT 'dolly-3', 'jobs run twice', t.x, power(1 - power(1 - c.p, t.x), 2), c.n, '' FROM (SELECT x FROM ratios WHERE x > 3 UNION ALL SELECT 50e0) AS t CROSS JOIN chance c
ORDER BY figure NULLS LAST, series NULLS LAST, x NULLS LAST
