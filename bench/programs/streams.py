#!/usr/bin/env python3
"""Replays real streams on the CPU and in several ways on a GPU: seconds of each step, and updates a second.

All ways must have the same counts for every query before a time is printed. What runs on a GPU must say so. tests/slow checks
that the counts are right. The data are looked for in --data, by default $DELTAMATCH_DATA or shared/data beside the repository."""

import os
import pathlib
import statistics

from harness import script

DATA = pathlib.Path(os.environ.get("DELTAMATCH_DATA") or script.ROOT.parent / "shared" / "data")
STREAMS = {
    "mathoverflow": (["sx-mathoverflow/sx-mathoverflow-a2q.txt.gz", "sx-mathoverflow/sx-mathoverflow-c2q.txt.gz",
                      "sx-mathoverflow/sx-mathoverflow-c2a.txt.gz"], "365d"),
    "email-eu-core": (["email-eu-core-temporal/email-Eu-core-temporal.txt.gz"], "90d"),
}
QUERIES = {
    "4-cycle": "(a)--(b)--(c)--(d)--(a)",
    "house": "(a)--(b)--(c)--(d)--(a),(a)--(e)--(b)",
    "near-clique5": "(a)--(b)--(c)--(d)--(a),(a)--(c),(b)--(d),(a)--(e)--(b),(c)--(e)",
}
WAYS = {"cpu": ["--backend", "cpu"], "resident": ["--gpu-policy", "resident"],
        "random-walk": ["--gpu-policy", "random-walk", "--gpu-memory", "1M"], "none": ["--gpu-policy", "none"]}
STEPS = ("apply", "estimate", "cache", "match", "settle")


def body():
    parser = script.parser(__doc__)
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="folder of the real data sets")
    parser.add_argument("--stream", nargs="+", choices=list(STREAMS), default=list(STREAMS))
    parser.add_argument("--query", nargs="+", choices=list(QUERIES), default=list(QUERIES))
    parser.add_argument("--batch", type=int, default=8192, help="updates in a batch, which a window may close earlier")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=1, help="replays of each kind, in turn, of which the median counts")
    parser.add_argument("--gpu", action="store_true", help="also on a GPU, under " + ", ".join(list(WAYS)[1:]))
    options = parser.parse_args()
    ways = WAYS if options.gpu else {"cpu": WAYS["cpu"]}
    measured = [measure(options, ways, stream, query) for stream in options.stream for query in options.query]
    rows = [["stream", "query", "updates", "new", "removed", *(f"{way} {what}" for way in ways for what in ("match s", "all s"))]]
    for row in measured:
        times = (f"{seconds:.3f}" for report in row["ways"].values() for seconds in (report["seconds"]["match"], report["busy"]))
        rows.append([row["stream"], row["query"], f"{row['updates']:,}", f"{row['new']:,}", f"{row['removed']:,}", *times])
    script.table(rows)
    script.write_results(options, measured)


def measure(options, ways, stream, query):
    files, window = STREAMS[stream]
    command = ["replay", *(word for file in files for word in ("--updates", options.data / file)), "--window", window, "--undirected",
               "--on-error", "skip", "--batch", options.batch, "--threads", options.threads, "--query", f"{query}={QUERIES[query]}",
               "--json"]
    runs = {way: [] for way in ways}
    truth = None
    for _ in range(options.repeat):
        for way, words in ways.items():
            report = script.Run([script.program(options), *command, *words]).json()
            if (report.get("backend") == "gpu") != (way != "cpu"):
                raise script.Refused(f"{stream}, {query}: {way} ran on {report.get('backend', 'the CPU')}")
            (found,) = report["queries"]
            counts = found["new"], found["removed"]
            truth = truth or counts
            if counts != truth or not report["updates"]:
                raise script.Refused(f"{stream}, {query}, {way}: {counts} in {report['updates']} updates, not {truth}")
            runs[way].append(report)
    first = runs["cpu"][0]
    return {"stream": stream, "query": query, "window": window, "threads": options.threads, "updates": first["updates"],
            "batches": first["batches"], "new": truth[0], "removed": truth[1],
            "ways": {way: summary(report, ways[way]) for way, report in runs.items()}}


def summary(runs, words):
    seconds = {step: statistics.median(report["seconds"][step] for report in runs) for step in runs[0]["seconds"]}
    busy = sum(seconds[step] for step in STEPS)
    result = {"options": " ".join(words), "seconds": seconds, "busy": busy, "updates_per_second": round(runs[0]["updates"] / busy)}
    return result | ({"cache": runs[0]["cache"]} if "cache" in runs[0] else {})


if __name__ == "__main__":
    script.main(body)
