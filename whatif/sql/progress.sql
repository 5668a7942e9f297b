-- What attempts reported themselves.
SELECT attempt_id, time, progress
FROM progress
WHERE source <> 'synthetic'
ORDER BY attempt_id NULLS LAST, time NULLS LAST, progress NULLS LAST
