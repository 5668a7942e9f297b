-- The program that each application with a name is a run of: its name without what differs in each run, as stage_history says. What
-- people type into a shell, or send to a server, is no run of a program: the names are those that bin/spark-shell, bin/pyspark, bin/sparkR and
-- sbin/start-thriftserver.sh of Spark, Databricks and Zeppelin give.
SELECT i.application_id, coalesce(h.program, i.name) AS program
FROM applications i LEFT JOIN (
  SELECT j.application_id, max(s.program) AS program
  FROM stage_history s JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id
  GROUP BY j.application_id
) AS h ON h.application_id = i.application_id
WHERE i.name NOT IN ('Spark shell', 'PySparkShell', 'SparkR', 'Databricks Shell', 'Zeppelin') AND i.name NOT LIKE 'Thrift JDBC%'
