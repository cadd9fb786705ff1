#!/usr/bin/env python3
"""Is `match --filter auto` near the best setting for long rings on sparse random graphs?

Rings of many lengths are matched in random graphs, under every setting of --filter. They are counted, and listed for their
digest. A setting runs all rings on a graph in one process, and settings take turns. Counts and digests must be equal if two
settings finish.

Of several runs the best counts. A ring that is not answered within the limit counts with the limit. Regret is the time of auto
over that of the best setting for the ring. It leaves out rings that every setting answers in less than --least milliseconds,
and rings that none answers. With --replay, the graph also runs as a stream in one batch, which must find as many."""

import itertools
import pathlib
import random
import tempfile

from harness import script, tables

SETTINGS = ("none", "label", "degree", "refine", "auto")
WAYS = {"count": ["--emit", "none"], "digest": ["--emit", "digest"]}


def body():
    options = arguments()
    measured = []
    with tempfile.TemporaryDirectory() as directory:
        for kind, vertices, degree in itertools.product(options.kinds, options.vertices, options.degrees):
            graph = draw(pathlib.Path(directory, "graph.txt"), kind, vertices, degree, options.seed)
            for way in options.ways:
                seconds = measure(options, graph, kind, way)
                measured.append({"kind": kind, "vertices": vertices, "degree": degree, "way": way, "seconds": seconds})
                print(kind, vertices, degree, way, *worst(options, seconds), flush=True)
    rows = [row_of(options, each) for each in measured]
    script.table([HEAD, *rows])
    script.write_results(options, measured)
    if options.out:
        out = tables.Writer(options.out)
        out.add("Run", script.conditions(options, f"Best of {options.repeat} runs that took turns, {options.timeout:g} s for a ring. Every count and "
                                                   "digest was the same wherever two settings finished."))
        out.add("Seconds of all rings on a graph", tables.table(HEAD, rows))
        print(out.write("Long rings on sparse graphs"))


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("--kinds", nargs="+", choices=["directed", "undirected"], default=["directed", "undirected"])
    parser.add_argument("--vertices", nargs="+", type=int, default=[100, 1000, 10000, 100000])
    parser.add_argument("--degrees", nargs="+", type=float, default=[1, 1.25, 1.5, 2, 3], help="edges over vertices in a directed graph; ends of "
                        "edges over vertices in an undirected one")
    parser.add_argument("--lengths", nargs="+", type=int, default=[10, 13, 16, 19, 22, 25, 27, 30, 32])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--timeout", type=float, default=1, help="seconds for a ring")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", action="store_true", help="run each graph as a stream, too, if auto counts every ring")
    parser.add_argument("--least", type=float, default=1, help="milliseconds that the slowest setting must take to count for regret")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="tables.md")
    return parser.parse_args()


def draw(path, kind, vertices, degree, seed):
    """An edge list without self-loops and parallel edges. All edges are equally likely."""
    chance = random.Random(f"{kind} {vertices} {degree} {seed}")
    wanted = round(vertices * degree / (1 if kind == "directed" else 2))
    edges = set()
    while len(edges) < wanted:
        edge = chance.randrange(vertices), chance.randrange(vertices)
        if edge[0] != edge[1]:
            edges.add(edge if kind == "directed" else (min(edge), max(edge)))
    path.write_text("".join(f"{a} {b}\n" for a, b in sorted(edges)))
    return path


def ring(kind, length):
    step = "-->" if kind == "directed" else "--"
    return f"ring{length}=" + step.join(f"(v{i})" for i in range(length)) + step + "(v0)"


def measure(options, graph, kind, way):
    """{ring: {setting: seconds, or None if the time was over}}"""
    runs, truth = {}, {}
    lengths = options.lengths
    for _ in range(options.repeat):
        queries = [word for length in lengths for word in ("--query", ring(kind, length))]
        for setting in SETTINGS if lengths else ():
            report = script.Run([script.program(options), "match", "--graph", graph, f"--{kind}", *queries, "--threads", options.threads,
                                "--timeout", f"{round(options.timeout * 1000)}ms", "--filter", setting, *WAYS[way], "--json"], (0, 1)).json()
            for query in report["queries"]:
                times = runs.setdefault(query["name"], {}).setdefault(setting, [])
                times.append(None if query.get("partial") else query["seconds"])
                if times[-1] is not None:
                    check(truth, query["name"], (query["matches"], query.get("digest")), f"--filter {setting}")
        lengths = [length for length in lengths if f"ring{length}" in truth]  # what no setting answered is not asked again
    if options.replay:
        counted = [word for length in options.lengths if f"ring{length}" in truth for word in ("--query", ring(kind, length))]
        report = script.Run([script.program(options), "replay", "--updates", graph, f"--{kind}", *counted, "--threads", options.threads,
                            "--batch", 10**9, *WAYS[way], "--json"]).json() if counted else {"queries": []}
        for query in report["queries"]:
            check(truth, query["name"], (query["new"], query.get("new_digest")), "replay")
    return {name: {setting: min((time for time in times if time is not None), default=None) for setting, times in settings.items()}
            for name, settings in runs.items()}


def check(truth, name, found, by):
    if truth.setdefault(name, found) != found:
        raise script.Refused(f"{name} {by}: {found}, not {truth[name]}")


def regrets(options, seconds):
    """(regret, ring), for the rings that count"""
    limit = options.timeout
    result = []
    for name, settings in seconds.items():
        times = [limit if time is None else time for time in settings.values()]
        if all(time is None for time in settings.values()) or max(times) * 1000 < options.least:
            continue
        result.append(((settings["auto"] or limit) / min(times), name))
    return result


def worst(options, seconds):
    ratios = regrets(options, seconds)
    if not ratios:
        return ("nothing to compare",)
    regret, name = max(ratios)
    return (f"{regret:.2f} at {name}:", *(f"{setting} {'–' if time is None else format(1000 * time, '.1f')}" for setting, time in seconds[name].items()))


HEAD = ["graph", "way", "rings", *(f"{setting}: answered, s" for setting in SETTINGS), "auto over best: mean", "worst"]


def row_of(options, each):
    cells = []
    for setting in SETTINGS:
        times = [settings[setting] for settings in each["seconds"].values()]
        cells.append(f"{sum(time is not None for time in times)}, {sum(options.timeout if time is None else time for time in times):.3g}")
    ratios = [regret for regret, _ in regrets(options, each["seconds"])]
    ends = [f"{script.geometric_mean(ratios):.2f}", f"{max(ratios):.2f}"] if ratios else ["–", "–"]
    return [f"{each['kind']}, {each['vertices']}, {each['degree']:g}", each["way"], str(len(each["seconds"])), *cells, *ends]


if __name__ == "__main__":
    script.main(body)
