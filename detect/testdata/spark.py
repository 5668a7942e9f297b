"""Runs phase_stats.sql and outliers.sql on Spark SQL: spark.py DIR, which holds the tables as Parquet and gets the results."""
import sys
from pyspark.sql import SparkSession

folder = sys.argv[1]
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
         .config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "4").getOrCreate())
for name in ("applications", "phases", "attempts"):
    spark.read.parquet(f"{folder}/{name}.parquet").createOrReplaceTempView(name)
for name in ("phase_stats", "outliers"):
    with open(f"{name}.sql") as f:
        rows = spark.sql(f.read())
    rows.write.parquet(f"{folder}/spark_{name}")
    spark.read.parquet(f"{folder}/spark_{name}").createOrReplaceTempView(name)
