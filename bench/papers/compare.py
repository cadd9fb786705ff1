#!/usr/bin/env python3
"""Runs deltamatch and another program on a graph, a stream and a folder of queries, in turns.

Prints medians, ratios and their geometric mean. Stops if counts differ.

The other program is given by its command, which is split as a shell splits words. {graph}, {updates} and {query} in it stand
for paths. A regular expression with one group finds a figure in its output; the last match counts. If it needs files of another
form, name them with --peer-graph, --peer-updates and --peer-queries (a folder with the same file names).

  compare.py --graph start.graph --updates inserts --queries bench/queries/labelled \\
      --peer './other -d {graph} -u {updates} -q {query}' --peer-matches 'matches: (\\d+)' --peer-seconds 'seconds: ([0-9.]+)'
"""

import argparse
import pathlib
import re
import shlex
import statistics

from harness import script


def arguments():
    parser = script.parser(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--graph", required=True, help="start graph")
    parser.add_argument("--updates", required=True, help="stream")
    parser.add_argument("--queries", type=pathlib.Path, required=True, help="folder of .graph files")
    parser.add_argument("--only", help="names of queries, separated by commas; default: all in the folder")
    parser.add_argument("--batch", type=int, default=1024, help="updates in a batch of deltamatch (default: 1024)")
    parser.add_argument("--threads", type=int, default=1, help="threads of deltamatch (default: 1)")
    parser.add_argument("--more", default="", help="more options for deltamatch, such as '--backend gpu'")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, in alternation (default: 3)")
    parser.add_argument("--verify", action="store_true", help="also check the counts with bench_count")
    peer = parser.add_argument_group("the other program")
    peer.add_argument("--peer", help="command")
    peer.add_argument("--peer-name", default="other", help="its name in the table")
    peer.add_argument("--peer-matches", help="finds the number of embeddings that appeared and vanished")
    peer.add_argument("--peer-seconds", help="finds the seconds that matching took")
    peer.add_argument("--peer-apply", help="finds the seconds that updates took beside matching, if the program reports them separately")
    peer.add_argument("--peer-graph")
    peer.add_argument("--peer-updates")
    peer.add_argument("--peer-queries", type=pathlib.Path)
    options = parser.parse_args()
    if options.peer and not (options.peer_matches and options.peer_seconds):
        parser.error("--peer needs --peer-matches and --peer-seconds")
    return options


def figure(expression, text, kind):
    found = re.findall(expression, text, re.MULTILINE)
    if not found:
        raise script.Refused(f"nothing in the log of the other program fits {expression!r}")
    return kind(found[-1])


def run_ours(options, query):
    report, run = script.replay(options, options.graph, options.updates, query, batch=options.batch, threads=options.threads,
                               more=shlex.split(options.more))
    (change,) = report["queries"]
    seconds = report["seconds"]
    return {"matches": change["new"] + change["removed"], "new": change["new"], "removed": change["removed"],
            "match": seconds["estimate"] + seconds["cache"] + seconds["match"], "apply": seconds["apply"] + seconds["settle"],
            "peak_mib": run.peak_mib}


def run_peer(options, query):
    paths = {"graph": options.peer_graph or options.graph, "updates": options.peer_updates or options.updates,
             "query": (options.peer_queries or options.queries) / query.name}
    run = script.Run([part.format(**paths) for part in shlex.split(options.peer)])
    return {"matches": figure(options.peer_matches, run.out, int), "match": figure(options.peer_seconds, run.out, float),
            "apply": figure(options.peer_apply, run.out, float) if options.peer_apply else 0.0, "peak_mib": run.peak_mib}


def summary(runs):
    """Medians, with the range of the matching time."""
    result = {key: statistics.median(run[key] for run in runs) for key in ("match", "apply", "peak_mib")}
    result["match_range"] = [min(run["match"] for run in runs), max(run["match"] for run in runs)]
    return result | {"matches": runs[0]["matches"]}


def compare(options, query):
    ours, peers = [], []
    for _ in range(options.repeat):
        ours.append(run_ours(options, query))
        if options.peer:
            peers.append(run_peer(options, query))
    counts = {run["matches"] for run in ours + peers}
    if len(counts) != 1:
        raise script.Refused(f"{query.stem}: counts differ: deltamatch {[run['matches'] for run in ours]}, "
                              f"{options.peer_name} {[run['matches'] for run in peers]}")
    result = {"query": query.stem, "new": ours[0]["new"], "removed": ours[0]["removed"], "deltamatch": summary(ours)}
    if peers:
        result[options.peer_name] = summary(peers)
    return result


def cells(options, result):
    ours = result["deltamatch"]
    row = [result["query"], f"{ours['matches']:,}", f"{ours['match']:.4f}", f"{ours['apply']:.4f}", f"{ours['peak_mib']:.0f}"]
    if options.peer:
        peer = result[options.peer_name]
        with_apply = (peer["match"] + peer["apply"]) / (ours["match"] + ours["apply"])
        row += [f"{peer['match']:.4f}", f"{peer['peak_mib']:.0f}", f"{ratio(options, result):.2f}", f"{with_apply:.2f}",
                f"{peer['peak_mib'] / ours['peak_mib']:.2f}"]
    return row


def ratio(options, result):
    return result[options.peer_name]["match"] / max(result["deltamatch"]["match"], 1e-6)


def body():
    options = arguments()
    queries = sorted(options.queries.glob("*.graph"))
    if options.only:
        queries = [query for query in queries if query.stem in options.only.split(",")]
    if not queries:
        raise script.Refused(f"no queries in {options.queries}")
    measured = [compare(options, query) for query in queries]
    if options.verify:
        expected = script.independent_counts(options, options.graph, options.updates, queries)
        script.check({"queries": [result | {"name": result["query"]} for result in measured]}, expected)
    heading = ["query", "embeddings", "match s", "apply+settle s", "peak MiB"]
    if options.peer:
        heading += [f"{options.peer_name} match s", "peak MiB", "ratio match", "ratio all", "ratio memory"]
    script.table([heading, *(cells(options, result) for result in measured)])
    if options.peer:
        ratios = [ratio(options, result) for result in measured]
        print(f"matching, {options.peer_name} : deltamatch, geometric mean {script.geometric_mean(ratios):.2f}, "
              f"least {min(ratios):.2f}")
    script.write_results(options, measured)


if __name__ == "__main__":
    script.main(body)
