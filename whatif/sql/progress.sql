-- The progress reports of attempts.
SELECT p.attempt_id, p.time, p.progress
FROM progress p
WHERE p.source <> 'synthetic' AND {those}
ORDER BY p.attempt_id NULLS LAST, p.time NULLS LAST, p.progress NULLS LAST
