-- Lost outputs and their recomputation, by the machine they were on and the phase that had written them. Needs report_apps.
-- restored is when the last of them was recomputed. redone_s is summed in microseconds, which add up the same in any order.
SELECT l.machine, p.native_id AS phase, p.attempt, max(p.name) AS name, max(app.native_id) AS application, count(DISTINCT l.task) AS outputs,
  min(l.time) AS lost, max(r.finish_time) AS restored,
  CAST(sum(CAST(round(CASE WHEN r.duration_s BETWEEN 0 AND 1e9 THEN r.duration_s END * 1e6) AS BIGINT)) AS DOUBLE) / 1e6 AS redone_s,
  count(DISTINCT l.detected_by) AS missed_by, max(d.machine) AS missed_on, max(dp.native_id) AS reader
FROM losses l JOIN phases p ON p.phase_id = l.phase_id JOIN jobs j ON j.job_id = p.job_id
  JOIN applications app ON app.application_id = j.application_id
  SEMI JOIN report_apps ra ON ra.application_id = j.application_id
  LEFT JOIN (SELECT a.attempt_id, a.finish_time, a.duration_s FROM attempts a SEMI JOIN losses x ON x.recomputed_by = a.attempt_id) r ON r.attempt_id = l.recomputed_by
  LEFT JOIN (SELECT a.attempt_id, a.phase_id, a.machine FROM attempts a SEMI JOIN losses x ON x.detected_by = a.attempt_id) d ON d.attempt_id = l.detected_by
  LEFT JOIN phases dp ON dp.phase_id = d.phase_id
GROUP BY l.machine, p.phase_id, p.native_id, p.attempt
ORDER BY redone_s DESC NULLS LAST, outputs DESC NULLS LAST, l.machine NULLS LAST, p.phase_id NULLS LAST
LIMIT 50
