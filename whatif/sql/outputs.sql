-- How large outputs are, in applications that lost any.
SELECT attempt_id, COALESCE(shuffle_write_bytes, output_bytes) AS bytes
FROM attempts
WHERE COALESCE(shuffle_write_bytes, output_bytes) IS NOT NULL AND application_id IN (
    SELECT a.application_id FROM losses l JOIN attempts a ON a.attempt_id = l.recomputed_by)
