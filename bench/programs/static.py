#!/usr/bin/env python3
"""Time to count small patterns in a whole graph, by number of threads and by way of counting.

Every count must equal that from data edges without filtering, and cliques also that of `deltamatch cliques`, before a time is
printed. Times are of matching, without loading the graph: the median of several runs that take turns. --processor takes user
seconds of the whole program instead, with loading: use it if other programs run on the machine."""

import pathlib
import statistics

from harness import script


def clique(size):
    return [(u, v) for u in range(size) for v in range(u)]


QUERIES = {
    "triangle": clique(3),
    "diamond": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)],
    "4-cycle": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "house": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 1)],
    "pentagon": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],
    "4-clique": clique(4),
    "5-clique": clique(5),
    "near-clique5": [edge for edge in clique(5) if edge != (1, 0)],
    "6-clique": clique(6),
    "7-clique": clique(7),
    "near-clique6": [edge for edge in clique(6) if edge != (1, 0)],
    "near-clique7": [edge for edge in clique(7) if edge != (1, 0)],
}
WAYS = {"": [], "from edges": ["--count-from", "edges"], "from vertices": ["--count-from", "vertices"],
        "unfiltered": ["--filter", "none"], "by label": ["--filter", "label"], "by degree": ["--filter", "degree"],
        "refined": ["--filter", "refine"]}


def body():
    parser = script.parser(__doc__)
    parser.add_argument("graph", type=pathlib.Path, help="an undirected graph, in any form that match reads")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--timeout", default="100s", help="for a query in one of the ways; one that takes longer is left out there")
    parser.add_argument("--processor", action="store_true", help="user seconds of the whole program, with loading")
    parser.add_argument("--gpu", action="store_true", help="also on a GPU: the time of its kernels")
    parser.add_argument("--ways", nargs="*", choices=list(WAYS)[1:], default=list(WAYS)[1:4], help="to measure beside the usual one")
    parser.add_argument("--query", nargs="+", choices=list(QUERIES), default=list(QUERIES))
    options = parser.parse_args()
    cliques = {k: script.Run([script.program(options), "cliques", *graph(options), "-k", k, "--json"]).json()["total"]
               for k in range(3, 8)}
    rows = [["query", "matches", *(f"{threads} thread{'s' if threads > 1 else ''}" for threads in options.threads),
             "ms per M matches", *options.ways, *(["GPU kernels"] if options.gpu else [])]]
    measured = []
    for name in options.query:
        row = measure(options, name, cliques)
        measured.append(row)
        seconds = row["seconds"]
        times = [seconds.get(f"{threads}") for threads in options.threads]
        report = [f"{s:.3f} s" if s else f"over {options.timeout}" for s in (*times, *(seconds.get(way) for way in options.ways))]
        rows.append([name, f"{row['matches']:,}", *report[:len(times)],
                     f"{times[0] * 1e9 / row['matches']:.3g}" if row["matches"] and times[0] else "–", *report[len(times):],
                     *([f"{1000 * row['seconds']['GPU']:.2f} ms"] if options.gpu else [])])
    script.table(rows)
    script.write_results(options, {"graph": str(options.graph), "queries": measured})


def graph(options):
    """Self-loops are left out."""
    return ["--graph", options.graph, "--undirected", "--on-error", "skip"]


def measure(options, name, cliques):
    truth = count(options, name, options.threads[-1], ["--backend", "cpu", "--count-from", "edges", "--filter", "none"])
    if name.endswith("-clique") and truth and truth[0] != cliques[int(name[0])]:
        raise script.Refused(f"{name}: {truth[0]:,} matches, but {cliques[int(name[0])]:,} cliques")
    runs = {str(threads): (threads, ["--backend", "cpu"]) for threads in options.threads}
    runs.update({way: (options.threads[0], ["--backend", "cpu", *WAYS[way]]) for way in options.ways})
    if options.gpu:
        runs["GPU"] = (options.threads[-1], ["--backend", "gpu"])
    seconds = {}
    for _ in range(options.repeat):
        for key, (threads, arguments) in runs.items():
            if key in seconds and not seconds[key]:
                continue  # once too long, always too long
            found = count(options, name, threads, arguments)
            if found is None:
                seconds[key] = []
                continue
            if truth is None:
                truth = found
            if found[0] != truth[0]:
                raise script.Refused(f"{name}, {key}: {found[0]:,} matches, not {truth[0]:,}")
            seconds.setdefault(key, []).append(found[1])
    if truth is None:
        raise script.Refused(f"{name}: not counted within {options.timeout}")
    return {"query": name, "matches": truth[0], "seconds": {key: statistics.median(times) for key, times in seconds.items() if times}}


def count(options, name, threads, arguments):
    """(matches, seconds of matching, of kernels on a GPU), or None if the time was over."""
    pattern = f"{name}=" + ",".join(f"(v{u})--(v{v})" for u, v in QUERIES[name])
    command = [script.program(options), "match", *graph(options), "--query", f"`{name}`" + pattern[len(name):],
               "--threads", threads, "--timeout", options.timeout, "--json", *arguments]
    try:
        run = script.Run(command)
        report = run.json()
    except script.Refused as refused:
        if "--timeout" in str(refused).split("\n", 1)[1]:
            return None
        raise
    query = report["queries"][0]
    if options.processor:
        return query["matches"], run.user
    return query["matches"], report["cache"]["kernel_seconds"] if "cache" in report else report["seconds"]["match"]


if __name__ == "__main__":
    script.main(body)
