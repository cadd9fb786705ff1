#!/usr/bin/env python3
"""Motifs, cliques and quasi-cliques of growing size, by number of threads. A series ends when there are none or one takes
longer than the limit.

Counts must be the same with all numbers of threads. They are also checked by another method. Cliques must be those among the
motifs. Matches of q4 to q10 (bench/queries/quasi-cliques) must follow from the sets that `deltamatch quasi-cliques` finds.

Times do not include loading. They are medians of several runs, or of one if a run takes longer than a quarter of the limit.
With --out, tables and plots go into a folder."""

import math
import pathlib
import statistics
import tempfile

import labelled
from harness import script
from harness.tables import Writer, table

SIZES = {"motifs": range(3, 9), "cliques": range(3, 15), "quasi-cliques": range(4, 11)}


def body():
    options = arguments()
    records = []
    with tempfile.TemporaryDirectory() as directory:
        for text in options.graphs:
            path = pathlib.Path(text)
            if not path.exists():
                path = labelled.generated(options, text, pathlib.Path(directory)).path
            for what in options.what:
                records += grow(options, path, what)
    script.table(rows_of(options, records))
    script.write_results(options, records)
    if options.out:
        write(options, records)


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("graphs", nargs="+", help=f"undirected graphs that match reads, or to generate: {labelled.SPECS}")
    parser.add_argument("--what", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--more", default="", help="options of every command, e.g. '--backend gpu'")
    parser.add_argument("--timeout", type=float, default=15, help="seconds")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="tables.md and plots")
    return parser.parse_args()


def grow(options, path, what):
    """One record for each size that was counted with the first number of threads, and for the first size that was not."""
    records = []
    for k in SIZES[what]:
        cases = {str(threads): command(what, k, threads) for threads in options.threads}
        if what == "quasi-cliques":
            cases["unfiltered"] = [*command(what, k, options.threads[0]), "--filter", "none"]
        check, weights = checks(what, k)
        record = {"graph": path.name.split(".")[0], "what": what, "k": k, "seconds": {}, "kernel_seconds": {}}
        for key, arguments in cases.items():
            counts = time(options, path, arguments, key, record)
            if counts is None:
                continue
            if record.setdefault("counts", counts) != counts:
                raise script.Refused(f"{path.name}, {what} of {k}, {key}: {counts}, not {record['counts']}")
        records.append(record)
        if not any(record.get("counts", {}).values()):
            break
        if all(seconds > options.timeout / 3 for seconds in record["seconds"].values()):
            break  # the check would take too long, and so would the next
        other = time(options, path, check, "check", record)
        if other is not None and weights(other) != weights(record["counts"]):
            raise script.Refused(f"{path.name}, {what} of {k}: {record['counts']}, but {' '.join(map(str, check))}: {other}")
    return records


def command(what, k, threads):
    if what == "quasi-cliques":
        return ["match", "--query", script.QUERIES / what / f"q{k}.graph", "--threads", threads]
    return [what, "-k", k, "--threads", threads]


def checks(what, k):
    """A command that must give the same number by another method, and how that number follows from its answer."""
    if what == "motifs":
        return ["motifs", "-k", k, "--method", "pairs" if k <= 5 else "extend"], lambda counts: counts
    if what == "cliques":
        other = ["motifs", "-k", k] if k <= 5 else ["match", "--query", clique(k), "--count-from", "edges"]
        return other, lambda counts: counts.get("clique", 0)

    def matches(counts):  # a clique has one for each of its edges
        return counts["match"] if "match" in counts else counts.get("near-clique", 0) + math.comb(k, 2) * counts.get("clique", 0)

    return ["quasi-cliques", "-k", k, "--density", f"{(math.comb(k, 2) - 1.5) / math.comb(k, 2):.6f}"], matches


def clique(k):
    return "clique=" + ",".join(f"(v{u})--(v{v})" for u in range(k) for v in range(u))


def time(options, path, arguments, key, record):
    """{name: count}, and the median time in the record. None if the time was over."""
    seconds, kernels = [], []
    for _ in range(options.repeat):
        report = script.Run([script.program(options), *arguments, *([] if "--threads" in arguments else ["--threads", 1]), "--graph", path,
                            "--undirected", "--on-error", "skip", "--timeout", f"{round(options.timeout * 1000)}ms", "--json",
                            *options.more.split()], (0, 1)).json()
        counts = counted(arguments, report)
        if counts is None:
            return None
        seconds.append(report["seconds"].get("mine", report["seconds"].get("match")))
        kernels.append(report.get("kernel_seconds", report.get("cache", {}).get("kernel_seconds")))
        if seconds[-1] > options.timeout / 4:
            break
    record["seconds"][str(key)] = statistics.median(seconds)
    if None not in kernels:
        record["kernel_seconds"][str(key)] = statistics.median(kernels)
    return counts


def counted(arguments, report):
    k = arguments[2]
    if arguments[0] == "match":
        query = report["queries"][0]
        return None if query.get("partial") else {"clique" if query["name"] == "clique" else "match": query["matches"]}
    if not report.get("complete", True):
        return None
    if arguments[0] == "motifs":
        return {"clique" if len(one["edges"]) == math.comb(k, 2) else one["pattern"]: one["count"] for one in report["motifs"]}
    if arguments[0] == "cliques":
        return {"clique": report["total"]}
    names = {math.comb(k, 2): "clique", math.comb(k, 2) - 1: "near-clique"}
    return {names[one["edges"]]: one["count"] for one in report["quasi_cliques"]}


def rows_of(options, records):
    """Heading and rows of text."""
    threads = [way_of(options, n, records) for n in options.threads]
    kernels = any(record["kernel_seconds"] for record in records)
    rows = [["graph", "what", "k", "counted", *threads, *(["first : last"] if len(threads) > 1 else []), "unfiltered",
             *(["kernels"] if kernels else []), "checked by another way, s"]]
    for record in records:
        seconds = record["seconds"]
        times = [seconds.get(str(n)) for n in options.threads]
        rows.append([record["graph"], record["what"], str(record["k"]), total(record), *map(cell, times),
                     *([f"{times[0] / times[-1]:.2f}" if None not in times else "–"] if len(times) > 1 else []),
                     cell(seconds.get("unfiltered")) if record["what"] == "quasi-cliques" else "",
                     *([cell(record["kernel_seconds"].get(str(options.threads[0])))] if kernels else []), cell(seconds.get("check"))])
    return rows


def way_of(options, threads, records):
    """The heading of a column of times. It names what ran, which may differ from what was asked for."""
    on_gpu = [str(threads) in record["kernel_seconds"] for record in records if str(threads) in record["seconds"]]
    cores = f"{threads} thread{'s' if threads > 1 else ''}"
    if not any(on_gpu):
        return cores
    gpu = "GPU" if len(options.threads) == 1 else f"GPU, {cores}"
    return gpu if all(on_gpu) else f"{cores} or GPU"


def total(record):
    """The number of subgraphs that were counted."""
    return f"{sum(record['counts'].values()):,}" if "counts" in record else "–"


def cell(seconds):
    return "–" if seconds is None else f"{seconds:.3f}"


def write(options, records):
    """DuMato's tables 4, 6 and 7."""
    out = Writer(options.out)
    out.add("Run", script.conditions(options, f"Seconds without loading, medians of {options.repeat} runs, of one that takes longer than a "
                                      f"quarter of the limit of {options.timeout:g} s. –: longer than the limit."))
    titles = {"motifs": "Motifs: all connected induced subgraphs of k vertices", "cliques": "Cliques",
              "quasi-cliques": "Quasi-cliques: matches of q4 to q10 as subgraphs that need not be induced"}
    for what in options.what:
        those = [record for record in records if record["what"] == what]
        head, *rows = rows_of(options, those)
        keep = [i for i, name in enumerate(head) if name != "what" and (name != "unfiltered" or what == "quasi-cliques")]
        out.add(titles[what], table([head[i] for i in keep], [[row[i] for i in keep] for row in rows]))
        graphs = list(dict.fromkeys(record["graph"] for record in those))
        found = {(record["graph"], record["k"]): min(record["seconds"].values()) for record in those if record["seconds"]}
        sizes = sorted({k for _, k in found})
        lines = [[k, *(f"{found[graph, k]:.4g}" if (graph, k) in found else "NaN" for graph in graphs)] for k in sizes]
        out.plot(what, f"{what}: seconds by k", [["k", *graphs], *lines],
                 ["set logscale y", "set xtics 1"], f"for [i=2:{len(graphs) + 1}] DATA using 1:i with linespoints title columnhead(i)")
    print(out.write("Motifs, cliques and quasi-cliques"))


if __name__ == "__main__":
    script.main(body)
