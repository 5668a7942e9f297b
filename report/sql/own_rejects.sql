-- The rejected records of the document's applications: without those that only belong to other applications. Needs report_apps,
-- and owned_rejects of package selection.
SELECT x.source_file, x.line, x.byte_offset, x.reason, x.sample
FROM owned_rejects x LEFT JOIN (
  SELECT a.source_file, count(r.application_id) AS picked
  FROM applications a LEFT JOIN report_apps r ON r.application_id = a.application_id
  GROUP BY a.source_file
) AS i ON i.source_file = x.input
WHERE coalesce(i.picked, 1) > 0
