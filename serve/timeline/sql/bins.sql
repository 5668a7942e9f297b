-- How busy the machines were in the bins of a window. An attempt adds its microseconds to the bins that it begins and ends in,
-- and runs through those between them: step is +1 in the first and -1 after the last of these. Each is counted once, in n.
WITH seen AS (
  SELECT coalesce(machine, '') AS machine, greatest(unix_micros(start_time), {from}) AS s,
    least(greatest(coalesce(unix_micros(finish_time), {end}), unix_micros(start_time)), {to}) AS f
  FROM attempts
  WHERE application_id = {application} AND start_time IS NOT NULL AND coalesce(machine, '') IN ({machines}) AND unix_micros(start_time) < {to}
    AND (finish_time IS NULL OR unix_micros(finish_time) > {from} OR unix_micros(start_time) >= {from})
),
placed AS (
  SELECT machine, s, f, CAST(floor(CAST(s - {from} AS DOUBLE) / {width}) AS BIGINT) AS a,
    greatest(CAST(floor(CAST(f - 1 - {from} AS DOUBLE) / {width}) AS BIGINT), CAST(floor(CAST(s - {from} AS DOUBLE) / {width}) AS BIGINT)) AS z
  FROM seen
)
SELECT machine, bin, CAST(sum(busy_us) AS BIGINT) AS busy_us, CAST(sum(step) AS BIGINT) AS step, CAST(sum(n) AS BIGINT) AS n
FROM (
  SELECT machine, a AS bin, least(f, {from} + (a + 1) * {width}) - s AS busy_us, 0 AS step, 1 AS n FROM placed
  UNION ALL SELECT machine, z AS bin, f - ({from} + z * {width}) AS busy_us, 0 AS step, 0 AS n FROM placed WHERE z > a
  UNION ALL SELECT machine, a + 1 AS bin, 0 AS busy_us, 1 AS step, 0 AS n FROM placed WHERE z > a + 1
  UNION ALL SELECT machine, z AS bin, 0 AS busy_us, -1 AS step, 0 AS n FROM placed WHERE z > a + 1
) x
GROUP BY machine, bin
ORDER BY machine NULLS LAST, bin NULLS LAST
