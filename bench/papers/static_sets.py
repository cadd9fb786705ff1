#!/usr/bin/env python3
"""Labelled queries that walks cut out of graphs: how many are answered within a time limit, and how long does that take?

The tables go by size, shape and number of labels of the query. They also show what each technique gains, and what each step of
filtering leaves.

Queries take turns through --shape. Dense and sparse ones are the subgraphs that the vertices of a walk induce. Every query runs
alone. Ways of matching, and builds, must find the same if both finish.

Times are of matching, without loading the graph: medians of several runs that take turns. An unanswered query counts with the
limit. The worst query has the largest time over that of the first way, among those that take at least 50 ms there. With --out,
tables and plots go into a folder."""

import argparse
import pathlib
import random
import shlex
import statistics
import tempfile

import labelled
import static_sets_report
from harness import script


def body():
    options = arguments()
    records = []
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        for text in options.graphs:
            graph = graph_of(options, text, folder)
            for size in options.vertices:
                records += measure(options, graph, size, folder)
    rows = static_sets_report.answered(records, options.timeout)
    script.table(rows)
    script.write_results(options, records)
    if options.out:
        static_sets_report.write(options, records)


def graph_of(options, text, folder):
    source, _, count = text.partition("@")
    path = pathlib.Path(source)
    graph = labelled.read(path) if path.exists() else labelled.generated(options, source, folder)
    return labelled.relabelled(graph, int(count), folder) if count else graph


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("graphs", nargs="+", help="graphs in t/v/e, jlg or rows, plain, .xz or .gz, or to generate: "
                        f"{labelled.SPECS}; behind either @N draws N vertex labels, the i-th in proportion to 1/i")
    parser.add_argument("--vertices", type=int, nargs="+", default=[12], help="of a query")
    parser.add_argument("--shape", nargs="+", choices=labelled.SHAPES, default=["dense", "sparse"])
    parser.add_argument("--against", type=pathlib.Path, nargs="*", default=[], help="other build directories, which take turns with --build")
    parser.add_argument("--way", nargs="+", default=["--filter auto"], help="options of match, as one text each")
    parser.add_argument("--more", default="", help="options of match in every way, e.g. '--backend gpu'")
    parser.add_argument("--queries", type=int, default=40, help="per graph, number of labels and size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=2, help="seconds for a query")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="if a way does not say")
    parser.add_argument("--x", choices=["label_count", "size", "edges"], help="plot times and answers against this")
    parser.add_argument("--title", default="Labelled queries")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="tables.md and plots")
    return parser.parse_args()


def measure(options, graph, size, folder):
    """One record for each query."""
    draw = random.Random(options.seed)
    records = []
    for i in range(options.queries):
        shape = options.shape[i % len(options.shape)]
        query = folder / f"q{i}.graph"
        query.write_text(graph.query(draw, size, shape))
        records.append({"graph": graph.name, "label_count": len(set(graph.labels.values())), "edges": graph.edges, "size": size,
                        "shape": shape, "query": i, **answers(options, graph, query)})
    return records


def answers(options, graph, query):
    """What is found, the median time of each build and way (None if the time was over), and what the filter did."""
    builds = {str(build) if options.against else "": build for build in (options.build, *options.against)}
    cases = {(name, way): build for name, build in builds.items() for way in options.way}
    runs = {case: [] for case in cases}
    kernels = {case: [] for case in cases}
    truth, filters, graph_bytes = {}, {}, 0
    for _ in range(options.repeat):
        for (label, way), build in cases.items():
            if None in runs[label, way]:
                continue  # once too long, always too long
            report = run(options, build, way, graph, query)
            found = report["queries"][0]
            graph_bytes = report["graph"]["bytes"]
            if found.get("filter", {}).get("steps"):
                filters[" ".join([label, way]).strip()] = found["filter"]
            if found.get("partial") == "timeout":
                runs[label, way].append(None)
                continue
            runs[label, way].append(report["seconds"]["match"])
            if report.get("backend") == "gpu":
                kernels[label, way].append(report["cache"]["kernel_seconds"])
            compare(truth, found, f"{graph.name}, {label} {way}", query)
    return {"matches": truth.get("matches"), "graph_bytes": graph_bytes, "filters": filters,
            "seconds": {" ".join(case).strip(): None if None in times else statistics.median(times) for case, times in runs.items()},
            "kernel_seconds": {" ".join(case).strip(): statistics.median(times) for case, times in kernels.items()
                               if times and None not in runs[case]}}


def compare(truth, found, where, query):
    """Counts and digests are those of the first way that has them. If --limit cut a way short, only the number counts."""
    for key in ("matches",) if found.get("partial") else ("matches", "digest"):
        if key in found and truth.setdefault(key, found[key]) != found[key]:
            raise script.Refused(f"{where}: {key} {found[key]}, not {truth[key]}\n{query.read_text()}")


def run(options, build, way, graph, query):
    """The --json object of one query."""
    way = shlex.split(f"{way} {options.more}")
    program = script.program(argparse.Namespace(build=build))
    threads = [] if "--threads" in way else ["--threads", options.threads]
    return script.Run([program, "match", "--graph", graph.path, "--undirected", "--on-error", "skip", "--query", query, "--timeout",
                        f"{round(options.timeout * 1000)}ms", "--json", *threads, *way], (0, 1)).json()


if __name__ == "__main__":
    script.main(body)
