#!/usr/bin/env python3
"""Runs one Spark application night after night on four hosts in two racks whose links to each other are slow.

usage: lab.py SPARK_HOME OUT NIGHT[=WHAT] …     WHAT: RACK, RACK.down or RACK.up, whose link is halved that night; NIGHT as in 20261110

A host is a network namespace with one worker of two slots; the hosts of a rack are on one bridge, and the bridges are connected by links that tc
limits. The application reads two tables from a file system that every host has, joins, groups and sorts them: what its tasks wait for is what they
fetch of each other's output. Needs root, iproute2 and a JDK.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RACKS = {"a": ["a1", "a2"], "b": ["b1", "b2"]}
HOSTS = [h for hosts in RACKS.values() for h in hosts]
LINK = 800  # kB/s of a rack's link, in each direction
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

APPLICATION = """
import pathlib, sys, time
from pyspark.sql import SparkSession
for night in sys.argv[3:]:
    while not pathlib.Path(sys.argv[1], night).exists():
        time.sleep(0.1)
    spark = SparkSession.builder.appName("orders-" + night).getOrCreate()
    orders, items = (spark.read.parquet(f"file://{sys.argv[2]}/{t}") for t in ("orders", "items"))
    joined = orders.join(items, "id")
    joined.groupBy("store").agg({"price": "sum", "text": "max", "note": "min"}).write.format("noop").mode("overwrite").save()
    items.sort("text").write.format("noop").mode("overwrite").save()
    orders.sort("note").write.format("noop").mode("overwrite").save()
    spark.stop()
    pathlib.Path(sys.argv[1], night).unlink()
"""

TABLES = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").getOrCreate()
spark.range(0, 120_000, 1, 16).selectExpr("id", "sha2(cast(id as string), 256) as note", "id % 997 as store").write.parquet(sys.argv[1] + "/orders")
spark.range(0, 240_000, 1, 16).selectExpr("id % 120000 as id", "sha2(cast(id * 7 as string), 256) as text", "rand(5) as price").write.parquet(sys.argv[1] + "/items")
spark.stop()
"""


def ip(*args):
    subprocess.run(["ip", *args], check=True)


def limit(rack, direction, kbps):
    subprocess.run(["tc", "qdisc", "replace", "dev", f"rk-{rack}{direction}", "root", "tbf", "rate", f"{kbps * 8}kbit", "burst", "64kb", "latency", "2s"], check=True)


def bridge(name):
    ip("link", "add", f"rk-{name}", "type", "bridge")
    ip("link", "set", f"rk-{name}", "up")


def plug(device, into):
    ip("link", "set", device, "master", f"rk-{into}", "up")


def connect():
    table = "127.0.0.1 localhost\n" + "".join(f"10.78.0.{i + 1} {h}\n" for i, h in enumerate(["m0", *HOSTS]))
    bridge("core")
    for rack in RACKS:
        bridge(rack)
        ip("link", "add", f"rk-{rack}up", "type", "veth", "peer", "name", f"rk-{rack}down")
        plug(f"rk-{rack}up", rack)    # what the rack sends
        plug(f"rk-{rack}down", "core")  # what is sent to it
    for i, host in enumerate(["m0", *HOSTS]):
        ip("netns", "add", f"rk-{host}")
        ip("link", "add", f"rk-{host}", "type", "veth", "peer", "name", "eth0", "netns", f"rk-{host}")
        plug(f"rk-{host}", "core" if host == "m0" else host[0])
        ip("-n", f"rk-{host}", "addr", "add", f"10.78.0.{i + 1}/24", "dev", "eth0")
        for device in "lo", "eth0":
            ip("-n", f"rk-{host}", "link", "set", device, "up")
        etc = pathlib.Path("/etc/netns", f"rk-{host}")
        etc.mkdir(parents=True)
        (etc / "hosts").write_text(table)


def disconnect():
    for host in ["m0", *HOSTS]:
        subprocess.run(["ip", "netns", "del", f"rk-{host}"])
        shutil.rmtree(f"/etc/netns/rk-{host}", ignore_errors=True)
    for rack in RACKS:
        subprocess.run(["ip", "link", "del", f"rk-{rack}up"])
    for name in ["core", *RACKS]:
        subprocess.run(["ip", "link", "del", f"rk-{name}"])


def on(host, command, log, **more):
    return subprocess.Popen(["ip", "netns", "exec", f"rk-{host}", *command], stdout=log, stderr=log, env={**os.environ, "SPARK_LOCAL_HOSTNAME": host, **more})


def submit(master, home, script, *args, conf):
    host, command = "m0", [f"{home}/bin/spark-submit", "--master", master, *(x for c in conf for x in ("--conf", c)), str(script), *args]
    return on(host, command, open(script.with_suffix(".log"), "a"), SPARK_HOME=home)


def halve(what):
    rack, _, direction = what.partition(".")
    for r in RACKS:
        for d in "up", "down":
            limit(r, d, LINK // 2 if r == rack and direction in ("", d) else LINK)


def driver(home, scratch, tables, out, nights):
    """One process for all nights: each is an application with executors of its own, which begins when a file of its name appears."""
    return submit("spark://m0:7077", home, scratch / "application.py", str(scratch), str(tables), *nights, conf=[
        "spark.driver.host=m0", "spark.executor.memory=512m", "spark.driver.memory=700m",
        *(f"spark.{who}.extraJavaOptions={JVM} -XX:SharedArchiveFile={tables}/classes.jsa" for who in ("driver", "executor")),
        "spark.scheduler.minRegisteredResourcesRatio=1.0", "spark.scheduler.maxRegisteredResourcesWaitingTime=90s", f"spark.cores.max={2 * len(HOSTS)}",
        "spark.sql.shuffle.partitions=16", "spark.sql.autoBroadcastJoinThreshold=-1", "spark.sql.adaptive.coalescePartitions.enabled=false",
        "spark.sql.files.maxPartitionBytes=1m", "spark.sql.files.openCostInBytes=1m", "spark.ui.enabled=false", "spark.shuffle.reduceLocality.enabled=false",
        "spark.eventLog.enabled=true", "spark.eventLog.compress=true", f"spark.eventLog.dir=file://{out}"])


def main():
    home, out, nights = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    tables = out.parent / (out.name + "-tables")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="racks-", dir="/dev/shm"))
    (scratch / "application.py").write_text(APPLICATION)
    (scratch / "tables.py").write_text(TABLES)
    daemons = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    try:
        connect()
        if not tables.exists():  # with an archive of the classes, executors start in half the time
            submit("local[2]", home, scratch / "tables.py", str(tables), conf=[f"spark.driver.extraJavaOptions={JVM} -XX:ArchiveClassesAtExit={tables}/classes.jsa"]).wait()
        for host in ["m0", *HOSTS]:
            what = ["master.Master", "--port", "7077"] if host == "m0" else ["worker.Worker", "--cores", "2", "--memory", "1g", "--work-dir", str(scratch / host), "spark://m0:7077"]
            command = [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{what[0]}", "--host", host, "--webui-port", "0", *what[1:]]
            daemons.append(on(host, command, open(scratch / f"{host}.log", "w"), SPARK_HOME=home, SPARK_DAEMON_MEMORY="160m", SPARK_DAEMON_JAVA_OPTS=JVM, SPARK_LOCAL_DIRS=str(scratch / "local")))
            if host == "m0":
                time.sleep(4)
        time.sleep(10)
        application = driver(home, scratch, tables, out, [n.partition("=")[0] for n in nights])
        for n in nights:
            name, _, what = n.partition("=")
            halve(what)
            start = time.time()
            (scratch / name).touch()
            while (scratch / name).exists() and application.poll() is None:
                time.sleep(0.1)
            print(f"{name} {what}: {time.time() - start:.0f} s", flush=True)
        application.wait()
    finally:
        for host in reversed(["m0", *HOSTS]):
            for pid in subprocess.run(["ip", "netns", "pids", f"rk-{host}"], capture_output=True, text=True).stdout.split():
                os.kill(int(pid), signal.SIGKILL)
        for p in daemons:
            p.wait()
        disconnect()
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
