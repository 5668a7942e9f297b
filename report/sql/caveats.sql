-- Caveats of the selected applications by code, each with the detail of the application that it concerns most; the ones
-- that concern most applications first. Needs report_apps.
SELECT code, count(DISTINCT application_id) AS applications, CAST(sum(count) AS BIGINT) AS count, max(CASE WHEN place = 1 THEN detail END) AS detail,
  count(*) OVER () AS total
FROM (
  SELECT c.code, c.application_id, c.count, c.detail,
    row_number() OVER (PARTITION BY c.code ORDER BY c.count DESC NULLS LAST, c.application_id NULLS LAST, c.detail NULLS LAST) AS place
  FROM caveats c SEMI JOIN report_apps r ON r.application_id = c.application_id
) x
GROUP BY code
ORDER BY applications DESC NULLS LAST, code NULLS LAST
LIMIT 30
