-- The special attempts of a window: for each kind, machine and bin the one with the most excess, then the longest, with the
-- number of attempts that it represents. The kinds are those of window.sql.
SELECT * FROM (
SELECT x.*, count(*) OVER (PARTITION BY machine, kind, CAST(floor(CAST(greatest(start_us, {from}) - {from} AS DOUBLE) / {width}) AS BIGINT)) AS n,
  row_number() OVER (PARTITION BY machine, kind, CAST(floor(CAST(greatest(start_us, {from}) - {from} AS DOUBLE) / {width}) AS BIGINT)
    ORDER BY excess_s DESC NULLS LAST, finish_us - start_us DESC NULLS LAST, attempt_id NULLS LAST) AS place
FROM ({window}) x
WHERE kind > 0
) y
WHERE place = 1
ORDER BY machine NULLS LAST, start_us NULLS LAST, attempt_id NULLS LAST
