-- The jobs of SWIM files, with their three byte counts.
SELECT max(j.native_id) AS name, max(j.submit_time) AS submit_time,
    max(CASE WHEN s.name = 'swim.map_input_bytes' THEN CAST(s.value AS BIGINT) END) AS input,
    max(CASE WHEN s.name = 'swim.shuffle_bytes' THEN CAST(s.value AS BIGINT) END) AS shuffle,
    max(CASE WHEN s.name = 'swim.reduce_output_bytes' THEN CAST(s.value AS BIGINT) END) AS output
FROM jobs j JOIN settings s ON s.application_id = j.application_id
WHERE s.name LIKE 'swim.%'
GROUP BY j.job_id
ORDER BY submit_time NULLS LAST, j.job_id NULLS LAST
