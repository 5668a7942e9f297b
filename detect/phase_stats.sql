-- How the tasks of each phase compare: takes phases and attempts, returns the rows of phase_stats.
--
-- A task is judged by the attempt that won it: the successful one that finished first. Failed, killed, lost and running
-- attempts are counted in `attempts` but not compared. A duration that is negative, NaN or infinite is unknown. A rate needs
-- work and time: a task that read nothing, or took less than a tick of the clock, has none.
--
-- The parameters, each of which occurs once below:
--   1.5   an outlier runs longer than 1.5 x the median duration (MANTRI 4.1)
--   0.5   a straggler's rate is under half the median rate (DOLLY 2.1.2); without rates, its duration over twice the median
--   0.95  rates are in bytes where 95 % of the timed tasks have such a rate, else in records likewise, else there are none
--   3     fewer tasks get no verdict: of two, the slow one is half of the median
--   10    fewer attempts get no model: two predictors explain 2/(n-1) of the variance of noise
--   1e-9  a predictor that does not vary, or is explained by the other, up to this fraction is left out
--
-- Beaten attempts (copies that lost) are found by a join: within CASE or OR, Spark evaluates NOT IN by comparing every
-- attempt with each of them.
--
-- unix_micros and percentile, which is percentile_cont, are Spark's; DuckDB sessions of straggler define macros with those
-- names. The three percentiles are one aggregate there, which stores every duration once.
WITH
-- Most tasks have one attempt and need no comparison; (phase_id, task, number) is unique.
repeated AS (
  SELECT DISTINCT phase_id, task FROM attempts WHERE number > 0
),
placed AS (
  SELECT a.attempt_id, a.phase_id, a.status,
    row_number() OVER (PARTITION BY a.phase_id, a.task
                       ORDER BY CASE WHEN a.status = 'success' THEN 0 ELSE 1 END NULLS LAST,
                                a.finish_time NULLS LAST, a.number NULLS LAST, a.attempt_id NULLS LAST) AS place
  FROM attempts a SEMI JOIN repeated r ON r.phase_id = a.phase_id AND r.task = a.task
),
repeats AS (
  SELECT phase_id, count(*) AS repeats FROM placed WHERE place > 1 GROUP BY phase_id
),
beaten AS (
  SELECT attempt_id FROM placed WHERE place > 1 AND status = 'success'
),
-- First pass: counts, durations, rates in bytes, and the ranges by which the model is scaled.
looked AS (
  SELECT phase_id,
    count(*) AS attempts,
    count(won) AS succeeded,
    count(d) AS timed,
    percentile(d, 0.5) AS median_s,
    percentile(d, 0.75) AS p75_s,
    percentile(d, 0.95) AS p95_s,
    max(d) AS max_s,
    count(byte_rate) AS byte_rates,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY byte_rate) AS median_byte_rate,
    min(byte_rate) AS slowest_byte_rate,
    count(record_rate) AS record_rates,
    count(x) AS n, count(z) AS n_remote,
    min(y) AS y_low, max(y) AS y_high, min(x) AS x_low, max(x) AS x_high, min(z) AS z_low, max(z) AS z_high
  FROM (
    SELECT phase_id, won, d,
      CASE WHEN input_bytes > 0 THEN input_bytes / nullif(d, 0) END AS byte_rate,
      CASE WHEN input_records > 0 AND d > 0 THEN 1 END AS record_rate,
      CASE WHEN input_bytes IS NOT NULL THEN d END AS y,
      CASE WHEN d IS NOT NULL THEN CAST(input_bytes AS DOUBLE) END AS x,
      CASE WHEN d IS NOT NULL AND input_bytes IS NOT NULL THEN CAST(remote_bytes AS DOUBLE) END AS z
    FROM (
      SELECT phase_id, input_bytes, input_records, remote_bytes, won,
        CASE WHEN won = 1 AND duration_s BETWEEN 0 AND 1e15 THEN duration_s END AS d
      FROM (
        SELECT a.phase_id, a.duration_s, a.input_bytes, a.input_records, a.remote_bytes,
          CASE WHEN a.status = 'success' AND b.attempt_id IS NULL THEN 1 END AS won
        FROM attempts a LEFT JOIN beaten b ON b.attempt_id = a.attempt_id
      ) AS raw
    ) AS timed
  ) AS measured
  GROUP BY phase_id
),
judged AS (
  SELECT *,
    CASE WHEN timed < 3 THEN 'few' WHEN median_s = 0 THEN 'zero'
         WHEN byte_rates >= 0.95 * timed THEN 'bytes'
         WHEN record_rates >= 0.95 * timed THEN 'records'
         ELSE 'duration' END AS basis
  FROM looked
),
-- Second pass, only over phases whose rates are in records.
records AS (
  SELECT phase_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY rate) AS median_rate, min(rate) AS slowest_rate
  FROM (
    SELECT a.phase_id, a.input_records / nullif(a.duration_s, 0) AS rate
    FROM attempts a JOIN (SELECT phase_id FROM judged WHERE basis = 'records') AS j ON j.phase_id = a.phase_id
      ANTI JOIN beaten b ON b.attempt_id = a.attempt_id
    WHERE a.status = 'success' AND a.duration_s BETWEEN 0 AND 1e15 AND a.input_records > 0
  ) AS r
  GROUP BY phase_id
),
-- The thresholds of the third pass; NULL where a comparison does not apply. Durations and inputs are shifted and scaled
-- to [-1, 1] for the model; a range of 0 makes them 0.
rated AS (
  SELECT j.phase_id, j.median_s,
    CASE WHEN j.basis = 'bytes' THEN j.median_byte_rate ELSE r.median_rate END AS median_rate,
    CASE WHEN j.basis = 'bytes' THEN j.slowest_byte_rate ELSE r.slowest_rate END AS slowest_rate,
    CASE WHEN j.basis = 'bytes' THEN 0.5 * j.median_byte_rate END AS slow_byte_rate,
    CASE WHEN j.basis = 'records' THEN 0.5 * r.median_rate END AS slow_record_rate,
    CASE WHEN j.basis = 'duration' THEN 2 * j.median_s END AS straggler_s,
    CASE WHEN j.n >= 10 THEN 4e15 / j.n END AS unit,
    (j.y_low + j.y_high) / 2 AS y_mid, coalesce(2 / nullif(j.y_high - j.y_low, 0), 0) AS y_scale,
    (j.x_low + j.x_high) / 2 AS x_mid, coalesce(2 / nullif(j.x_high - j.x_low, 0), 0) AS x_scale,
    (j.z_low + j.z_high) / 2 AS z_mid,
    CASE WHEN j.n_remote = j.n THEN coalesce(2 / nullif(j.z_high - j.z_low, 0), 0) END AS z_scale
  FROM judged j LEFT JOIN records r ON r.phase_id = j.phase_id
),
-- Third pass, with the medians: which tasks are slow, when the phase would have ended without them, and the sums of the
-- model.
--
-- Every task takes at most the median and starts when it did: tasks are not moved to slots that would have become free earlier.
-- A lost output that was recomputed ends the phase when it is recomputed. 9e12 s, 285 000 years, is the most that microseconds
-- can hold.
--
-- A sum of doubles depends on the order of its terms, and so on threads, unless no step rounds: the sums of the model are of
-- integers, in units of n/4e15, and stay under 2^53.
slow AS (
  SELECT phase_id,
    count(*) FILTER (WHERE won = 1 AND duration_s > 1.5 * median_s) AS outliers,
    count(*) FILTER (WHERE won = 1 AND (input_bytes / nullif(duration_s, 0) < slow_byte_rate AND input_bytes > 0
                                        OR input_records / nullif(duration_s, 0) < slow_record_rate AND input_records > 0
                                        OR duration_s > straggler_s)) AS stragglers,
    unix_micros(max(finish_time)) AS last_us,
    greatest(unix_micros(max(CASE WHEN duration_s <= median_s THEN finish_time END)),
             unix_micros(max(CASE WHEN duration_s > median_s THEN start_time END)) + CAST(round(least(max(median_s), 9e12) * 1e6) AS BIGINT)
             ) AS cut_us,
    CAST(sum(floor(unit * x + 0.5)) AS DOUBLE) / max(unit) AS x,
    CAST(sum(floor(unit * y + 0.5)) AS DOUBLE) / max(unit) AS y,
    CAST(sum(floor(unit * z + 0.5)) AS DOUBLE) / max(unit) AS z,
    CAST(sum(floor(unit * x * x + 0.5)) AS DOUBLE) / max(unit) AS xx,
    CAST(sum(floor(unit * x * y + 0.5)) AS DOUBLE) / max(unit) AS xy,
    CAST(sum(floor(unit * x * z + 0.5)) AS DOUBLE) / max(unit) AS xz,
    CAST(sum(floor(unit * y * y + 0.5)) AS DOUBLE) / max(unit) AS yy,
    CAST(sum(floor(unit * y * z + 0.5)) AS DOUBLE) / max(unit) AS yz,
    CAST(sum(floor(unit * z * z + 0.5)) AS DOUBLE) / max(unit) AS zz
  FROM (
    SELECT phase_id, duration_s, start_time, finish_time, input_bytes, input_records, won, median_s, slow_byte_rate,
      slow_record_rate, straggler_s, x, y, z, CASE WHEN won = 1 THEN unit END AS unit
    FROM (
      SELECT a.phase_id, a.duration_s, a.start_time, a.finish_time, a.input_bytes, a.input_records, a.recompute,
        r.median_s, r.slow_byte_rate, r.slow_record_rate, r.straggler_s, r.unit,
        (a.input_bytes - r.x_mid) * r.x_scale AS x,
        CASE WHEN a.input_bytes IS NOT NULL THEN (a.duration_s - r.y_mid) * r.y_scale END AS y,
        CASE WHEN a.input_bytes IS NOT NULL THEN (a.remote_bytes - r.z_mid) * r.z_scale END AS z,
        CASE WHEN b.attempt_id IS NULL THEN 1 END AS won
      FROM attempts a JOIN rated r ON r.phase_id = a.phase_id LEFT JOIN beaten b ON b.attempt_id = a.attempt_id
      WHERE a.status = 'success' AND a.duration_s BETWEEN 0 AND 1e15
    ) AS met
    WHERE won = 1 OR recompute
  ) AS s
  GROUP BY phase_id
),
-- The model: duration = a + b x input bytes + c x remote bytes, by least squares, from the sums about the means.
centred AS (
  SELECT s.phase_id, j.n, j.x_high > j.x_low AS has_x, j.z_high > j.z_low AND j.n_remote = j.n AS has_z,
    s.xx - s.x * s.x / j.n AS xx, s.yy - s.y * s.y / j.n AS yy, s.zz - s.z * s.z / j.n AS zz,
    s.xy - s.x * s.y / j.n AS xy, s.xz - s.x * s.z / j.n AS xz, s.yz - s.y * s.z / j.n AS yz
  FROM slow s JOIN judged j ON j.phase_id = s.phase_id
  WHERE j.n >= 10 AND j.y_high > j.y_low
),
model AS (
  SELECT phase_id, n,
    CASE WHEN has_x AND has_z AND xx * zz - xz * xz > 1e-9 * xx * zz
           THEN (xy * xy * zz - 2 * xy * yz * xz + yz * yz * xx) / ((xx * zz - xz * xz) * yy)
         WHEN has_x THEN xy * xy / (xx * yy)
         WHEN has_z THEN yz * yz / (zz * yy) END AS r2
  FROM centred
)
SELECT p.phase_id,
  coalesce(l.attempts - coalesce(q.repeats, 0), 0) AS tasks,
  coalesce(l.attempts, 0) AS attempts,
  coalesce(l.succeeded, 0) AS succeeded,
  l.median_s, l.p75_s, l.p95_s, l.max_s,
  r.median_rate, r.slowest_rate,
  CASE WHEN l.basis = 'duration' THEN l.max_s / nullif(l.median_s, 0)
       ELSE r.median_rate / nullif(r.slowest_rate, 0) END AS slowdown_ratio,
  CASE WHEN l.basis IN ('bytes', 'records', 'duration') THEN l.basis END AS slowdown_basis,
  CASE WHEN l.basis IN ('bytes', 'records', 'duration') THEN s.stragglers END AS stragglers,
  CASE WHEN l.basis IN ('bytes', 'records', 'duration') THEN s.outliers END AS outliers,
  CASE WHEN l.basis IN ('bytes', 'records', 'duration')
       THEN CASE WHEN s.last_us > s.cut_us THEN CAST(s.last_us - s.cut_us AS DOUBLE) / 1e6
                 WHEN s.last_us <= s.cut_us THEN CAST(0 AS DOUBLE) END END AS lost_s,
  CASE WHEN m.r2 > 1 THEN CAST(1 AS DOUBLE) ELSE m.r2 END AS model_r2,
  CASE WHEN m.r2 IS NOT NULL THEN m.n END AS model_n,
  nullif(concat_ws('; ',
    CASE WHEN l.attempts IS NULL AND p.status = 'skipped' THEN 'skipped, never submitted'
         WHEN l.attempts IS NULL THEN 'no attempt in the log'
         WHEN l.succeeded = 0 THEN 'no successful attempt'
         WHEN l.timed = 0 THEN 'no successful attempt with a duration'
         WHEN l.timed = 1 AND l.attempts - coalesce(q.repeats, 0) = 1 THEN 'single task'
         WHEN l.basis = 'few' THEN 'fewer than 3 tasks with a duration'
         WHEN l.max_s = 0 THEN 'all durations zero'
         WHEN l.basis = 'zero' THEN 'median duration zero'
         WHEN l.basis = 'duration' THEN 'no rates: too few tasks with a known input' END,
    CASE WHEN p.gang THEN 'gang: tasks wait for each other' END,
    CASE WHEN coalesce(l.basis, 'few') IN ('few', 'zero') OR m.r2 IS NOT NULL THEN NULL
         WHEN l.n < 10 THEN 'no model: fewer than 10 tasks with a known input'
         WHEN l.y_high = l.y_low THEN 'no model: durations do not vary'
         ELSE 'no model: inputs do not vary' END), '') AS note
FROM phases p
  LEFT JOIN judged l ON l.phase_id = p.phase_id
  LEFT JOIN repeats q ON q.phase_id = p.phase_id
  LEFT JOIN rated r ON r.phase_id = p.phase_id
  LEFT JOIN slow s ON s.phase_id = p.phase_id
  LEFT JOIN model m ON m.phase_id = p.phase_id
ORDER BY p.phase_id NULLS LAST
