-- What is usual for each execution of a stage that is to do: takes detected_stages and detected_earlier, returns a row per
-- phase.
--
-- usual_s is the median over the earlier executions of the median duration of their tasks, so fewer than half of them may be
-- arbitrary. The limit for a phase is a prediction interval for one more execution, in logarithms, since causes of slowness
-- multiply:
--
--   sd       robust standard deviation of the executions, 1.4826 x the median absolute deviation; of n executions at least
--            (highest - lowest) / (4 sqrt n), since of four or five the median of deviations says little; at least 0.01, since copies of
--            a log do not differ at all
--   limit    usual x work x exp(t sd sqrt(1 + 1/n)), at least 1.2 x, and two ticks of a clock of whole seconds more; at most 2 x second x work,
--            since of few executions that differ much, sd is known badly and the interval has no end that means anything
--   second   the longest execution but one, so that one bad execution, however long, does not move that bound
--   work     a task's input over the usual one where that has grown, else 1
--   t        Student's, n - 1 degrees of freedom v, one-sided 0.00135: 3 + 7.5/v + 17.25/v^2 (Abramowitz and Stegun 26.7.5)
--
-- The parameters, each with its place above:
--   3        fewer earlier executions are no history
--   1.2      what the report's list of slow runs takes for slow
--   2        an estimate, not fitted: where nine executions differ by less than sd 0.16, or three by less than 0.05, the interval ends below it
WITH
compared AS (
  SELECT s.phase_id, count(*) AS compared,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY s.median_s) AS usual_s,
    min(s.median_s) AS least_s, max(s.median_s) AS most_s, max(CASE WHEN s.longest = 2 THEN s.median_s END) AS second_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY s.spread) AS within_run,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY s.input_bytes) AS usual_bytes,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY s.input_records) AS usual_records,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY s.cpu_s) AS usual_cpu_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY s.wait_s) AS usual_wait_s,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(s.tasks AS DOUBLE)) AS usual_tasks,
    coalesce(max(s.tick_s), 0e0) AS tick_s
  FROM (
    SELECT q.phase_id, e.median_s, e.spread, e.input_bytes, e.input_records, e.cpu_s, e.wait_s, e.tasks, e.tick_s,
      row_number() OVER (PARTITION BY q.phase_id ORDER BY e.median_s DESC NULLS LAST, e.phase_id NULLS LAST) AS longest
    FROM detected_earlier q JOIN detected_stages e ON e.phase_id = q.earlier_phase
  ) AS s
  GROUP BY s.phase_id
  HAVING count(*) >= 3
),
scattered AS (
  SELECT c.phase_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(ln(s.median_s / c.usual_s))) AS deviation
  FROM compared c JOIN detected_earlier q ON q.phase_id = c.phase_id JOIN detected_stages s ON s.phase_id = q.earlier_phase
  GROUP BY c.phase_id
),
predicted AS (
  SELECT d.phase_id, d.place - 1 AS executions, d.median_s,
    c.compared, c.usual_s, c.within_run, c.usual_bytes, c.usual_records, c.usual_cpu_s, c.usual_wait_s, c.usual_tasks, c.tick_s, c.second_s,
    greatest(1.4826e0 * x.deviation, ln(c.most_s / c.least_s) / (4 * sqrt(c.compared)), 0.01e0) AS between_runs,
    c.compared - 1e0 AS v,
    coalesce(d.input_bytes / nullif(c.usual_bytes, 0), d.input_records / nullif(c.usual_records, 0)) AS work_ratio
  FROM detected_stages d LEFT JOIN compared c ON c.phase_id = d.phase_id LEFT JOIN scattered x ON x.phase_id = d.phase_id
  WHERE d.todo = 1
),
limited AS (
  SELECT p.*,
    greatest(coalesce(greatest(work_ratio, 1e0), 1e0)
               * least(usual_s * greatest(1.2e0, exp((3 + 7.5e0 / v + 17.25e0 / (v * v)) * between_runs * sqrt(1 + 1e0 / compared))), 2 * second_s),
             usual_s * coalesce(greatest(work_ratio, 1e0), 1e0) + 2 * tick_s) AS limit_s
  FROM predicted p
)
SELECT phase_id, executions, median_s, compared, usual_s, within_run, between_runs, usual_bytes, usual_records, usual_cpu_s, usual_wait_s,
  usual_tasks, tick_s, work_ratio, limit_s
FROM limited
