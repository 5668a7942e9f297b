-- The program of each named application: its name without what differs in each run, as in stage_history. Interactive shells and
-- servers are not runs of a program: their names are set by bin/spark-shell, bin/pyspark, bin/sparkR and
-- sbin/start-thriftserver.sh of Spark, by Databricks and by Zeppelin.
SELECT i.application_id, coalesce(h.program, i.name) AS program
FROM applications i LEFT JOIN (
  SELECT j.application_id, max(s.program) AS program
  FROM stage_history s JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id
  GROUP BY j.application_id
) AS h ON h.application_id = i.application_id
WHERE i.name NOT IN ('Spark shell', 'PySparkShell', 'SparkR', 'Databricks Shell', 'Zeppelin') AND i.name NOT LIKE 'Thrift JDBC%'
