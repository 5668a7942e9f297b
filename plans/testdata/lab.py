"""Real Spark SQL with skew of known place: one application a run, its event log and what is true of each of its queries.

    python lab.py OUT --aqe on|off [--night 1|2]     # with pyspark 3.5 or 4 installed; a run takes about a minute on two cores

The description of a query is the name of its case; truth.json says for each which operator is slow, by which keys, on which side.
"""
import argparse, json, os, random, shutil, tempfile

from pyspark.sql import SparkSession

# Work that takes time in proportion to the rows of a partition.
WORK = "sum(aggregate(sequence(1, {n}), 0L, (a, x) -> (a + x * cast({v} as bigint)) % 1000003))"

CASES = {
    # name: (statement, settings, truth)
    "clean_join": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from orders_even o join customers c on o.customer_id = c.id", {}, None),
    "clean_group": (f"select customer_id, size(collect_list(amount)) n, {WORK.format(n=20, v='amount')} s from orders_even group by customer_id", {}, None),
    "skew_left": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from orders o join customers c on o.customer_id = c.id", {},
                  {"kind": "join", "keys": "customer_id", "side": "left", "source": "orders", "other": "customers"}),
    "skew_right": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from customers c join orders o on c.id = o.customer_id", {},
                   {"kind": "join", "keys": "customer_id", "side": "right", "source": "orders", "other": "customers"}),
    "skew_hash": (f"select /*+ SHUFFLE_HASH(c) */ {WORK.format(n=40, v='o.amount')} s, count(c.region) from orders o join customers c on o.customer_id = c.id", {},
                  {"kind": "join", "keys": "customer_id", "side": "left", "source": "orders", "other": "customers"}),
    "skew_outer": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from customers c right join orders o on c.id = o.customer_id", {},
                   {"kind": "join", "keys": "customer_id", "side": "right", "source": "orders", "other": "customers"}),
    "skew_group": (f"select customer_id, size(collect_list(amount)) n, {WORK.format(n=60, v='amount')} s from (select customer_id, amount from orders distribute by customer_id) group by customer_id", {},
                   {"kind": "aggregate", "keys": "customer_id", "source": "orders"}),
    "skew_window": (f"select {WORK.format(n=40, v='r')} s from (select row_number() over (partition by customer_id order by amount) r from orders)", {},
                    {"kind": "window", "keys": "customer_id", "source": "orders"}),
    "aqe_split": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from orders o join customers c on o.customer_id = c.id",
                  {"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "64k", "spark.sql.adaptive.advisoryPartitionSizeInBytes": "64k",
                   "spark.sql.adaptive.coalescePartitions.minPartitionSize": "16k", "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2"},
                  {"split": True, "kind": "join", "keys": "customer_id", "side": "left", "source": "orders", "other": "customers"}),
}

NIGHT = f"select r.name, {WORK.format(n=10, v='o.amount')} s from orders_even o join {{regions}} r on o.region_id = r.id where o.amount > 5 group by r.name"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--aqe", choices=["on", "off"], default="on")
    p.add_argument("--night", type=int, choices=[1, 2])
    p.add_argument("--only", nargs="*")
    a = p.parse_args()
    work = tempfile.mkdtemp()
    os.makedirs(a.out, exist_ok=True)
    night = a.night is not None
    aqe = str(a.aqe == "on").lower()
    # On the second night the dimension has outgrown the threshold of a broadcast.
    threshold = "200k" if night else "-1"
    spark = (SparkSession.builder.master("local[4]").appName("nightly" if night else "lab-sql")
             .config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", "file://" + work)
             .config("spark.eventLog.compress", "true").config("spark.eventLog.compression.codec", "zstd")
             .config("spark.sql.shuffle.partitions", "24").config("spark.sql.adaptive.enabled", aqe)
             .config("spark.sql.adaptive.coalescePartitions.parallelismFirst", "false")
             .config("spark.sql.adaptive.advisoryPartitionSizeInBytes", "64k")
             .config("spark.sql.adaptive.coalescePartitions.minPartitionSize", "16k")
             .config("spark.sql.autoBroadcastJoinThreshold", threshold).config("spark.ui.enabled", "false")
             .config("spark.sql.warehouse.dir", work + "/warehouse").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    data = work + "/data/"
    rows = 240_000
    spark.sql(f"select cast(if(pmod(hash(id), 100) < 45, 17, pmod(hash(id, 7), 4000)) as bigint) customer_id, id, cast(pmod(hash(id, 3), 1000) as bigint) amount from range(0, {rows}, 1, 6)").write.parquet(data + "orders")
    spark.sql(f"select cast(pmod(hash(id, 7), 4000) as bigint) customer_id, id, cast(pmod(hash(id, 3), 1000) as bigint) amount, cast(pmod(id, 50) as bigint) region_id from range(0, {rows}, 1, 6)").write.parquet(data + "orders_even")
    spark.sql("select id, concat('region', id % 9) region from range(0, 4000, 1, 2)").write.parquet(data + "customers")
    wide = 60_000 if a.night == 2 else 50
    spark.sql(f"select id, concat('region ', id, ' ', sha2(cast(id as string), 256)) name from range(0, {wide}, 1, 1)").write.parquet(data + "regions")
    for name in ["orders", "orders_even", "customers", "regions"]:
        spark.read.parquet(data + name).createOrReplaceTempView(name)
    truth = {}
    if night:
        spark.sparkContext.setJobDescription("warm_up")
        spark.sql("select count(*) from orders_even").collect()
        spark.sparkContext.setJobDescription("by_region")
        spark.sql(NIGHT.format(regions="regions")).write.format("noop").mode("overwrite").save()
        truth["by_region"] = {"night": a.night, "join": "SortMergeJoin" if a.night == 2 else "BroadcastHashJoin"}
    else:
        spark.sparkContext.setJobDescription("warm_up")
        spark.sql(CASES["clean_join"][0]).collect()
        for name, (statement, settings, expected) in CASES.items():
            if a.only and name not in a.only:
                continue
            if name == "aqe_split" and a.aqe == "off":
                continue
            for k, v in settings.items():
                spark.conf.set(k, v)
            spark.sparkContext.setJobDescription(name)
            spark.sql(statement).write.format("noop").mode("overwrite").save()
            for k in settings:
                spark.conf.unset(k)
            truth[name] = expected
    app, version = spark.sparkContext.applicationId, spark.version
    spark.stop()
    log = next(f for f in os.listdir(work) if f.startswith(("local-", "eventlog_v2", "app-")) and app in f)
    src = os.path.join(work, log)
    if os.path.isdir(src):
        src = os.path.join(src, next(f for f in sorted(os.listdir(src)) if f.startswith("events_1")))
    name = f"spark{version[0]}-" + (f"night{a.night}" if night else f"aqe-{a.aqe}")
    shutil.copy(src, os.path.join(a.out, name + ".zstd"))
    with open(os.path.join(a.out, name + ".json"), "w") as f:
        json.dump({"spark": version, "aqe": a.aqe == "on", "queries": truth}, f, indent=1, sort_keys=True)
        f.write("\n")
    shutil.rmtree(work)


main()
