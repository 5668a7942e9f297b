"""Solves networks in DIMACS min format with OR-tools' min-cost flow (pip install ortools), and prints what the benchmark
reads: the cost, then the milliseconds of each of so many solves.

    python3 dimacs_ortools.py 5 < network.min
"""

import sys
import time

import numpy as np
from ortools.graph.python import min_cost_flow

supplies, tails, heads, capacities, costs = {}, [], [], [], []
for line in sys.stdin:
    word = line.split()
    if word[:1] == ["n"]:
        supplies[int(word[1])] = int(word[2])
    elif word[:1] == ["a"]:
        tail, head, low, capacity, cost = map(int, word[1:])
        assert low == 0
        tails.append(tail)
        heads.append(head)
        capacities.append(capacity)
        costs.append(cost)

took = []
for _ in range(int(sys.argv[1])):
    solver = min_cost_flow.SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(
        np.array(tails), np.array(heads), np.array(capacities), np.array(costs)
    )
    solver.set_nodes_supplies(np.array(list(supplies)), np.array(list(supplies.values())))
    began = time.perf_counter()
    status = solver.solve()
    took.append((time.perf_counter() - began) * 1e3)
    assert status == solver.OPTIMAL, status
print(solver.optimal_cost(), *took)
