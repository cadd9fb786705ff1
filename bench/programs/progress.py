#!/usr/bin/env python3
"""How well does `match --progress` estimate? Compares the share of the work that it reports with the share of the time that has
passed.

Each query is matched once, by one thread, with progress shown. Each reported share is compared with its time over the time of
the whole match. Time before matching does not count. A query that ends before it has reported --least times is refused."""

import json
import pathlib
import re
import statistics
import subprocess
import time

from harness import script

REPORTED = re.compile(r"\bmatches of .*, (\d+)%, ")


def body():
    options = arguments()
    measured = [measure(options, query) for query in options.query]
    script.table([["query", "matches", "seconds", "reports", "farthest off", "mean"],
                   *([each["name"], f"{each['matches']:,}", f"{each['seconds']:.1f}", str(len(each["shares"])), f"{each['farthest']:.2f}",
                      f"{each['mean']:.2f}"] for each in measured)])
    script.write_results(options, measured)


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("graph", type=pathlib.Path)
    parser.add_argument("--query", nargs="+", required=True, help="patterns, or files of them, as for match")
    parser.add_argument("--more", default="", help="options of match, e.g. '--mode homomorphism'")
    parser.add_argument("--least", type=int, default=3)
    return parser.parse_args()


def measure(options, query):
    command = [script.program(options), "match", "--graph", options.graph, "--undirected", "--query", query, "--threads", "1", "--progress",
               "always", "--json", *options.more.split()]
    with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        lines = [(line, time.monotonic()) for line in process.stderr]
        end = time.monotonic()
        out = process.stdout.read()
    if process.returncode != 0:
        raise script.Refused(f"{query}: exit {process.returncode}: {''.join(line for line, _ in lines[-3:]).strip()}")
    report = json.loads(out)
    took = report["seconds"]["match"]
    shares = [{"reported": int(share[1]) / 100, "passed": 1 - (end - at) / took} for line, at in lines if (share := REPORTED.search(line))]
    if len(shares) < options.least:
        raise script.Refused(f"{query}: progress was reported {len(shares)} times in {took:.1f} s, and --least is {options.least}")
    off = [abs(each["reported"] - each["passed"]) for each in shares]
    found = report["queries"][0]
    return {"name": found["name"], "matches": found["matches"], "seconds": took, "shares": shares, "farthest": max(off),
            "mean": statistics.fmean(off)}


if __name__ == "__main__":
    script.main(body)
