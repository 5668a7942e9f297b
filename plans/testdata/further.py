"""Queries of more shapes for lab.py, chosen before the code had seen any of them, and their truth."""

WORK = "sum(aggregate(sequence(1, {n}), 0L, (a, x) -> (a + x * cast({v} as bigint)) % 1000003))"
EACH = "aggregate(sequence(1, {n}), 0L, (a, x) -> (a + x * cast({v} as bigint)) % 1000003)"


def join(keys="customer_id", side="left", source="orders", other="customers", **more):
    return {"kind": "join", "keys": keys, "side": side, "source": source, "other": other, **more}


LEFT = join()
WINDOWS = "select customer_id, row_number() over (partition by customer_id order by amount) r from "
CTE = "with t as (select * from flagged where amount >= 0 distribute by customer_id) "

# name: (statement, settings, truth), as in lab.py. Of a truth that starts with "aqe", what follows is true where adaptive execution is on; "unsplit"
# is a join whose inputs adaptive execution does not split.
FURTHER = {
    "clean_cube": ("select flag, pmod(amount, 7) m, count(*), sum(amount) from flagged_even group by cube(flag, m)", {}, None),
    "clean_combined": ("select customer_id, sum(amount) s, count(*) from orders group by customer_id", {}, None),
    "clean_distinct": ("select customer_id, count(distinct id) n, count(distinct amount) m from orders group by customer_id", {}, None),
    "clean_group_limit": ("select * from (select id, row_number() over (partition by customer_id order by amount) r from orders) where r <= 3", {}, None),
    "clean_not_in": ("select count(*), sum(amount) from orders_even where customer_id not in (select id from strangers)", {}, None),
    "clean_range_join": (f"select count(*), {WORK.format(n=10, v='o.amount')} from orders_even o join regions r on o.amount between r.id and r.id + 5", {"spark.sql.autoBroadcastJoinThreshold": "10m"}, None),
    "clean_intersect": ("select customer_id, amount from orders_even intersect select customer_id, amount from flagged_even", {}, None),
    "clean_except": ("select customer_id, pmod(amount, 9) a from orders_even except all select customer_id, pmod(amount, 9) from flagged_even where flag = 1", {}, None),
    "clean_top": ("select * from orders_even order by amount desc, id limit 100", {}, None),
    "clean_round_robin": (f"select {WORK.format(n=20, v='amount')} from (select /*+ REPARTITION(24) */ * from orders)", {}, None),
    "clean_pivot": ("select * from (select flag, pmod(amount, 5) a, id from flagged_even) pivot (count(id) for a in (0, 1, 2, 3, 4))", {}, None),
    "clean_grouped_join": ("select a.customer_id, a.n, b.n from (select customer_id, count(*) n from orders group by customer_id) a join (select customer_id, max(amount) n from orders_even group by customer_id) b on a.customer_id = b.customer_id", {}, None),
    "clean_bucketed": (f"select {WORK.format(n=20, v='o.amount')} s, count(c.region) from bucketed_even o join bucketed_customers c on o.customer_id = c.id", {}, None),
    "two_keys": (f"select {WORK.format(n=80, v='o.amount')} s, count(c.region) from flagged o join flags c on o.customer_id = c.id and o.flag = c.flag", {}, [join("customer_id, flag", source="flagged", other="flags")]),
    "cast_key": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from orders o join named c on cast(o.customer_id as string) = c.name", {}, [join("cast(customer_id as string)", other="named")]),
    "null_keys": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from nulls o left join customers c on o.customer_id = c.id", {}, [join(source="nulls")]),
    "existence": (f"select {WORK.format(n=40, v='o.amount')} s from orders o where exists (select 1 from customers c where c.id = o.customer_id) or o.amount < 0 or pmod(o.id, 7) < 6", {}, [join(unsplit=True)]),
    "semi_hash": (f"select {WORK.format(n=40, v='o.amount')} s from orders o left semi join (select /*+ SHUFFLE_HASH(customers) */ * from customers) c on o.customer_id = c.id", {}, [LEFT]),
    "range_condition": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from orders o join customers c on o.customer_id = c.id and o.amount between c.region_id - 100 and c.region_id + 2000", {}, [LEFT]),
    "join_then_group": (f"select o.customer_id, count(c.region), {WORK.format(n=40, v='o.amount')} s from orders o join customers c on o.customer_id = c.id group by o.customer_id", {}, [LEFT]),
    "join_twice": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region), count(s.id) from orders o join customers c on o.customer_id = c.id left join strangers s on o.customer_id = s.id", {}, [LEFT]),
    "group_then_join": (f"select max(c.region), {WORK.format(n=1, v='g.s')} from (select customer_id, aggregate(collect_list(amount), 0L, (a, x) -> (a + aggregate(sequence(1, 40), 0L, (b, y) -> (b + y * x) % 1000003)) % 1000003) s from orders group by customer_id) g join customers c on g.customer_id = c.id", {},
                        [{"kind": "aggregate", "keys": "customer_id", "source": "orders"}]),
    "rollup": ("select flag, m, aggregate(collect_list(amount), 0L, (a, x) -> (a + aggregate(sequence(1, 20), 0L, (b, y) -> (b + y * x) % 1000003)) % 1000003) s from (select *, pmod(id, 64) m from flagged_even) group by rollup(m, flag)", {},
               [{"kind": "aggregate", "keys": "m, flag, spark_grouping_id", "source": "flagged_even"}]),
    "window_keys": (f"select {WORK.format(n=80, v='r')} s from (select row_number() over (partition by customer_id, flag order by amount) r from flagged)", {}, [{"kind": "window", "keys": "customer_id, flag", "source": "flagged"}]),
    "two_windows": (f"select {WORK.format(n=40, v='r')} s, max(q) from (select row_number() over (partition by customer_id order by amount) r, row_number() over (partition by amount order by id) q from orders)", {}, [{"kind": "window", "keys": "customer_id", "source": "orders"}]),
    "union_windows": (f"select {WORK.format(n=40, v='r')} s from ({WINDOWS} orders_even union all {WINDOWS} orders)", {}, [{"kind": "window", "keys": "customer_id", "source": "orders"}]),
    "union_both": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from (select customer_id, amount from orders union all select customer_id, amount from flagged) o join customers c on o.customer_id = c.id", {}, [join(source="orders, flagged")]),
    "cte_twice": (CTE + f"select {WORK.format(n=40, v='t.amount')} s, count(c.id) from t join customers c on t.customer_id = c.id union all select {WORK.format(n=40, v='t.amount')} s, count(s.id) from t left join strangers s on t.customer_id = s.id", {},
                  [join(source="flagged", unsplit=True), join(source="flagged", other="strangers", unsplit=True)]),
    "pruned": (f"select /*+ BROADCAST(w), MERGE(c) */ {WORK.format(n=80, v='d.amount')} s, count(c.region) from sales d join weeks w on d.day = w.day join customers c on d.customer_id = c.id where w.week = 1", {}, [join(source="sales, weeks")]),
    "subquery": (f"select count(*) from regions where id < (select {WORK.format(n=40, v='r')} from ({WINDOWS} orders))", {}, [{"kind": "window", "keys": "customer_id", "source": "orders"}]),
    "bucketed": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from bucketed_orders o join bucketed_customers c on o.customer_id = c.id", {}, [join(source="default.bucketed_orders", other="default.bucketed_customers", unsplit=True)]),
    "bucketed_one": (f"select {WORK.format(n=40, v='o.amount')} s, count(c.region) from bucketed_orders o join customers c on o.customer_id = c.id", {}, [join(source="default.bucketed_orders", unsplit=True)]),
    "bucketed_group": ("select customer_id, aggregate(collect_list(amount), 0L, (a, x) -> (a + aggregate(sequence(1, 40), 0L, (b, y) -> (b + y * x) % 1000003)) % 1000003) s from bucketed_orders group by customer_id", {},
                       [{"kind": "aggregate", "keys": "customer_id", "source": "default.bucketed_orders"}]),
    "python_filter": ("select count(*), max(c.region) from orders o join customers c on o.customer_id = c.id where slow(o.amount + length(c.region)) > 0", {}, [LEFT]),
    "lazy_cache": ("select count(*), sum(w) from lazy", {}, [LEFT, {"kind": "scan", "source": "lazy"}]),
    "rebalance": (f"select {WORK.format(n=40, v='amount')} s from (select /*+ REBALANCE(customer_id) */ * from orders)", {}, ["aqe", {"kind": "exchange", "keys": "customer_id", "source": "orders", "split": True}]),
    "order_two": (f"select id, {EACH.format(n=80, v='amount')} s from (select * from flagged order by customer_id, flag)", {}, [{"kind": "sort", "keys": "customer_id, flag", "source": "flagged"}]),
}


def tables(spark, data, rows):
    """The tables of these queries, and a stream, whose micro-batches are a case too."""
    write = lambda name, text: spark.sql(text).write.parquet(data + name)
    write("flagged", "select *, pmod(id, 2) flag from orders")
    write("flagged_even", "select *, pmod(id, 2) flag from orders_even")
    write("flags", "select c.id, c.region, f.flag from customers c join (select explode(array(0, 1)) flag) f")
    write("named", "select cast(id as string) name, region from customers")
    write("nulls", "select nullif(customer_id, 17) customer_id, id, amount from orders")
    write("strangers", "select id + 10000 id from range(0, 4000, 1, 2)")
    write("weeks", "select id day, id div 7 week from range(0, 20, 1, 1)")
    spark.sql("select *, pmod(id, 20) day from orders").write.partitionBy("day").parquet(data + "sales")
    for name in ["flagged", "flagged_even", "flags", "named", "nulls", "strangers", "weeks", "sales"]:
        spark.read.parquet(data + name).createOrReplaceTempView(name)
    for name, of, key in [("bucketed_orders", "orders", "customer_id"), ("bucketed_even", "orders_even", "customer_id"), ("bucketed_customers", "customers", "id")]:
        spark.table(of).repartition(24, key).write.bucketBy(24, key).sortBy(key).saveAsTable(name)
    spark.udf.register("slow", lambda v: sum(range(v % 50)), "long")
    spark.sql(f"cache lazy table lazy as select o.id, {EACH.format(n=40, v='o.amount')} w, c.region from orders o join customers c on o.customer_id = c.id")
    stream = (spark.readStream.schema(spark.table("orders").schema).option("maxFilesPerTrigger", 3).parquet(data + "orders")
              .groupBy("customer_id").agg({"amount": "collect_list"}).selectExpr("customer_id", "aggregate(`collect_list(amount)`, 0L, (a, x) -> (a + aggregate(sequence(1, 40), 0L, (b, y) -> (b + y * x) % 1000003)) % 1000003) s")
              .writeStream.queryName("collected").format("noop").outputMode("update").option("checkpointLocation", data + "checkpoint").trigger(availableNow=True).start())
    stream.awaitTermination()
    return {"micro-batch of stream collected": [{"kind": "aggregate", "keys": "customer_id", "source": "orders"}]}
