#!/usr/bin/env python3
"""Replays of all queries of the catalogue, by batch size and number of threads. The graph is generated, with insertions and
deletions.

Every replay's counts are checked against bench_count before its time is printed."""

import pathlib
import statistics
import tempfile

from harness import script


def numbers(text):
    return [int(part) for part in text.split(",")]


def body():
    parser = script.parser(__doc__)
    parser.add_argument("--vertices", type=int, default=20_000)
    parser.add_argument("--edges", type=int, default=200_000)
    parser.add_argument("--max-degree", type=int, default=300)
    parser.add_argument("--deletions", type=float, default=0.1, help="share of the start graph that the stream deletes")
    parser.add_argument("--queries", type=pathlib.Path, default=script.QUERIES / "labelled", help="folder of .graph files")
    parser.add_argument("--vertex-labels", type=int, default=6, help="vertex labels of the graph")
    parser.add_argument("--batch", type=numbers, default="1,64,1024,8192", help="batch sizes")
    parser.add_argument("--threads", type=numbers, default="1,2", help="numbers of threads")
    parser.add_argument("--repeat", type=int, default=3, help="replays of each kind, of which the median counts")
    options = parser.parse_args()
    queries = sorted(options.queries.glob("*.graph"))
    measured = []
    rows = [["query", "batch", "threads", "new", "removed", "match s", "apply s", "settle s", "updates/s", "peak MiB"]]
    with tempfile.TemporaryDirectory() as folder:
        graph, updates = pathlib.Path(folder, "graph"), pathlib.Path(folder, "updates")
        script.Run([script.program(options), "generate", "chung-lu", "--vertices", options.vertices, "--edges", options.edges,
                     "--max-degree", options.max_degree, "--vertex-labels", options.vertex_labels, "--deletions",
                     options.deletions, "--graph", graph, "--updates", updates])
        expected = script.independent_counts(options, graph, updates, queries)
        for query in queries:
            for batch in options.batch:
                for threads in options.threads:
                    result = one(options, graph, updates, query, expected, batch, threads)
                    measured.append(result)
                    rows.append([result["query"], str(batch), str(threads), f"{result['new']:,}", f"{result['removed']:,}",
                                 *(f"{result['seconds'][step]:.4f}" for step in ("match", "apply", "settle")),
                                 f"{result['updates_per_second']:,.0f}", f"{result['peak_mib']:.0f}"])
    script.table(rows)
    script.write_results(options, measured)


def one(options, graph, updates, query, expected, batch, threads):
    replays = []
    for _ in range(options.repeat):
        report, run = script.replay(options, graph, updates, query, batch=batch, threads=threads)
        script.check(report, expected)
        replays.append((report, run))
    report = replays[0][0]
    seconds = {step: statistics.median(t["seconds"][step] for t, _ in replays) for step in report["seconds"]}
    busy = sum(seconds[step] for step in ("apply", "estimate", "cache", "match", "settle"))
    (change,) = report["queries"]
    return {"query": change["name"], "batch": batch, "threads": threads, "updates": report["updates"], "new": change["new"],
            "removed": change["removed"], "seconds": seconds, "updates_per_second": report["updates"] / busy,
            "peak_mib": max(run.peak_mib for _, run in replays)}


if __name__ == "__main__":
    script.main(body)
