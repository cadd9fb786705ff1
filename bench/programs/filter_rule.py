#!/usr/bin/env python3
"""Does `match --filter auto` choose well? Counts all queries of a folder on a graph under every setting of --filter.

A setting runs all queries in one process, and settings take turns. Counts must be equal if two settings finish. A query that is
not answered within the limit counts with the limit.

Regret is the time of auto over that of the best setting for the query. It leaves out queries that every setting answers in less
than --least milliseconds, and queries that none answers. With --out, the script writes a page."""

import collections
import pathlib
import statistics
import tempfile

from harness import script, tables

SETTINGS = ("none", "label", "degree", "refine", "auto")


def body():
    options = arguments()
    measured = {}
    with tempfile.TemporaryDirectory() as directory:
        for text in options.sets:
            graph, _, queries = text.partition("=")
            measured[pathlib.Path(graph).name.partition(".")[0]] = measure(options, graph, chosen(options, pathlib.Path(queries), directory))
    rows = [row for name, seconds in measured.items() for row in rows_of(options, name, seconds)]
    script.table([HEAD, *rows])
    script.write_results(options, measured)
    if options.out:
        out = tables.Writer(options.out)
        out.add("Run", script.conditions(options, f"Medians of {options.repeat} runs that took turns, {options.timeout:g} s for a query. Every count was "
                                                   "the same wherever two settings finished."))
        out.add("Seconds of all queries of a class", tables.table(HEAD, rows))
        print(out.write("What filtering is chosen"))


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("sets", nargs="+", metavar="GRAPH=FOLDER", help="a graph, plain or .xz, and a folder of .graph files, which are "
                        "classed by their names up to the last _")
    parser.add_argument("--sample", type=int, default=0, help="queries of a class, the first by name; 0: all")
    parser.add_argument("--timeout", type=float, default=0.3, help="seconds for a query")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--backend", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--least", type=float, default=1, help="milliseconds that the slowest setting must take to count for regret")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="tables.md")
    return parser.parse_args()


def class_of(name):
    return name.rpartition("_")[0]


def chosen(options, folder, directory):
    """A folder of links to the queries that are to be counted."""
    files = collections.defaultdict(list)
    for path in sorted(folder.rglob("*.graph")):
        files[class_of(path.stem)].append(path)
    if not files:
        raise script.Refused(f"{folder}: no .graph file")
    into = pathlib.Path(directory, f"queries{len(list(pathlib.Path(directory).iterdir()))}")
    into.mkdir()
    for paths in files.values():
        for path in paths[:options.sample or None]:
            (into / path.name).symlink_to(path.resolve())
    return into


def measure(options, graph, queries):
    """{query: {setting: seconds, or None if the time was over}}"""
    runs = collections.defaultdict(lambda: collections.defaultdict(list))
    truth = {}
    for _ in range(options.repeat):
        for setting in SETTINGS:
            report = script.Run([script.program(options), "match", "--graph", graph, "--undirected", "--on-error", "skip", "--query", queries,
                                "--threads", options.threads, "--timeout", f"{round(options.timeout * 1000)}ms", "--filter", setting, "--backend",
                                options.backend, "--json"], (0, 1)).json()
            for query in report["queries"]:
                name = query["name"]
                if query.get("partial"):
                    runs[name][setting].append(None)
                    continue
                if truth.setdefault(name, query["matches"]) != query["matches"]:
                    raise script.Refused(f"{name} --filter {setting}: {query['matches']}, not {truth[name]}")
                runs[name][setting].append(query["seconds"])
    return {name: {setting: None if None in times else statistics.median(times) for setting, times in settings.items()}
            for name, settings in runs.items()}


HEAD = ["set", "class", "queries", *(f"{setting}: answered, s" for setting in SETTINGS), "auto over best: mean", "worst"]


def rows_of(options, name, seconds):
    classes = collections.defaultdict(dict)
    for query, settings in seconds.items():
        classes[class_of(query)][query] = settings
    classes = dict(sorted(classes.items()))
    if len(classes) > 1:
        classes["all"] = seconds
    return [row_of(options, name, label, queries) for label, queries in classes.items()]


def row_of(options, name, label, queries):
    def with_limit(time):
        return options.timeout if time is None else time

    cells = []
    for setting in SETTINGS:
        times = [settings[setting] for settings in queries.values()]
        cells.append(f"{sum(time is not None for time in times)}, {sum(map(with_limit, times)):.3g}")
    regrets = [with_limit(settings["auto"]) / min(map(with_limit, settings.values())) for settings in queries.values()
               if any(time is not None for time in settings.values())
               and max(map(with_limit, settings.values())) * 1000 >= options.least]
    report = [f"{script.geometric_mean(regrets):.2f}", f"{max(regrets):.2f}"] if regrets else ["–", "–"]
    return [name, label, str(len(queries)), *cells, *report]


if __name__ == "__main__":
    script.main(body)
