#!/usr/bin/env python3
"""Time and memory to load what a query needs of a graph file, by the share of its labels and the size of the graph.

Graphs with labelled vertices are generated. They are written as text, as a snapshot and as a graph file. The query is a path of
three vertices that admits the first 1, 2, 4, ... labels at each of them. Its count from the graph file must equal that from the
text before a time is printed.

Files are in the page cache when they are read. For the column "from disk" their pages are given back first (– if the system
kept them). With --out, tables and plots go into a folder."""

import os
import pathlib
import statistics
import tempfile

from harness import script
from harness.tables import Writer, table


def body():
    options = arguments()
    if len(options.labels) not in (1, len(options.vertices)):
        raise script.Refused("--labels takes one number, or as many as --vertices")
    labels = options.labels * (len(options.vertices) // len(options.labels))
    graphs = [measure(options, vertices, count) for vertices, count in zip(options.vertices, labels)]
    for graph in graphs:
        print(f"\n{title_of(graph)}; writing the graph file from the text: {graph['convert_s']:.1f} s, {graph['convert_peak_mib']:.0f} MiB")
        script.table(rows_of(graph))
    script.write_results(options, graphs)
    if options.out:
        write(options, graphs)


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("--vertices", type=int, nargs="+", default=[2_000_000], help="one graph for each")
    parser.add_argument("--edges-per-vertex", type=int, default=5)
    parser.add_argument("--labels", type=int, nargs="+", default=[64], help="a power of two for each graph, or for all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--more", default="", help="options of match, e.g. '--backend gpu'")
    parser.add_argument("--repeat", type=int, default=3, help="loads of each kind, of which the median counts")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="tables.md and plots")
    return parser.parse_args()


def measure(options, vertices, labels):
    """What loads of one graph take."""
    program, edges = script.program(options), vertices * options.edges_per_vertex
    named = [1 << i for i in range(labels.bit_length())]
    queries = {count: query_of(count) for count in named}
    with tempfile.TemporaryDirectory() as folder:
        text, snapshot, file = (pathlib.Path(folder, name) for name in ["graph.txt", "graph.dms", "graph.dmg"])
        script.Run([program, "generate", "chung-lu", "--vertices", vertices, "--edges", edges, "--vertex-labels", labels,
                     "--edge-labels", 0, "--insertions", 0, "--graph", text])
        convert = script.Run([program, "convert", text, file, "--to", "graph"])
        script.Run([program, "replay", "--graph", file, "--updates", "/dev/null", "--query", queries[1], "--save-snapshot", snapshot])
        whole = [argument for query in queries.values() for argument in ("--query", query)]
        run = script.Run([program, "match", "--graph", text, *whole, "--threads", options.threads, "--json", *options.more.split()])
        expected = {query["name"]: query["matches"] for query in run.json()["queries"]}
        loads = [row("text", queries[1], text, [run], []),
                 one(options, expected, ["--snapshot", snapshot], "snapshot", queries[1], snapshot)]
        loads += [one(options, expected, ["--graph", file], f"{count} of {labels} labels", queries[count], file)
                  for count in reversed(named)]
    return {"vertices": vertices, "edges": edges, "labels": labels, "convert_s": convert.wall, "convert_peak_mib": convert.peak_mib,
            "loads": loads}


def title_of(graph):
    return f"{graph['vertices']:,} vertices, {graph['edges']:,} edges, {graph['labels']} labels"


def rows_of(graph):
    """Heading and rows of text."""
    rows = [["loaded from", "file MiB", "vertices", "edges", "of the file", "load s", "from disk s", "match s", "edges/s", "graph MiB",
             "peak MiB", "matches"]]
    for of in graph["loads"]:
        rows.append([of["kind"], f"{of['file_mib']:.0f}", f"{of['vertices']:,}", f"{of['edges']:,}", f"{100 * of['read']:.2f} %",
                     *("–" if of[key] is None else f"{of[key]:.4f}" for key in ("load_s", "disk_s", "match_s")),
                     f"{of['edges'] / of['load_s'] / 1e6:.2f} M", f"{of['graph_mib']:.0f}", f"{of['peak_mib']:.0f}", f"{of['matches']:,}"])
    return rows


def write(options, graphs):
    """GpSM's figure 11."""
    out = Writer(options.out)
    out.add("Run", script.conditions(options, f"Medians of {options.repeat} loads (of the text one). A path of three vertices, each of "
                                      "which admits the labels named; `match s` is what matching it takes in memory. Counts are those "
                                      "from the text."))
    for graph in graphs:
        head, *rows = rows_of(graph)
        out.add(title_of(graph), table(head, rows))
    if len(graphs) > 1:
        lines = [["vertices", "match one label", "load one label, cached", "load one label, from disk", "load the file, cached",
                  "load the file, from disk", "load the text"]]
        for graph in graphs:
            least, most, text = graph["loads"][-1], graph["loads"][2], graph["loads"][0]
            values = [least["match_s"], least["load_s"], least["disk_s"], most["load_s"], most["disk_s"], text["load_s"]]
            lines.append([graph["vertices"], *("NaN" if value is None else f"{value:.4g}" for value in values)])
        out.plot("by-size", "Seconds to load for a path, and to match it, by vertices of the graph", lines, ["set logscale xy"],
                 "for [i=2:7] DATA using 1:i with linespoints title columnhead(i)")
    print(out.write("Loading a part of a graph file, by size of the graph"))


def query_of(count):
    labels = "|".join(str(label) for label in range(count))
    return f"labels{count}=(a:{labels})--(b:{labels})--(c:{labels})"


def one(options, expected, graph, kind, query, path):
    """Loads with the file in the page cache, and as many loads after its pages were given back."""
    runs, from_disk = [], []
    for cold in [False] * options.repeat + [True] * options.repeat:
        if cold:
            give_back(path)
        run = script.Run([script.program(options), "match", *graph, "--query", query, "--threads", options.threads, "--json",
                           *options.more.split()])
        found = run.json()["queries"][0]
        if found["matches"] != expected[found["name"]]:
            raise script.Refused(f"{kind}: {found['matches']} matches of {found['name']}, {expected[found['name']]} in the text")
        (from_disk if cold else runs).append(run)
    return row(kind, query, path, runs, from_disk)


def give_back(path):
    """Asks the system to drop what it keeps of the file in memory."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def row(kind, query, path, runs, from_disk):
    report = runs[-1].json()

    def load(run):  # a snapshot is restored before the clock of loading starts
        report = run.json()
        return report["seconds"]["total"] - report["seconds"]["match"] if kind == "snapshot" else report["seconds"]["load"]

    loads = [load(run) for run in runs]
    read = report.get("graph_file", {}).get("bytes", {"loaded": path.stat().st_size, "all": path.stat().st_size})
    from_disk = [run for run in from_disk if 2 * run.disk_mib * 2**20 >= read["loaded"]]
    return {"kind": kind, "file_mib": path.stat().st_size / 2**20, "vertices": report["graph"]["vertices"],
            "edges": report["graph"]["edges"], "read": read["loaded"] / read["all"], "load_s": statistics.median(loads), "loads": loads,
            "disk_s": statistics.median(map(load, from_disk)) if from_disk else None,
            "match_s": None if kind == "text" else statistics.median(run.json()["seconds"]["match"] for run in runs),
            "peak_mib": max(run.peak_mib for run in runs), "graph_mib": report["graph"]["bytes"] / 2**20,
            "matches": report["queries"][0]["matches"], "query": query}


if __name__ == "__main__":
    script.main(body)
