-- The rejected records of the document's applications: without those of files, or of directories, that only other applications
-- were read from. Needs report_apps.
WITH files AS (
  SELECT a.source_file, count(r.application_id) AS picked
  FROM applications a LEFT JOIN report_apps r ON r.application_id = a.application_id
  GROUP BY a.source_file
)
SELECT x.source_file, x.line, x.byte_offset, x.reason, x.sample
FROM rejects x
  LEFT JOIN files f ON f.source_file = x.source_file
  LEFT JOIN files d ON d.source_file = regexp_replace(x.source_file, '/[^/]*$', '')
WHERE coalesce(f.picked, d.picked, 1) > 0
