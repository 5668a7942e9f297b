-- The settings about partitions in adaptive execution when a query started: its session's, or else its application's.
SELECT q.query_id, s.name, s.value
FROM queries q JOIN query_settings s ON s.query_id = q.query_id
WHERE s.name LIKE 'spark.sql.%' OR s.name LIKE 'spark.databricks.%' OR s.name = 'spark.default.parallelism'
UNION ALL
SELECT q.query_id, s.name, s.value
FROM queries q
JOIN settings s ON s.application_id = q.application_id
LEFT JOIN query_settings own ON own.query_id = q.query_id AND own.name = s.name
WHERE own.query_id IS NULL AND (s.name LIKE 'spark.sql.%' OR s.name LIKE 'spark.databricks.%' OR s.name = 'spark.default.parallelism')
ORDER BY query_id NULLS LAST, name NULLS LAST, value NULLS LAST
