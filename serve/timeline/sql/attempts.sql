-- The attempts of a window, one by one.
SELECT x.*, CAST(1 AS BIGINT) AS n
FROM ({window}) x
ORDER BY machine NULLS LAST, start_us NULLS LAST, attempt_id NULLS LAST
