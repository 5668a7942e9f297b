-- Outputs that were lost and recomputed.
SELECT * FROM losses
WHERE attempt_id IS NOT NULL AND recomputed_by IS NOT NULL
ORDER BY time NULLS LAST, recomputed_by NULLS LAST
