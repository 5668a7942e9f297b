-- The earlier runs of the programs of the picked applications: a row for each application and run. Needs report_slow_apps and
-- report_programs.
SELECT a.application_id, b.application_id AS earlier_id
FROM applications a SEMI JOIN report_slow_apps r ON r.application_id = a.application_id
  JOIN report_programs n ON n.application_id = a.application_id JOIN report_programs m ON m.program = n.program
  JOIN applications b ON b.application_id = m.application_id AND b.start_time < a.start_time
