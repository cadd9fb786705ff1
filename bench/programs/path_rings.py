#!/usr/bin/env python3
"""What do rings of several lengths cost as one query, beside the longest ring alone, and beside one query for each length?

A ring of k is k edges, each later than the one before, all less than the span apart, between k vertices. One query with a path finds
rings of all lengths. It must find as many as the separate queries together, new and removed.

The input is an edge list with times in seconds, or `payments`, a stream of that many payments which `deltamatch generate` makes. The
ways take turns. The figure of a way is the least of its runs, because other work on the machine only adds to it. `match` has the seconds of
matching, `cpu` those of a processor in user mode for the whole run: reading, applying, matching and settling. Other work changes these least."""

import pathlib
import tempfile

from harness import script, tables

WAYS = ("longest", "paths", "separate")
FIGURES = ("match", "cpu")


def body():
    options = arguments()
    measured = []
    for stream in options.streams:
        with tempfile.TemporaryDirectory() as directory:
            source = prepared(options, stream, pathlib.Path(directory))
            for emit in options.emit:
                measured.append(measure(options, source, stream, emit))
                print(stream, emit, measured[-1]["rings"], flush=True)
    rows = [row_of(each) for each in measured]
    script.table([head(), *rows])
    script.write_results(options, measured)
    if options.out:
        out = tables.Writer(options.out)
        out.add("Run", script.conditions(options, f"The least of {options.repeat} runs that took turns, one thread. The query with a path "
                                                  "finds as many rings as the separate queries."))
        out.add("Seconds", tables.table(head(), rows))
        print(out.write("Rings of several lengths"))


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("streams", nargs="*", default=["payments"], help="edge lists, or `payments`")
    parser.add_argument("--least", type=int, default=3, help="edges of the shortest ring")
    parser.add_argument("--most", type=int, default=6, help="edges of the longest ring")
    parser.add_argument("--span", type=int, default=86400, help="seconds")
    parser.add_argument("--payments", type=int, default=200_000)
    parser.add_argument("--edges", type=int, default=10**9, help="read this many edges of a list at most")
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--emit", nargs="+", choices=["none", "digest"], default=["none", "digest"], help="count, or list too")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="tables.md")
    return parser.parse_args()


def prepared(options, stream, directory):
    """The options that read the stream, and the labels of vertices and edges in its patterns."""
    path = directory / "stream.csv"
    if stream == "payments":
        script.Run([script.program(options), "generate", "payments", "--updates", path, "--truth", directory / "truth.csv",
                    "--records", options.payments])
        return ["--updates", path, "--edges", "keyed", "--attributes", "amount:decimal(2)"], ":Account", ":TRANSFER"
    rows = sorted((int(time), int(a), int(b)) for a, b, time in
                  (line.replace(",", " ").split()[:3] for line in pathlib.Path(stream).read_text().splitlines() if line[:1].isdigit()))
    with path.open("w") as out:
        out.write("source,target,time\n")
        out.writelines(f"{a},{b},{time}\n" for time, a, b in rows[:options.edges] if a != b)
    return ["--updates", path, "--edges", "events", "--time-unit", "s"], "", ""


def separate(options, vertex, edge, k):
    steps = "".join(f"-[t{i}{edge}]->(v{i % k})" for i in range(1, k + 1))
    order = " < ".join(f"t{i}.time" for i in range(1, k + 1))
    return f"ring{k}=(v0{vertex}){steps} WHERE {order} WITHIN {options.span}s"


def queries(options, vertex, edge, way):
    if way == "paths":
        return [f"rings=(v0{vertex})-[t{edge} WHERE t.time > prev(t).time]->{{{options.least},{options.most}}}(v0) WITHIN {options.span}s"]
    least = options.most if way == "longest" else options.least
    return [separate(options, vertex, edge, k) for k in range(least, options.most + 1)]


def measure(options, source, name, emit):
    read, vertex, edge = source
    seconds = {way: {what: [] for what in FIGURES} for way in WAYS}
    found = {}
    for _ in range(options.repeat):
        for way in WAYS:
            chosen = [word for query in queries(options, vertex, edge, way) for word in ("--query", query)]
            run = script.Run([script.program(options), "replay", *read, "--batch", options.batch, "--threads", 1, "--emit", emit, "--json",
                              *chosen])
            told = run.json()
            found[way] = [sum(query[sign] for query in told["queries"]) for sign in ("new", "removed")]
            seconds[way]["match"].append(told["seconds"]["match"])
            seconds[way]["cpu"].append(run.user)
        if found["paths"] != found["separate"]:
            raise script.Refused(f"{name}: {found['paths']} rings by paths, not {found['separate']}")
    least = {way: {what: min(times) for what, times in seconds[way].items()} for way in WAYS}
    return {"stream": name, "emit": emit, "rings": found["paths"][0], "seconds": least}


def head():
    return ["stream", "emit", "rings", *(f"{way} {what}" for what in FIGURES for way in WAYS),
            *(f"paths over longest, {what}" for what in FIGURES)]


def row_of(each):
    seconds = each["seconds"]
    # A short run may take less than a tick of the processor's clock, which tells no ratio.
    ratios = [f"{seconds['paths'][what] / seconds['longest'][what]:.2f}" if seconds["longest"][what] > 0 else "–" for what in FIGURES]
    return [pathlib.Path(each["stream"]).name, each["emit"], f"{each['rings']:,}",
            *(f"{seconds[way][what]:.3g}" for what in FIGURES for way in WAYS), *ratios]


if __name__ == "__main__":
    script.main(body)
