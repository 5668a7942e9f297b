-- How many applications of the store the document is not about. Needs report_apps.
SELECT count(*) AS n
FROM applications a LEFT JOIN report_apps r ON r.application_id = a.application_id
WHERE r.application_id IS NULL
