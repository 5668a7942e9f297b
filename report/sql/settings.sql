-- Settings that advice refers to, if all selected applications that have them agree. Needs report_apps.
SELECT s.name, min(s.value) AS value, count(DISTINCT s.value) AS n
FROM settings s SEMI JOIN report_apps r ON r.application_id = s.application_id
GROUP BY s.name
ORDER BY s.name NULLS LAST
