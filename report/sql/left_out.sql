-- The number of applications of the store that are not part of the document. Needs report_apps.
SELECT count(*) AS n
FROM applications a LEFT JOIN report_apps r ON r.application_id = a.application_id
WHERE r.application_id IS NULL
