-- How the tasks of each phase compare: takes phases and attempts, gives the rows of phase_stats.
--
-- A task is judged by the attempt that won it: the successful one that finished first. Failed, killed, lost and running
-- attempts are counted in `attempts` and judge nothing. A duration that is negative, NaN or infinite is unknown. A rate
-- needs work and time: a task that read nothing, or took less than a tick of the clock, has none.
--
-- The choices, each of which stands once below:
--   1.5   an outlier runs longer than 1.5 x the median duration (MANTRI 4.1)
--   0.5   a straggler's rate is under half the median rate (DOLLY 2.1.2); without rates, its duration over twice the median
--   0.95  rates are in bytes where 95 % of the timed tasks have such a rate, else in records likewise, else there are none
--   3     fewer tasks get no verdict: of two, the slow one makes half of the median
--   10    fewer attempts get no model: two predictors explain 2/(n-1) of pure noise
--   1e-9  a predictor that does not vary, or that the other one explains, up to this part is left out
--
-- unix_micros is Spark's; DuckDB sessions of straggler have a macro of that name.
WITH
-- Most tasks have one attempt and nothing to compare; (phase_id, task, number) is unique.
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
-- First look: how many, how long, at what rate in bytes. The model's sums are of integers (microseconds, bytes), which
-- are exact and so do not depend on the order in which threads meet the rows.
looked AS (
  SELECT phase_id,
    count(*) AS attempts,
    count(won) AS succeeded,
    count(d) AS timed,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY d) AS median_s,
    percentile_cont(0.75) WITHIN GROUP (ORDER BY d) AS p75_s,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY d) AS p95_s,
    max(d) AS max_s,
    count(byte_rate) AS byte_rates,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY byte_rate) AS median_byte_rate,
    min(byte_rate) AS slowest_byte_rate,
    count(record_rate) AS record_rates,
    count(y) AS n,
    count(z) AS n_remote,
    min(y) AS y_low, max(y) AS y_high, min(x) AS x_low, max(x) AS x_high, min(z) AS z_low, max(z) AS z_high,
    sum(x) AS sx, sum(y) AS sy, sum(z) AS sz,
    sum(x * x) AS sxx, sum(x * y) AS sxy, sum(x * z) AS sxz, sum(y * y) AS syy, sum(y * z) AS syz, sum(z * z) AS szz
  FROM (
    SELECT phase_id, won, d,
      CASE WHEN input_bytes > 0 THEN input_bytes / nullif(d, 0) END AS byte_rate,
      CASE WHEN input_records > 0 AND d > 0 THEN 1 END AS record_rate,
      CASE WHEN model = 1 THEN CAST(input_bytes AS DECIMAL(19,0)) END AS x,
      CASE WHEN model = 1 THEN CAST(CAST(round(d * 1e6) AS BIGINT) AS DECIMAL(19,0)) END AS y,
      CASE WHEN model = 1 AND remote_bytes BETWEEN 0 AND 1000000000000000 THEN CAST(remote_bytes AS DECIMAL(19,0)) END AS z
    FROM (
      SELECT phase_id, won, d, input_bytes, input_records, remote_bytes,
        CASE WHEN d < 1e9 AND input_bytes BETWEEN 0 AND 1000000000000000 THEN 1 END AS model
      FROM (
        SELECT phase_id, input_bytes, input_records, remote_bytes, won,
          CASE WHEN won = 1 AND duration_s BETWEEN 0 AND 1e15 THEN duration_s END AS d
        FROM (
          SELECT phase_id, duration_s, input_bytes, input_records, remote_bytes,
            CASE WHEN status = 'success' AND attempt_id NOT IN (SELECT attempt_id FROM beaten) THEN 1 END AS won
          FROM attempts
        ) AS raw
      ) AS timed
    ) AS chosen
  ) AS measured
  GROUP BY phase_id
),
judged AS (
  SELECT phase_id, median_s, median_byte_rate, slowest_byte_rate,
    CASE WHEN timed < 3 THEN 'few' WHEN median_s = 0 THEN 'zero'
         WHEN byte_rates >= 0.95 * timed THEN 'bytes'
         WHEN record_rates >= 0.95 * timed THEN 'records'
         ELSE 'duration' END AS basis
  FROM looked
),
-- Second look, only at phases whose rates are in records.
records AS (
  SELECT phase_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY rate) AS median_rate, min(rate) AS slowest_rate
  FROM (
    SELECT a.phase_id, a.input_records / nullif(a.duration_s, 0) AS rate
    FROM attempts a JOIN (SELECT phase_id FROM judged WHERE basis = 'records') AS j ON j.phase_id = a.phase_id
    WHERE a.status = 'success' AND a.duration_s BETWEEN 0 AND 1e15 AND a.input_records > 0
      AND a.attempt_id NOT IN (SELECT attempt_id FROM beaten)
  ) AS r
  GROUP BY phase_id
),
rated AS (
  SELECT j.phase_id, j.basis, j.median_s,
    CASE WHEN j.basis = 'bytes' THEN j.median_byte_rate ELSE r.median_rate END AS median_rate,
    CASE WHEN j.basis = 'bytes' THEN j.slowest_byte_rate ELSE r.slowest_rate END AS slowest_rate
  FROM judged j LEFT JOIN records r ON r.phase_id = j.phase_id
),
-- Third look, medians in hand: who is slow, and when the phase would have ended without. Every task is cut to the median
-- at most and nothing is packed anew: a task starts when it did, whoever's slot would have come free. An output that was
-- lost and made again ends the phase when it is made again.
slow AS (
  SELECT phase_id,
    count(*) FILTER (WHERE won = 1 AND duration_s > 1.5 * median_s) AS outliers,
    count(*) FILTER (WHERE won = 1 AND (work / nullif(duration_s, 0) < 0.5 * median_rate
                                        OR basis = 'duration' AND duration_s > 2 * median_s)) AS stragglers,
    unix_micros(max(finish_time)) AS last_us,
    greatest(unix_micros(max(CASE WHEN duration_s <= median_s THEN finish_time END)),
             unix_micros(max(CASE WHEN duration_s > median_s THEN start_time END)) + CAST(round(max(median_s) * 1e6) AS BIGINT)
             ) AS cut_us
  FROM (
    SELECT a.phase_id, a.duration_s, a.start_time, a.finish_time, r.basis, r.median_s, r.median_rate,
      CASE WHEN a.attempt_id NOT IN (SELECT attempt_id FROM beaten) THEN 1 END AS won, a.recompute,
      CASE WHEN r.basis = 'bytes' AND a.input_bytes > 0 THEN a.input_bytes
           WHEN r.basis = 'records' AND a.input_records > 0 THEN a.input_records END AS work
    FROM attempts a JOIN rated r ON r.phase_id = a.phase_id
    WHERE a.status = 'success' AND a.duration_s BETWEEN 0 AND 1e15
  ) AS s
  WHERE won = 1 OR recompute
  GROUP BY phase_id
),
-- The model: duration = a + b x input bytes + c x remote bytes, by least squares. Sums about the middle of each range
-- are exact integers; only then do they become doubles and lose their means.
middles AS (
  SELECT *, n_remote = n AND z_high > z_low AS has_z, x_high > x_low AS has_x, CAST(n AS DECIMAL(19,0)) AS k,
    CAST(floor((x_low + x_high) / 2) AS DECIMAL(19,0)) AS xm,
    CAST(floor((y_low + y_high) / 2) AS DECIMAL(19,0)) AS ym,
    CAST(floor((z_low + z_high) / 2) AS DECIMAL(19,0)) AS zm
  FROM looked
  WHERE n >= 10
),
moved AS (
  SELECT phase_id, n, has_x, has_z,
    CAST(sx - k * xm AS DOUBLE) AS x, CAST(sy - k * ym AS DOUBLE) AS y, CAST(sz - k * zm AS DOUBLE) AS z,
    CAST(sxx - 2 * xm * sx + k * xm * xm AS DOUBLE) AS xx,
    CAST(syy - 2 * ym * sy + k * ym * ym AS DOUBLE) AS yy,
    CAST(szz - 2 * zm * sz + k * zm * zm AS DOUBLE) AS zz,
    CAST(sxy - xm * sy - ym * sx + k * xm * ym AS DOUBLE) AS xy,
    CAST(sxz - xm * sz - zm * sx + k * xm * zm AS DOUBLE) AS xz,
    CAST(syz - ym * sz - zm * sy + k * ym * zm AS DOUBLE) AS yz
  FROM middles
),
centred AS (
  SELECT phase_id, n, has_x, has_z,
    xx - x * x / n AS xx, yy - y * y / n AS yy, zz - z * z / n AS zz,
    xy - x * y / n AS xy, xz - x * z / n AS xz, yz - y * z / n AS yz
  FROM moved
),
model AS (
  SELECT phase_id, n,
    CASE WHEN has_x AND has_z AND xx * zz - xz * xz > 1e-9 * xx * zz
           THEN (xy * xy * zz - 2 * xy * yz * xz + yz * yz * xx) / nullif((xx * zz - xz * xz) * yy, 0)
         WHEN has_x THEN xy * xy / nullif(xx * yy, 0)
         WHEN has_z THEN yz * yz / nullif(zz * yy, 0) END AS r2
  FROM centred
)
SELECT p.phase_id,
  coalesce(l.attempts - coalesce(q.repeats, 0), 0) AS tasks,
  coalesce(l.attempts, 0) AS attempts,
  coalesce(l.succeeded, 0) AS succeeded,
  l.median_s, l.p75_s, l.p95_s, l.max_s,
  r.median_rate, r.slowest_rate,
  CASE WHEN r.basis = 'duration' THEN l.max_s / nullif(l.median_s, 0)
       ELSE r.median_rate / nullif(r.slowest_rate, 0) END AS slowdown_ratio,
  CASE WHEN r.basis IN ('bytes', 'records', 'duration') THEN r.basis END AS slowdown_basis,
  CASE WHEN r.basis IN ('bytes', 'records', 'duration') THEN s.stragglers END AS stragglers,
  CASE WHEN r.basis IN ('bytes', 'records', 'duration') THEN s.outliers END AS outliers,
  CASE WHEN r.basis IN ('bytes', 'records', 'duration')
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
         WHEN r.basis = 'few' THEN 'fewer than 3 tasks with a duration'
         WHEN l.max_s = 0 THEN 'all durations zero'
         WHEN r.basis = 'zero' THEN 'median duration zero'
         WHEN r.basis = 'duration' THEN 'no rates: too few tasks with a known input' END,
    CASE WHEN p.gang THEN 'gang: tasks wait for each other' END,
    CASE WHEN coalesce(r.basis, 'few') IN ('few', 'zero') OR m.r2 IS NOT NULL THEN NULL
         WHEN l.n < 10 THEN 'no model: fewer than 10 tasks with a known input'
         WHEN l.y_high = l.y_low THEN 'no model: durations do not vary'
         ELSE 'no model: inputs do not vary' END), '') AS note
FROM phases p
  LEFT JOIN looked l ON l.phase_id = p.phase_id
  LEFT JOIN repeats q ON q.phase_id = p.phase_id
  LEFT JOIN rated r ON r.phase_id = p.phase_id
  LEFT JOIN slow s ON s.phase_id = p.phase_id
  LEFT JOIN model m ON m.phase_id = p.phase_id
ORDER BY p.phase_id NULLS LAST
