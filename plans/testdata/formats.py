"""Tables of Delta Lake, Iceberg and Hive for lab.py: the same skew read from and merged into tables of these formats, chosen before the code had
seen a log of any of them.

Needs pyspark 3.5 and, in one folder, these jars from Maven Central: io.delta:delta-spark_2.12:3.2.1, io.delta:delta-storage:3.2.1,
org.antlr:antlr4-runtime:4.9.3 and org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.6.1.
"""
import glob

from further import EACH, WORK, join

SUM = f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from "
# Work that a join does for each pair of rows, in whatever order its inputs stand.
PAIR = f"o.customer_id = c.id and {EACH.format(n=60, v='(o.amount + c.region_id)')} >= 0"
INSERT = "merge into {0}customers c using {0}orders o on " + PAIR + " when not matched then insert (id, region, region_id) values (o.customer_id, 'new', o.amount)"
UPDATE = "merge into {0}orders o using {0}customers c on " + PAIR + " when matched then update set amount = c.region_id"
CLEAN = "merge into {0}customers c using (select customer_id, max(amount) amount, count(*) n from {0}orders group by customer_id) o on c.id = o.customer_id when matched and o.n > 1 then update set region_id = o.amount"
GROUPED = {"spark.sql.sources.v2.bucketing.enabled": "true", "spark.sql.sources.v2.bucketing.pushPartValues.enabled": "true",
           "spark.sql.iceberg.planning.preserve-data-grouping": "true", "spark.sql.requireAllClusterKeysForCoPartition": "false"}
DELTA, ICEBERG, HIVE = "default.delta_", "ice.shop.", "default.hive_"


def select(of, orders="orders", customers="customers", where=""):
    return SUM + f"{of}{orders} o join {of}{customers} c on o.customer_id = c.id{where}"


def skew(of, orders="orders", customers="customers", **more):
    return [join(source=of + orders, other=of + customers, **more)]


# name: (statement, settings, truth), as in lab.py. Of the inputs of a merge, Delta puts the source first and Iceberg the target, but for one that only inserts.
FORMATS = {
    "clean_delta": (select(DELTA, "even"), {}, None),
    "clean_hive": (select(HIVE, "even"), {}, None),
    "delta": (select(DELTA), {}, skew(DELTA)),
    "hive": (select(HIVE), {}, skew(HIVE)),
    "hive_orc": (select(HIVE, "orc"), {}, skew(HIVE, "orc")),
    "delta_path": (SUM + "delta.`{data}paths/orders` o join default.delta_customers c on o.customer_id = c.id", {}, [join(source="orders", other="default.delta_customers")]),
    "delta_partitioned": (select(DELTA, "days", where=" where o.day < 18"), {}, skew(DELTA, "days")),
    "clean_delta_merge": (CLEAN.format(DELTA), {}, None),
    "delta_insert": (INSERT.format(DELTA), {}, skew(DELTA)),
    "delta_update": (UPDATE.format(DELTA), {}, skew(DELTA, side="right")),
    "clean_iceberg": (select(ICEBERG, "even"), {}, None),
    "iceberg": (select(ICEBERG), {}, skew(ICEBERG)),
    "iceberg_grouped": (select(ICEBERG, "bucketed", "bucketed_customers"), GROUPED, skew(ICEBERG, "bucketed", "bucketed_customers", unsplit=True)),
    "clean_iceberg_merge": (CLEAN.format(ICEBERG), {}, None),
    "iceberg_insert": (INSERT.format(ICEBERG), {}, skew(ICEBERG)),
    "iceberg_update": (UPDATE.format(ICEBERG), {}, skew(ICEBERG)),
}


def configure(builder, jars, data):
    return (builder.config("spark.jars", ",".join(sorted(glob.glob(jars + "/*.jar"))))
            .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
            .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.ice.type", "hadoop").config("spark.sql.catalog.ice.warehouse", data + "/iceberg")
            .config("spark.sql.iceberg.vectorization.enabled", "false") # a JVM of Debian crashed in its Arrow
            .config("spark.databricks.delta.snapshotPartitions", "2")
            .config("spark.hadoop.javax.jdo.option.ConnectionURL", f"jdbc:derby:;databaseName={data}/metastore;create=true")
            .enableHiveSupport())


def tables(spark, data):
    for table, of in [("orders", "orders"), ("even", "orders_even"), ("customers", "customers")]:
        spark.sql(f"create table default.delta_{table} using delta as select * from {of}")
        spark.sql(f"create table ice.shop.{table} using iceberg as select * from {of}")
        spark.sql(f"create table default.hive_{table} stored as textfile as select * from {of}")
    spark.sql("create table default.hive_orc stored as orc as select * from orders")
    spark.table("orders").write.format("delta").save(data + "paths/orders")
    spark.sql("create table default.delta_days using delta partitioned by (day) as select *, pmod(id, 20) day from orders")
    spark.sql("create table ice.shop.bucketed using iceberg partitioned by (bucket(24, customer_id)) as select * from orders")
    spark.sql("create table ice.shop.bucketed_customers using iceberg partitioned by (bucket(24, id)) as select * from customers")
