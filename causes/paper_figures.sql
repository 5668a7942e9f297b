-- The papers' figures on this store: takes phase_stats, outliers, attributions, job_costs, losses, attempts and jobs, gives
-- rows (figure, series, x, y, n): y is the share that the figure's title speaks of at x, n what it is a share of.
--
--   mantri-2a  phases in which more than x of the tasks are outliers                                  (MANTRI figure 2a)
--   mantri-2b  outliers that lasted more than x times the median of their phase                        (MANTRI figure 2b)
--   mantri-3a  phases with outliers in which more than x of them are explained by the data they read   (MANTRI figure 3a):
--              what is not data_skew or network is under a fifth of the duration
--   mantri-4   jobs that would end more than x earlier without waiting for the network                  (after MANTRI figure 4)
--   mantri-6   outliers, and lost outputs, on the share x of machines that have most of them            (after MANTRI figures 5, 6)
--   mantri-7   slot time of the jobs that would end more than x earlier without a cause                 (MANTRI figure 7)
--   dolly-1    median slowdown ratio of the phases of jobs with up to x tasks; y is the ratio           (DOLLY figure 1)
--   dolly-2    slot time used by the share x of the jobs that have the fewest tasks                     (DOLLY figure 2a)
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
job_work AS (
  SELECT a.job_id, count(*) AS tasks, sum(a.duration_s) AS slot_s FROM attempts a WHERE a.duration_s BETWEEN 0 AND 1e15 GROUP BY a.job_id
),
job_time AS (
  SELECT w.job_id, w.tasks, w.slot_s, CAST(unix_micros(j.finish_time) - unix_micros(coalesce(j.start_time, j.submit_time)) AS DOUBLE) / 1e6 AS job_s
  FROM job_work w JOIN jobs j ON j.job_id = w.job_id
),
speedups AS (
  SELECT t.job_id, c.cause, t.slot_s, c.cost_s / nullif(t.job_s, 0) AS share
  FROM job_time t JOIN job_costs c ON c.job_id = t.job_id
  WHERE c.cost_s IS NOT NULL AND t.job_s > 0
),
named AS (SELECT DISTINCT cause FROM speedups),
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
  SELECT slot_s, count(*) OVER () AS jobs, row_number() OVER (ORDER BY tasks NULLS LAST, slot_s NULLS LAST, job_id NULLS LAST) AS place FROM job_work
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
  SELECT 'mantri-4', 'network', x, CAST(count(s.job_id) FILTER (WHERE s.share > x) AS DOUBLE), CAST(count(*) AS DOUBLE)
  FROM shares CROSS JOIN job_time t LEFT JOIN speedups s ON s.job_id = t.job_id AND s.cause = 'network' GROUP BY x
  UNION ALL
  SELECT 'mantri-6', 'high_runtime', x, CAST(sum(CASE WHEN by_slow <= ceil(x * machines) THEN slow ELSE 0 END) AS DOUBLE), CAST(sum(slow) AS DOUBLE)
  FROM shares CROSS JOIN machine_ranks GROUP BY x
  UNION ALL
  SELECT 'mantri-6', 'lost outputs', x, CAST(sum(CASE WHEN by_lost <= ceil(x * machines) THEN lost ELSE 0 END) AS DOUBLE), CAST(sum(lost) AS DOUBLE)
  FROM shares CROSS JOIN machine_ranks GROUP BY x
  UNION ALL
  SELECT 'mantri-7', n.cause, x, sum(CASE WHEN s.share > x THEN t.slot_s ELSE 0e0 END), sum(t.slot_s)
  FROM shares CROSS JOIN named n CROSS JOIN job_time t LEFT JOIN speedups s ON s.job_id = t.job_id AND s.cause = n.cause
  GROUP BY n.cause, x
  UNION ALL
  SELECT 'dolly-2', 'smallest jobs', x, sum(CASE WHEN place <= x * jobs THEN slot_s ELSE 0e0 END), sum(slot_s)
  FROM shares CROSS JOIN job_ranks GROUP BY x
)
SELECT figure, series, x, part / nullif(total, 0) AS y, CAST(round(total) AS BIGINT) AS n FROM figures
UNION ALL
SELECT 'dolly-1', 'slowdown ratio', z.x, percentile_cont(0.5) WITHIN GROUP (ORDER BY s.slowdown_ratio), count(s.slowdown_ratio)
FROM sizes z JOIN job_work w ON w.tasks > z.low AND w.tasks <= z.x
  JOIN phases p ON p.job_id = w.job_id JOIN phase_stats s ON s.phase_id = p.phase_id
WHERE s.slowdown_ratio IS NOT NULL
GROUP BY z.x
UNION ALL
SELECT 'dolly-3', 'tasks run twice', t.x, 1 - power(1 - c.p * c.p, t.x), c.n FROM (SELECT x FROM ratios WHERE x > 3 UNION ALL SELECT 50e0) AS t CROSS JOIN chance c
UNION ALL
SELECT 'dolly-3', 'jobs run twice', t.x, power(1 - power(1 - c.p, t.x), 2), c.n FROM (SELECT x FROM ratios WHERE x > 3 UNION ALL SELECT 50e0) AS t CROSS JOIN chance c
ORDER BY figure NULLS LAST, series NULLS LAST, x NULLS LAST
