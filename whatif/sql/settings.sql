-- The log's own settings of speculation, for the policy that uses them.
SELECT * FROM settings
WHERE name LIKE 'spark.speculation%'
ORDER BY application_id NULLS LAST, name NULLS LAST
