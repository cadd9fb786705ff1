#!/usr/bin/env python3
"""Time and memory to load what a query touches of a graph file, against the share of the labels that it names.

A graph with labelled vertices is generated, written as text, as a snapshot and as a graph file. A path of three vertices names the
first 1, 2, 4, ... labels at each of them. Its count from the graph file is checked against that from the text before a time is printed.
Files are in the page cache when they are read."""

import pathlib
import statistics
import tempfile

import harness


def body():
    parser = harness.parser(__doc__)
    parser.add_argument("--vertices", type=int, default=2_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--labels", type=int, default=64, help="a power of two")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3, help="loads of each kind, of which the median is told")
    options = parser.parse_args()
    program = harness.program(options)
    named = [1 << i for i in range(options.labels.bit_length())]
    queries = {count: query_of(count) for count in named}
    with tempfile.TemporaryDirectory() as folder:
        text, snapshot, file = (pathlib.Path(folder, name) for name in ["graph.txt", "graph.dms", "graph.dmg"])
        harness.Run([program, "generate", "chung-lu", "--vertices", options.vertices, "--edges", options.edges, "--vertex-labels",
                     options.labels, "--edge-labels", 0, "--insertions", 0, "--graph", text])
        convert = harness.Run([program, "convert", text, file, "--to", "graph"])
        harness.Run([program, "replay", "--graph", file, "--updates", "/dev/null", "--query", queries[1], "--save-snapshot", snapshot])
        whole = [argument for query in queries.values() for argument in ("--query", query)]
        run = harness.Run([program, "match", "--graph", text, *whole, "--threads", options.threads, "--json"])
        expected = {query["name"]: query["matches"] for query in run.json()["queries"]}

        measured = [row("text", queries[1], text, [run]),
                    one(options, expected, ["--snapshot", snapshot], "snapshot", queries[1], snapshot)]
        measured += [one(options, expected, ["--graph", file], f"{count} of {options.labels} labels", queries[count], file)
                     for count in reversed(named)]
    rows = [["loaded from", "file MiB", "vertices", "edges", "of the file", "load s", "edges/s", "graph MiB", "peak MiB", "matches"]]
    for of in measured:
        rows.append([of["kind"], f"{of['file_mib']:.0f}", f"{of['vertices']:,}", f"{of['edges']:,}", f"{100 * of['read']:.2f} %",
                     f"{of['load_s']:.4f}", f"{of['edges'] / of['load_s'] / 1e6:.2f} M", f"{of['graph_mib']:.0f}", f"{of['peak_mib']:.0f}",
                     f"{of['matches']:,}"])
    harness.table(rows)
    print(f"\nwriting the graph file from the text: {convert.wall:.1f} s, {convert.peak_mib:.0f} MiB")
    harness.write_results(options, {"convert_s": convert.wall, "convert_peak_mib": convert.peak_mib, "loads": measured})


def query_of(count):
    labels = "|".join(str(label) for label in range(count))
    return f"labels{count}=(a:{labels})--(b:{labels})--(c:{labels})"


def one(options, expected, graph, kind, query, path):
    runs = []
    for _ in range(options.repeat):
        run = harness.Run([harness.program(options), "match", *graph, "--query", query, "--threads", options.threads, "--json"])
        found = run.json()["queries"][0]
        if found["matches"] != expected[found["name"]]:
            raise harness.Refused(f"{kind}: {found['matches']} matches of {found['name']}, {expected[found['name']]} in the text")
        runs.append(run)
    return row(kind, query, path, runs)


def row(kind, query, path, runs):
    told = runs[-1].json()

    def load(told):  # a snapshot is restored before the clock of loading starts
        return told["seconds"]["total"] - told["seconds"]["match"] if kind == "snapshot" else told["seconds"]["load"]

    loads = [load(run.json()) for run in runs]
    read = told.get("graph_file", {}).get("bytes", {"loaded": 1, "all": 1})
    return {"kind": kind, "file_mib": path.stat().st_size / 2**20, "vertices": told["graph"]["vertices"],
            "edges": told["graph"]["edges"], "read": read["loaded"] / read["all"], "load_s": statistics.median(loads), "loads": loads,
            "peak_mib": max(run.peak_mib for run in runs), "graph_mib": told["graph"]["bytes"] / 2**20,
            "matches": told["queries"][0]["matches"], "query": query}


if __name__ == "__main__":
    harness.main(body)
