#!/usr/bin/env python3
"""Time per update by the size of the graph, with equal degrees and numbers of updates. It should hardly grow.

The counts of every replay are checked against bench_count before its time is printed."""

import pathlib
import statistics
import tempfile

from harness import script


def body():
    parser = script.parser(__doc__)
    parser.add_argument("--vertices", type=lambda text: [int(part) for part in text.split(",")],
                        default="10000,30000,100000,300000,1000000", help="sizes, ascending")
    parser.add_argument("--edges-per-vertex", type=int, default=5)
    parser.add_argument("--max-degree", type=int, default=100)
    parser.add_argument("--updates", type=int, default=20_000, help="insertions, and as many deletions")
    parser.add_argument("--queries", default="triangle,4-cycle,house", help="of the labelled catalogue")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=5, help="replays of each kind, of which the median counts")
    options = parser.parse_args()
    queries = [script.QUERIES / "labelled" / f"{name}.graph" for name in options.queries.split(",")]
    measured = []
    rows = [["query", "vertices", "edges", "new", "removed", "match µs", "apply+settle µs", "all µs", "against the smallest"]]
    for vertices in options.vertices:
        edges = vertices * options.edges_per_vertex
        inserted = options.updates / edges
        with tempfile.TemporaryDirectory() as folder:
            graph, updates = pathlib.Path(folder, "graph"), pathlib.Path(folder, "updates")
            script.Run([script.program(options), "generate", "chung-lu", "--vertices", vertices, "--edges", edges, "--max-degree",
                         options.max_degree, "--insertions", f"{inserted:.9f}", "--deletions",
                         f"{options.updates / (edges - options.updates):.9f}", "--graph", graph, "--updates", updates])
            expected = script.independent_counts(options, graph, updates, queries)
            for query in queries:
                measured.append(one(options, graph, updates, query, expected) | {"vertices": vertices, "edges": edges})
    for result in sorted(measured, key=lambda r: (r["query"], r["vertices"])):
        first = next(r for r in measured if r["query"] == result["query"])
        rows.append([result["query"], f"{result['vertices']:,}", f"{result['edges']:,}", f"{result['new']:,}",
                     f"{result['removed']:,}", f"{result['match_us']:.3f}", f"{result['apply_us']:.3f}", f"{total(result):.3f}",
                     f"{total(result) / total(first):.2f}x"])
    script.table(rows)
    script.write_results(options, measured)


def total(result):
    return result["match_us"] + result["apply_us"]


def one(options, graph, updates, query, expected):
    replays = []
    for _ in range(options.repeat):
        report, _ = script.replay(options, graph, updates, query, batch=options.batch)
        script.check(report, expected)
        replays.append(report)

    def per_update(*steps):
        return statistics.median(1e6 * sum(report["seconds"][step] for step in steps) / report["updates"] for report in replays)

    (change,) = replays[0]["queries"]
    return {"query": change["name"], "updates": replays[0]["updates"], "new": change["new"], "removed": change["removed"],
            "match_us": per_update("estimate", "cache", "match"), "apply_us": per_update("apply", "settle")}


if __name__ == "__main__":
    script.main(body)
