#!/usr/bin/env python3
"""How far the share of the work that `match --progress` tells is from the share of the time that has passed.

Each query is matched once, by one thread, with progress shown, and the time of each share that is told is held to that of the end. What
comes before matching does not count. A query that is over before it has told of its progress --least times is refused."""

import json
import pathlib
import re
import statistics
import subprocess
import time

from harness import script

TOLD = re.compile(r"\bmatches of .*, (\d+)%, ")


def body():
    options = arguments()
    measured = [measure(options, query) for query in options.query]
    script.table([["query", "matches", "seconds", "told", "farthest off", "mean"],
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
    told = json.loads(out)
    took = told["seconds"]["match"]
    shares = [{"told": int(share[1]) / 100, "passed": 1 - (end - at) / took} for line, at in lines if (share := TOLD.search(line))]
    if len(shares) < options.least:
        raise script.Refused(f"{query}: progress was told {len(shares)} times in {took:.1f} s, and --least is {options.least}")
    off = [abs(each["told"] - each["passed"]) for each in shares]
    found = told["queries"][0]
    return {"name": found["name"], "matches": found["matches"], "seconds": took, "shares": shares, "farthest": max(off),
            "mean": statistics.fmean(off)}


if __name__ == "__main__":
    script.main(body)
