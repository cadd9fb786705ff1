#!/usr/bin/env python3
"""What would N machines gain that share the matching of a stream?

Each machine would run `replay --share K/N`. Here each share is a process, and the slowest counts. The speed-up is the time
of the whole by that of the slowest share. Counts of the shares must add up to those of the whole, and running digests must be equal.
The figure of a run is the least of several. `all steps` has apply, match and settle. It does not have reading records.
With `--jobs`, several shares run at once. They then share caches and memory, so speed-ups are rather too small.

The workloads are the patterns of payments, a ring of six in a graph with labels, and houses in a power-law graph. Seeds are fixed."""

import concurrent.futures
import pathlib
import tempfile

from harness import script

STEPS = ("apply", "estimate", "match", "settle")
HOUSE = "house=(a)--(b)--(c)--(d)--(a)--(r)--(b)"


def body():
    options = arguments()
    measured = {}
    rows = [["workload", "shares", "matches", "match, s", "all steps, s", "slowest by mean", "match: times as fast", "all steps"]]
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        for name, prepare in WORKLOADS.items():
            if name not in options.workloads:
                continue
            command = prepare(options, folder)
            whole, by_count = run_all(options, command)
            for count, shares in by_count.items():
                check(name, whole, shares)
                measured.setdefault(name, {"command": [pathlib.Path(str(word)).name for word in command], "whole": whole})[count] = shares
                rows.append(row(name, count, whole, shares))
    script.table(rows)
    script.write_results(options, measured)


def run_all(options, command):
    """The run of the whole, and by their number those of all shares."""
    wanted = [None] + [f"{number}/{count}" for count in options.shares for number in range(1, count + 1)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(lambda share: least(options, command, share), wanted))
    by_count, first = {}, 1
    for count in options.shares:
        by_count[count] = runs[first:first + count]
        first += count
    return runs[0], by_count


def least(options, command, share):
    """The run with the least time of matching."""
    runs = [run_once(options, command, share) for _ in range(options.repeat)]
    return min(runs, key=lambda run: run["match"])


def run_once(options, command, share):
    more = ["--share", share] if share else []
    report = script.Run([script.program(options), "replay", *command, "--threads", options.threads, "--json", *more]).json()
    counts = [[query.get(key, 0) for key in ("new", "removed", "suppressed")] for query in report["queries"]]
    return {"share": share, "counts": counts, "digest": report["digest"], "match": report["seconds"]["match"],
            "steps": sum(report["seconds"][step] for step in STEPS)}


def check(name, whole, shares):
    sums = [[sum(column) for column in zip(*query)] for query in zip(*(share["counts"] for share in shares))]
    if sums != whole["counts"]:
        raise script.Refused(f"{name}: {len(shares)} shares have {sums}, but the whole has {whole['counts']}")
    if any(share["digest"] != whole["digest"] for share in shares):
        raise script.Refused(f"{name}: the running digests of {len(shares)} shares differ")


def row(name, count, whole, shares):
    slowest = {key: max(share[key] for share in shares) for key in ("match", "steps")}
    mean = sum(share["match"] for share in shares) / count
    matches = sum(new + removed for new, removed, _ in whole["counts"])
    return [name, str(count), f"{matches:,}", f"{slowest['match']:.3f}", f"{slowest['steps']:.3f}", f"{slowest['match'] / mean:.2f}",
            f"{whole['match'] / slowest['match']:.2f}", f"{whole['steps'] / slowest['steps']:.2f}"]


def payments(options, folder):
    updates = folder / "payments.csv"
    script.Run([script.program(options), "generate", "payments", "--records", options.records, "--updates", updates])
    return ["--updates", updates, "--edges", "keyed", "--attributes", "amount:decimal(2)", "--query", script.ROOT / "config" / "patterns"]


def ring(options, folder):
    graph, updates = folder / "ring.graph", folder / "ring.stream"
    script.Run([script.program(options), "generate", "chung-lu", "--vertices", options.ring_vertices, "--edges", options.ring_edges,
                "--vertex-labels", 4, "--graph", graph, "--updates", updates])
    labels = [0, 1, 2, 0, 1, 3]
    query = folder / "ring6.graph"
    query.write_text("\n".join(["t 6 6", *(f"v {v} {label} 2" for v, label in enumerate(labels)),
                                *(f"e {v} {(v + 1) % 6} 0" for v in range(6))]) + "\n")
    return ["--graph", graph, "--updates", updates, "--query", query]


def houses(options, folder):
    text, graph, updates = folder / "houses.graph", folder / "houses.dmg", folder / "houses.stream"
    script.Run([script.program(options), "generate", "chung-lu", "--vertices", options.house_vertices, "--edges", options.house_edges,
                "--vertex-labels", 1, "--insertions", options.house_insertions, "--graph", text, "--updates", updates])
    script.Run([script.program(options), "convert", text, graph, "--to", "graph", "--undirected"])
    return ["--graph", graph, "--undirected", "--updates", updates, "--query", HOUSE]


WORKLOADS = {"payments": payments, "ring": ring, "houses": houses}


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("--workloads", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--shares", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="shares that run at once")
    parser.add_argument("--records", type=int, default=1_000_000, help="of payments")
    parser.add_argument("--ring-vertices", type=int, default=100_000)
    parser.add_argument("--ring-edges", type=int, default=1_000_000)
    parser.add_argument("--house-vertices", type=int, default=200_000)
    parser.add_argument("--house-edges", type=int, default=1_000_000)
    parser.add_argument("--house-insertions", type=float, default=0.1, help="share of the edges that the stream inserts")
    return parser.parse_args()


if __name__ == "__main__":
    script.main(body)
