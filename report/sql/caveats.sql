-- Caveats of the selected applications, the ones that concern most first. Needs report_apps.
SELECT c.application_id, a.native_id AS application, c.code, c.count, c.detail, count(*) OVER () AS total
FROM caveats c JOIN applications a ON a.application_id = c.application_id
  SEMI JOIN report_apps r ON r.application_id = c.application_id
ORDER BY c.count DESC NULLS LAST, a.native_id NULLS LAST, c.code NULLS LAST, c.detail NULLS LAST
LIMIT 30
