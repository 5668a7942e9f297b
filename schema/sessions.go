package schema

// SessionNames returns the names that interactive shells, notebooks and servers give to applications whose user gave none:
// bin/spark-shell, bin/pyspark, Python without spark-submit, bin/sparkR, sbin/start-thriftserver.sh and
// sbin/start-connect-server.sh of Spark, clusters of Databricks, Zeppelin. Applications of one such name are no runs of one
// program: what one did says nothing of what is normal for another.
func SessionNames() []string {
	return []string{
		"Spark shell", "PySparkShell", "pyspark-shell", "SparkR", "Thrift JDBC/ODBC Server", "Spark Connect server",
		"Databricks Shell", "Zeppelin",
	}
}
