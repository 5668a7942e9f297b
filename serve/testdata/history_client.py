"""Asks a server everything that the published client of Spark's History Server asks, and prints what it understood: a line of JSON for each answer.

history_client.py URL
"""
import json
import sys

from spark_history_mcp.api.spark_client import SparkRestClient
from spark_history_mcp.config.config import ServerConfig

client = SparkRestClient(ServerConfig(url=sys.argv[1]))


def show(app, what, answer):
    items = answer if isinstance(answer, list) else [answer]
    print(json.dumps([app, what, [x.to_dict() for x in items]], sort_keys=True, default=str))


apps = sorted(client.list_applications(), key=lambda a: a.id)
show("", "applications", apps)
for a in apps:
    show(a.id, "application", client.get_application(a.id))
    show(a.id, "jobs", client.list_jobs(a.id))
    stages = client.list_stages(a.id)
    show(a.id, "stages", stages)
    show(a.id, "executors", client.list_executors(a.id))
    show(a.id, "all executors", client.list_all_executors(a.id))
    show(a.id, "environment", client.get_environment(a.id))
    queries = client.get_sql_list(a.id)
    show(a.id, "queries", queries)
    for q in queries:
        show(a.id, f"query {q.id}", client.get_sql_execution(a.id, q.id))
    for s in stages:
        of = f"stage {s.stage_id}.{s.attempt_id}"
        show(a.id, of, client.get_stage_attempt(a.id, s.stage_id, s.attempt_id))
        if s.status == "COMPLETE":
            show(a.id, of + " tasks", client.list_stage_tasks(a.id, s.stage_id, s.attempt_id))
            show(a.id, of + " summary", client.get_stage_task_summary(a.id, s.stage_id, s.attempt_id))
