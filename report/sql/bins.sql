-- Tasks of the large ones of the picked phases by duration, in 80 equal bins from 0 to the longest. Needs report_tasks.
SELECT phase_id, bin, count(*) AS n
FROM (
  SELECT t.phase_id, least(CAST(floor(80 * t.d / nullif(m.longest, 0)) AS BIGINT), 79) AS bin
  FROM report_tasks t JOIN (SELECT phase_id, max(d) AS longest, count(*) AS n FROM report_tasks GROUP BY phase_id) m ON m.phase_id = t.phase_id
  WHERE m.n > 200 AND m.longest > 0
) x
GROUP BY phase_id, bin
ORDER BY phase_id NULLS LAST, bin NULLS LAST
