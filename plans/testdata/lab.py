"""Real Spark SQL with skew of known place: one application a run, its event log and what is true of each of its queries.

    python lab.py OUT --aqe on|off [--shapes | --further | --formats JARS | --night 1|2|3|4] [--applied ADVICE]     # nights 3 and 4 with --aqe off; with pyspark 3.5 or 4 installed; a run takes about a minute on two cores

The logs of further queries are of two such runs, each with half of them by --only. The description of a query is the name of its case; truth.json says for each which operator is slow, by which keys, on which side.
"""
import argparse, json, os, random, re, shutil, tempfile

from pyspark.sql import SparkSession

import applied, formats, further

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

PAIRS = "select o.id, o.customer_id, o.amount, c.region_id from orders o join customers c on o.customer_id = c.id"
LEFT = {"kind": "join", "keys": "customer_id", "side": "left", "source": "orders", "other": "customers"}
REGION = {"kind": "join", "keys": "region_id", "side": "left", "source": "orders, customers", "other": "regions"}
BROADCASTS = {"spark.sql.autoBroadcastJoinThreshold": "10m"}

# The same, of queries of other shapes. Of a list the first is to be found, and the others may be.
SHAPES = {
    "clean_three": (f"select r.name, {WORK.format(n=10, v='o.amount')} s from orders_even o join customers c on o.customer_id = c.id join regions r on c.region_id = r.id group by r.name", {}, None),
    "clean_broadcast": (f"select c.region, {WORK.format(n=10, v='o.amount')} s from orders_even o join customers c on o.customer_id = c.id group by c.region", BROADCASTS, None),
    "clean_partitions": ("select count(*), sum(d.amount) from days d join weeks w on d.day = w.day where w.week = 1", BROADCASTS, None),
    "clean_subquery": ("select count(*) from orders_even where amount > (select avg(amount) from orders_even) and customer_id in (select id from customers where region_id < 9)", {}, None),
    "clean_nested_loop": (f"select count(*), {WORK.format(n=10, v='o.amount')} from orders_even o join regions r on o.amount < r.id", {}, None),
    "clean_rollup": ("select region_id, pmod(amount, 7) m, count(distinct customer_id) n, sum(amount) from orders_even group by rollup(region_id, m)", {}, None),
    "clean_formats": ("select count(*), sum(a.amount), sum(b.amount) from orders_csv a join orders_json b on a.id = b.id", {}, None),
    "three_first": (f"select r.name, sum(t.w) s from (select t.*, aggregate(sequence(1, 50), 0L, (a, x) -> (a + x * cast(amount as bigint)) % 1000003) w from ({PAIRS}) t) t join regions r on t.region_id = r.id group by r.name", {}, [LEFT, REGION]),
    "three_second": (f"select count(r.name), {WORK.format(n=40, v='t.amount')} s from ({PAIRS}) t join regions r on t.region_id = r.id", {},
                             [REGION, LEFT]),
    "self": (f"select {WORK.format(n=40, v='o.amount')} s, max(m.most) from orders o join (select customer_id, max(amount) most from orders group by customer_id) m on o.customer_id = m.customer_id", {},
             [{"kind": "join", "keys": "customer_id", "side": "left", "source": "orders", "other": "orders", "unsplit": True}]),
    "semi": (f"select {WORK.format(n=40, v='o.amount')} s from orders o left semi join customers c on o.customer_id = c.id and c.region_id >= pmod(o.amount, 2) - 1", {}, [LEFT]),
    "anti": (f"select {WORK.format(n=40, v='o.amount')} s from orders o left anti join strangers s on o.customer_id = s.id", {},
             [{"kind": "join", "keys": "customer_id", "side": "left", "source": "orders", "other": "strangers"}]),
    "full": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from customers c full outer join orders o on c.id = o.customer_id", {},
             [{"kind": "join", "keys": "customer_id", "side": "right", "source": "orders", "other": "customers", "unsplit": True}]),
    "union": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from (select customer_id, amount from orders union all select customer_id, amount from orders_even) o join customers c on o.customer_id = c.id", {},
              [{"kind": "join", "keys": "customer_id", "side": "left", "source": "orders, orders_even", "other": "customers"}]),
    "repartition": (f"select {WORK.format(n=40, v='amount')} s from (select /*+ REPARTITION(24, customer_id) */ * from orders)", {},
                    [{"kind": "exchange", "keys": "customer_id", "source": "orders"}]),
    "repartition_expression": (f"select {WORK.format(n=40, v='amount')} s from (select * from orders distribute by customer_id + 1)", {},
                               [{"kind": "exchange", "keys": "(customer_id + ?)", "source": "orders"}]),
    "reused": (f"with t as (select customer_id, amount from orders distribute by customer_id) select {WORK.format(n=40, v='amount')} s from t union all select {WORK.format(n=41, v='amount')} s from t", {},
               [{"kind": "exchange", "keys": "customer_id", "source": "orders"}]),
    "collect": (f"select customer_id, aggregate(collect_list(amount), 0L, (a, x) -> (a + aggregate(sequence(1, 40), 0L, (b, y) -> (b + y * x) % 1000003)) % 1000003) s from orders group by customer_id", {},
                [{"kind": "aggregate", "keys": "customer_id", "source": "orders"}]),
    "order": (f"select id, aggregate(sequence(1, 60), 0L, (a, x) -> (a + x * amount) % 1000003) s from (select * from orders order by customer_id)", {},
              [{"kind": "sort", "keys": "customer_id", "source": "orders"}]),
    "cached": (f"select {WORK.format(n=40, v='amount')} s from cached", {}, [{"kind": "scan", "source": "cached"}]),
    "python": ("select sum(slow(o.amount)) s, count(c.region) from orders o join customers c on o.customer_id = c.id", {}, [LEFT]),
    "files": (f"select {WORK.format(n=60, v='cast(amount as bigint)')} s from uneven", {}, [{"kind": "scan", "source": "uneven"}]),
    "exploding": ("select count(*), sum(a.amount + b.amount) s from few a join few b on a.g = b.g", {}, [{"found": "exploding_join", "kind": "join", "keys": "g", "source": "few", "other": "few"}, {"kind": "join", "keys": "g", "side": "left", "source": "few", "other": "few"}, {"kind": "join", "keys": "g", "side": "right", "source": "few", "other": "few"}]),
    "exploding_loop": ("select count(*), sum(a.amount + b.amount) s from few a join few b on a.amount < b.amount", {}, [{"found": "exploding_join", "kind": "join", "source": "few", "other": "few"}]),
    "shuffled_small": ("select /*+ MERGE(c) */ count(c.region), max(o.text) from wide o join customers c on o.customer_id = c.id", BROADCASTS,
                       [{"found": "shuffled_small", "kind": "join", "keys": "customer_id", "side": "right", "source": "customers", "other": "wide"}]),
    "large_broadcast": (f"select /*+ BROADCAST(w) */ {WORK.format(n=10, v='o.amount')} s, max(w.text) from orders_even o join wide w on o.id = w.id", BROADCASTS,
                        [{"found": "large_broadcast", "kind": "join", "keys": "id", "side": "right", "source": "wide", "other": "orders_even"}]),
}

NIGHT = f"select r.name, {WORK.format(n=10, v='o.amount')} s from orders_even o join {{regions}} r on o.region_id = r.id where o.amount > 5 group by r.name"


def more_tables(spark, data, rows):
    """The tables that only the shapes need, and what runs without being a case: a cached table, a function in Python, a stream."""
    write = lambda name, text: spark.sql(text).write.parquet(data + name)
    write("strangers", "select id + 10000 id from range(0, 4000, 1, 2)")
    write("few", "select id, pmod(id, 20) g, cast(pmod(hash(id), 1000) as bigint) amount from range(0, 6000, 1, 4)")
    write("wide", f"select id, cast(pmod(hash(id, 7), 4000) as bigint) customer_id, repeat(cast(pmod(id, 10) as string), 800) text from range(0, {rows}, 1, 8)")
    spark.sql(f"select id, cast(pmod(hash(id, 3), 1000) as bigint) amount, pmod(id, 20) day from range(0, {rows // 4}, 1, 4)").write.partitionBy("day").parquet(data + "days")
    write("weeks", "select id day, id div 7 week from range(0, 20, 1, 1)")
    for name in ["strangers", "few", "wide", "days", "weeks"]:
        spark.read.parquet(data + name).createOrReplaceTempView(name)
    even = spark.table("orders_even").limit(rows // 4)
    even.write.csv(data + "orders_csv", header=True)
    even.write.json(data + "orders_json")
    spark.read.csv(data + "orders_csv", header=True, schema="customer_id long, id long, amount long, region_id long").createOrReplaceTempView("orders_csv")
    spark.read.json(data + "orders_json").createOrReplaceTempView("orders_json")
    # Files that cannot be split, one with 20 times the rows of the others.
    spark.sql(f"select 1 file, id, id amount from range({rows // 4})").coalesce(1).write.csv(data + "uneven", compression="gzip")
    for part in range(11):
        spark.sql(f"select 1 file, id, id amount from range({rows // 80})").coalesce(1).write.mode("append").csv(data + "uneven", compression="gzip")
    spark.conf.set("spark.sql.files.openCostInBytes", str(64 << 20))
    spark.read.csv(data + "uneven", schema="file int, id long, amount string").createOrReplaceTempView("uneven")
    spark.sparkContext.setJobDescription("fill_cache")
    spark.sql("cache table cached as select * from orders distribute by customer_id")
    spark.udf.register("slow", lambda v: sum(range(v % 50)), "long")
    spark.sparkContext.setJobDescription("stream")
    stream = (spark.readStream.schema(spark.table("orders").schema).option("maxFilesPerTrigger", 3).parquet(data + "orders").groupBy("customer_id").count()
              .writeStream.queryName("by_customer").format("noop").outputMode("update").option("checkpointLocation", data + "checkpoint").trigger(availableNow=True).start())
    stream.awaitTermination()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--aqe", choices=["on", "off"], default="on")
    p.add_argument("--night", type=int, choices=[1, 2, 3, 4])
    p.add_argument("--shapes", action="store_true")
    p.add_argument("--further", action="store_true")
    p.add_argument("--formats", metavar="JARS", help="the folder of the jars that formats.py names")
    p.add_argument("--applied", metavar="ADVICE", help="a file of advice, as applied.py says, with which the cases run")
    p.add_argument("--only", nargs="*")
    a = p.parse_args()
    work = tempfile.mkdtemp()
    os.makedirs(a.out, exist_ok=True)
    night = a.night is not None
    kind = f"night{a.night}" if night else ("shapes-" if a.shapes else "further-" if a.further else "formats-" if a.formats else "") + f"aqe-{a.aqe}"
    cases = SHAPES if a.shapes else further.FURTHER if a.further else formats.FORMATS if a.formats else CASES
    if a.applied:
        kind, cases = ("shapes-" if a.shapes else "") + "applied", applied.cases(cases, a.applied)
    aqe = str(a.aqe == "on").lower()
    # On the second night the dimension has outgrown the threshold of a broadcast.
    threshold = "200k" if night else "-1"
    builder = formats.configure(SparkSession.builder, a.formats, work) if a.formats else SparkSession.builder
    spark = (builder.master("local[2]" if a.formats else "local[4]").appName("nightly" if night else "lab-sql")
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
    rows = 160_000 if a.shapes else 100_000 if a.further or a.formats else 240_000
    spark.sql(f"select cast(if(pmod(hash(id), 100) < 45, 17, pmod(hash(id, 7), 4000)) as bigint) customer_id, id, cast(pmod(hash(id, 3), 1000) as bigint) amount from range(0, {rows}, 1, 6)").write.parquet(data + "orders")
    spark.sql(f"select cast(pmod(hash(id, 7), 4000) as bigint) customer_id, id, cast(pmod(hash(id, 3), 1000) as bigint) amount, cast(pmod(id, 50) as bigint) region_id from range(0, {rows}, 1, 6)").write.parquet(data + "orders_even")
    spark.sql("select id, concat('region', id % 9) region, id % 50 region_id from range(0, 4000, 1, 2)").write.parquet(data + "customers")
    wide = 50 if a.night in (None, 1) else 60_000
    spark.sql(f"select id, concat('region ', id, ' ', sha2(cast(id as string), 256)) name from range(0, {wide}, 1, 1)").write.parquet(data + "regions")
    for name in ["orders", "orders_even", "customers", "regions"]:
        spark.read.parquet(data + name).createOrReplaceTempView(name)
    if a.shapes:
        more_tables(spark, data, rows)
    if a.formats:
        spark.sparkContext.setJobDescription("tables")
        formats.tables(spark, data)
    truth = further.tables(spark, data, rows) if a.further else {}
    if night:
        spark.sparkContext.setJobDescription("warm_up")
        spark.sql("select count(*) from orders_even").collect()
        regions = "regions"
        if a.night >= 3:  # the same data, of which statistics say on the third night that the filter leaves little, and on the fourth nothing
            spark.conf.set("spark.sql.cbo.enabled", "true")
            spark.sql("create table all_regions using parquet as select * from regions")
            if a.night == 3:
                spark.sql("analyze table all_regions compute statistics for all columns")
            regions = "(select * from all_regions where id < 50)"
        spark.sparkContext.setJobDescription("by_region")
        spark.sql(NIGHT.format(regions=regions)).write.format("noop").mode("overwrite").save()
        truth["by_region"] = {"night": a.night, "join": "SortMergeJoin" if a.night % 2 == 0 else "BroadcastHashJoin"}
    else:
        spark.sparkContext.setJobDescription("warm_up")
        spark.sql(CASES["clean_join"][0]).collect()
        for name, (statement, settings, expected, *lines) in cases.items():
            if a.only and name not in a.only:
                continue
            if name == "aqe_split" and a.aqe == "off":
                continue
            expected = [expected] if isinstance(expected, dict) else expected
            pasted = [line for advised in lines for line in advised]
            before = {k: spark.conf.get(k, None) for k in [*settings, *re.findall(r'conf.set\("([^"]*)"', "\n".join(pasted))]}
            for k, v in settings.items():
                spark.conf.set(k, v)
            for line in pasted:
                exec(line, {"spark": spark})
            spark.sparkContext.setJobDescription(name)
            result = spark.sql(statement.replace("{data}", data))
            if not statement.startswith("merge"): # which ran where it was written
                result.write.format("noop").mode("overwrite").save()
            for k, v in before.items():
                spark.conf.set(k, v) if v is not None else spark.conf.unset(k)
            if expected and expected[0] == "aqe":
                expected = expected[1:] if a.aqe == "on" else None
            truth[name] = expected
    app, version = spark.sparkContext.applicationId, spark.version
    spark.stop()
    log = next(f for f in os.listdir(work) if f.startswith(("local-", "eventlog_v2", "app-")) and app in f)
    src = os.path.join(work, log)
    if os.path.isdir(src):
        src = os.path.join(src, next(f for f in sorted(os.listdir(src)) if f.startswith("events_1")))
    name = f"spark{version[0]}-{kind}"
    shutil.copy(src, os.path.join(a.out, name + ".zstd"))
    with open(os.path.join(a.out, name + ".json"), "w") as f:
        json.dump({"spark": version, "aqe": a.aqe == "on", "queries": truth}, f, indent=1, sort_keys=True)
        f.write("\n")
    shutil.rmtree(work)


main()
