"""Advice as straggler gives it, pasted into a session: each of its settings as it stands, and each of its hints into the statement, with the alias that the statement
gives the table.

    straggler sql --store STORE --as json "SELECT q.description, f.apply FROM query_findings f JOIN queries q ON q.query_id = f.query_id WHERE f.apply IS NOT NULL" -o ADVICE
    python lab.py OUT --aqe off [--shapes] --applied ADVICE      # STORE: of the log of lab.py --aqe off [--shapes]
"""
import json, re

HINT = re.compile(r"/\*\+ .*?\*/ ?")
WANTED = {"BROADCAST": {"operator": "BroadcastHashJoin"}, "MERGE": {"operator": "SortMergeJoin"}, "REBALANCE": {"operator": "Exchange", "detail": "REBALANCE_PARTITIONS"}}


def ways(advice):
    """The ways that advice names: of each the lines of settings, and the hint or nothing. Lines that start with 'or' are another way."""
    found = [([], None)]
    for line in advice.split("\n"):
        if line.startswith("or "):
            found.append(([], None))
        settings, _ = found[-1]
        hint = HINT.search(line)
        if hint:
            found[-1] = (settings, hint.group().strip())
        else:
            settings.append(line.removeprefix("or "))
    return found


def pasted(statement, hint):
    name, table = re.match(r"/\*\+ (\w+)(?:\((.*)\))? \*/", hint).groups()
    if name == "REBALANCE":
        if HINT.search(statement):
            return HINT.sub(hint + " ", statement, count=1)
        return re.sub(r"select ([^()]*) from (\w+) distribute by [^)]*\)", rf"select {hint} \1 from \2)", statement)
    alias = re.search(rf"\b{table} (\w)\b", statement)
    bare = HINT.sub("", statement)
    return bare.replace("select ", f"select {hint.replace(table, alias.group(1))} ", 1)


def cases(given, file):
    """The cases of lab.py that the file has advice for, by each of its ways, and what is to come of it."""
    made = {}
    for row in json.load(open(file)):
        name = row["description"]
        if name not in given or name in ("files", "exploding", "self", "three_first", "three_second"):
            continue  # not by one hint in the first select, or advice that names a condition
        statement, settings, _ = given[name]
        for lines, hint in ways(row["apply"]):
            if hint:
                word = re.match(r"/\*\+ (\w+)", hint).group(1)
                made[f"{name} by {word}"] = (pasted(statement, hint), settings, WANTED[word], lines)
            elif "shuffled_small" not in name:
                made[f"{name} by settings"] = (statement, settings, {"split": True}, lines)
    return made
