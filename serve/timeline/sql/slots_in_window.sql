-- Those of slots.sql that ran in a window, in the same order.
SELECT * FROM ({slots}) x
WHERE shown
ORDER BY machine NULLS LAST, start_us NULLS LAST, attempt_id NULLS LAST
