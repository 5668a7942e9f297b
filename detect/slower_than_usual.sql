-- The attempts that are slow compared with the history of their stage: takes attempts, detected_candidates and
-- detected_earlier, returns rows of outliers.
--
--   slower_than_usual  ran longer than 1.5 x what is usual: for the same task in earlier executions if three of them or more
--                      have it, else for the median task of its stage; and longer than chance and its work, if that has
--                      grown, account for
--
-- The task is the partition, and its history shows what its keys and files usually take. If a log numbers tasks differently in
-- each run, the earlier executions of a number are a sample of the stage and show what the stage does.
--
-- The logarithms of a task's times are assumed to be normal, and their median and standard deviation sd are estimated from
-- their 10th and 25th percentiles: disturbances make some executions longer, so the lower quarter contains the undisturbed
-- times as long as these are a quarter of all. The estimate is at most the median of all times. Normal quantiles: 1.2816 and
-- 0.6745; 0.6071 is their difference. Without such times the spread is that of the tasks within and between the executions of
-- the stage.
--
-- Chance is one more value of that distribution, one-sided 0.01, by Student's t with v = n - 1 degrees of freedom, 2.33 + 3.73/v +
-- 5.72/v^2 (Abramowitz and Stegun 26.7.5). sd is at least 0.01, since copies of a log do not differ at all.
--
-- excess_s is the duration less the usual one. A clock of whole seconds errs by two of them, tick_s each.
WITH
-- The same tasks in the executions that theirs are compared with.
past AS (
  SELECT c.attempt_id, b.duration_s, b.input_bytes, b.input_records
  FROM detected_candidates c JOIN detected_earlier q ON q.phase_id = c.phase_id
    JOIN attempts b ON b.phase_id = q.earlier_phase AND b.task = c.task
  WHERE c.is_partition AND b.status = 'success' AND b.duration_s > 0 AND b.duration_s <= 1e15
),
times AS (
  SELECT attempt_id, count(*) AS n,
    percentile(duration_s, 0.1) AS p10_s,
    percentile(duration_s, 0.25) AS p25_s,
    percentile(duration_s, 0.5) AS median_s
  FROM past
  GROUP BY attempt_id
  HAVING count(*) >= 3
),
own AS (
  SELECT t.*, greatest(ln(t.p25_s / t.p10_s) / 0.6071e0, 0.01e0) AS sd FROM times t
),
expected AS (
  SELECT c.attempt_id, c.phase_id, c.task, c.d, c.input_bytes, c.input_records, c.usual_bytes, c.usual_records, c.tick_s, o.n IS NOT NULL AS by_task,
    coalesce(least(o.median_s, o.p25_s * exp(0.6745e0 * o.sd)), c.usual_s) AS usual_s,
    coalesce(o.n, c.compared) AS n,
    CASE WHEN o.n IS NOT NULL THEN o.sd * sqrt(1 + 1e0 / o.n)
         ELSE sqrt(c.within_run * c.within_run + c.between_runs * c.between_runs * (1 + 1e0 / c.compared)) END AS sd
  FROM detected_candidates c LEFT JOIN own o ON o.attempt_id = c.attempt_id
),
-- Work only raises the limit: the usual inputs are looked up only for attempts that exceed it without.
longer AS (
  SELECT e.*, greatest(1.5e0, exp((2.33e0 + 3.73e0 / (n - 1) + 5.72e0 / ((n - 1) * (n - 1))) * sd)) AS factor
  FROM expected e
  WHERE d > usual_s * greatest(1.5e0, exp((2.33e0 + 3.73e0 / (n - 1) + 5.72e0 / ((n - 1) * (n - 1))) * sd)) AND d > usual_s + 2 * tick_s
),
inputs AS (
  SELECT b.attempt_id,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(b.input_bytes AS DOUBLE)) AS usual_bytes,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(b.input_records AS DOUBLE)) AS usual_records
  FROM past b SEMI JOIN longer c ON c.attempt_id = b.attempt_id
  GROUP BY b.attempt_id
),
usual AS (
  SELECT l.attempt_id, l.phase_id, l.d, l.usual_s, l.factor, l.tick_s,
    coalesce(greatest(CASE WHEN l.by_task THEN coalesce(l.input_bytes / nullif(i.usual_bytes, 0), l.input_records / nullif(i.usual_records, 0))
                           ELSE coalesce(l.input_bytes / nullif(l.usual_bytes, 0), l.input_records / nullif(l.usual_records, 0)) END, 1e0), 1e0) AS work
  FROM longer l LEFT JOIN inputs i ON i.attempt_id = l.attempt_id
)
SELECT attempt_id, phase_id, 'slower_than_usual' AS rule, d / usual_s AS ratio, d - usual_s AS excess_s
FROM usual
WHERE d > usual_s * work * factor AND d > usual_s * work + 2 * tick_s
