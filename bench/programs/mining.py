#!/usr/bin/env python3
"""Time to mine a graph without a query (motifs, cliques, quasi-cliques), on the CPU and, with --gpu, on a GPU.

All answers to a question are compared, count by count, before a time is printed. Times are of mining, without loading the
graph: the median of several runs that take turns."""

import pathlib
import statistics

from harness import script


def body():
    parser = script.parser(__doc__)
    parser.add_argument("graph", type=pathlib.Path, help="an undirected graph, in any form that match reads")
    parser.add_argument("--motifs", type=int, nargs="*", default=[3, 4, 5], metavar="K")
    parser.add_argument("--cliques", type=int, nargs="*", default=[4, 5, 6, 7], metavar="K")
    parser.add_argument("--quasi-cliques", nargs="*", default=["5:0.8", "6:0.9"], metavar="K:DENSITY")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--timeout", default="100s", help="for one run; what takes longer is left out")
    parser.add_argument("--gpu", action="store_true", help="also on a GPU")
    options = parser.parse_args()
    questions = [("motifs", "-k", k) for k in options.motifs] + [("cliques", "-k", k) for k in options.cliques]
    questions += [("quasi-cliques", "-k", *pair.replace(":", " --density ").split()) for pair in options.quasi_cliques]
    measured = [measure(options, question) for question in questions]
    ways = list(ways_of(options, "motifs"))
    rows = [["question", "found", *ways, *(["its kernels"] if options.gpu else [])]]
    for answer in measured:
        times = [cell(options, answer, way) for way in ways]
        kernels = [f"{1000 * answer['kernel_seconds']:.2f} ms" if answer["kernel_seconds"] else "–"] if options.gpu else []
        rows.append([answer["question"], f"{answer['found']:,}" if answer["found"] is not None else "–", *times, *kernels])
    script.table(rows)
    script.write_results(options, {"graph": str(options.graph), "questions": measured})


def ways_of(options, command):
    ways = {f"{threads} thread{'s' if threads > 1 else ''}": ["--threads", threads, "--backend", "cpu"] for threads in options.threads}
    if command == "motifs":
        ways["pairs"] = [*list(ways.values())[-1], "--method", "pairs"]
    if options.gpu:
        ways["GPU"] = ["--threads", options.threads[-1], "--backend", "gpu"]
    return ways


def cell(options, answer, way):
    if way in answer["seconds"]:
        return f"{answer['seconds'][way]:.3f} s"
    return f"over {options.timeout}" if way in answer["too_long"] else "–"


def measure(options, question):
    ways = ways_of(options, question[0])
    truth = None
    seconds = {way: [] for way in ways}
    kernels = []
    too_long = set()
    for _ in range(options.repeat):
        for way, arguments in ways.items():
            if way in too_long:
                continue
            found = mine(options, question, arguments)
            if found is None:
                too_long.add(way)
                continue
            counts, mining, on_device = found
            truth = truth or counts
            if counts != truth:
                raise script.Refused(f"{' '.join(map(str, question))}, {way}: counts differ from those of {next(iter(ways))}")
            seconds[way].append(mining)
            if on_device is not None:
                kernels.append(on_device)
    return {"question": " ".join(map(str, question)), "found": sum(truth.values()) if truth else None,
            "seconds": {way: statistics.median(times) for way, times in seconds.items() if times and way not in too_long},
            "kernel_seconds": statistics.median(kernels) if kernels else None, "too_long": sorted(too_long)}


def mine(options, question, arguments):
    """(counts by name, seconds of mining, of kernels), or None if the time was over."""
    command, *what = question
    report = script.Run([script.program(options), command, "--graph", options.graph, "--undirected", "--on-error", "skip", *what,
                        "--timeout", options.timeout, "--json", *arguments], fine=(0, 1)).json()
    if not report.get("complete", True):
        return None
    rows = report[command.replace("-", "_")]
    name = {"motifs": "pattern", "cliques": "k", "quasi-cliques": "edges"}[command]
    return {str(row[name]): int(row["count"]) for row in rows}, report["seconds"]["mine"], report.get("kernel_seconds")


if __name__ == "__main__":
    script.main(body)
