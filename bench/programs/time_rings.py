#!/usr/bin/env python3
"""How fast are ordered rings within a span of time found, in a stream and in a whole graph, beside another program?

The input is an edge list with times in seconds. A ring of k is k edges, each later than the one before, all less than the span
apart, between k vertices. A plain backtracking counter says how many there are; every way must find as many.

Ways: `stream` replays the edges, `match` loads them first. The seconds are those of matching; `engine` adds those of applying and
settling. With --peer, a command takes turns with them. It gets the file for {edges}, k for {ring}, and for {span} the span in ticks of the
file. Its last two words are the number of rings and its seconds."""

import bisect
import pathlib
import shlex
import statistics
import tempfile

from harness import script, tables


def body():
    options = arguments()
    measured = []
    for edges in options.edges:
        with tempfile.TemporaryDirectory() as directory:
            stream = untied(edges, pathlib.Path(directory, edges.name), options.most)
            for k in options.rings:
                measured.append(measure(options, stream, edges.name, k))
                print(edges.name, k, measured[-1]["rings"], flush=True)
    rows = [row_of(options, each) for each in measured]
    script.table([head(options), *rows])
    script.write_results(options, measured)
    if options.out:
        out = tables.Writer(options.out)
        out.add("Run", script.conditions(options, f"Medians of {options.repeat} runs that took turns, one thread. Every count is that of the "
                                                  "counter."))
        out.add("Seconds", tables.table(head(options), rows))
        print(out.write("Ordered rings"))


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("edges", nargs="+", type=pathlib.Path, help="edge lists: source, target, time in seconds")
    parser.add_argument("--rings", nargs="+", type=int, default=[3, 4])
    parser.add_argument("--span", type=int, default=86400, help="seconds")
    parser.add_argument("--most", type=int, default=10**9, help="read this many edges at most")
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="tables.md")
    return parser.parse_args()


INFINITY = float("inf")
TICKS = 64  # of an untied stream, for each second


def untied(edges, path, most):
    """Writes the edges in order of time, with times that differ: programs break ties in different ways."""
    rows = sorted((int(time), int(a), int(b)) for a, b, time in (line.split()[:3] for line in edges.read_text().splitlines() if line[:1].isdigit()))
    last, place = None, 0
    with path.open("w") as out:
        for time, a, b in rows[:most]:
            place = place + 1 if time == last else 0
            last = time
            if place >= TICKS:
                raise script.Refused(f"{edges}: more than {TICKS} edges at the time {time}")
            if a != b:  # no ring has a self-loop
                out.write(f"{a} {b} {(time - rows[0][0]) * TICKS + place + 1}\n")
    return path


def count(path, k, span):
    """The rings, by backtracking from the oldest edge of each."""
    leaving = {}
    rows = [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
    for a, b, time in rows:
        leaving.setdefault(a, []).append((time, b))

    def extend(first, seen, time, end):
        found = 0
        edges = leaving.get(seen[-1], [])
        for later, to in edges[bisect.bisect_right(edges, (time, INFINITY)):]:
            if later >= end:
                break
            if len(seen) == k:
                found += to == first
            elif to not in seen:
                found += extend(first, [*seen, to], later, end)
        return found

    return sum(extend(a, [a, b], time, time + span) for a, b, time in rows)


def pattern(k, span):
    steps = "".join(f"-[t{i}]->(v{i % k})" for i in range(1, k + 1))
    order = " < ".join(f"t{i}.time" for i in range(1, k + 1))
    return f"ring=(v0){steps} WHERE {order} WITHIN {span}us"


def measure(options, path, name, k):
    span = options.span * TICKS
    expected = count(path, k, span)
    seconds = {}
    common = ["--edges", "events", "--time-unit", "us", "--threads", 1, "--query", pattern(k, span), "--json"]
    for _ in range(options.repeat):
        for peer in options.peer:
            label, command = peer.split("=", 1)
            words = script.Run(shlex.split(command.format(edges=path, ring=k, span=span))).out.split()
            same(f"{label} on {name}", int(words[-2]), expected)
            seconds.setdefault(label, []).append(float(words[-1]))
        stream = script.Run([script.program(options), "replay", "--updates", path, "--batch", options.batch, *common]).json()
        same(f"stream of {name}", stream["queries"][0]["new"], expected)
        seconds.setdefault("stream", []).append(stream["seconds"]["match"])
        seconds.setdefault("engine", []).append(sum(stream["seconds"][step] for step in ("apply", "estimate", "match", "settle")))
        whole = script.Run([script.program(options), "match", "--graph", path, *common]).json()
        same(f"match of {name}", whole["queries"][0]["matches"], expected)
        seconds.setdefault("match", []).append(whole["queries"][0]["seconds"])
    return {"edges": name, "ring": k, "rings": expected, "seconds": {way: statistics.median(times) for way, times in seconds.items()}}


def same(who, found, expected):
    if found != expected:
        raise script.Refused(f"{who}: {found} rings, not {expected}")


def ways(options):
    return [*(peer.split("=", 1)[0] for peer in options.peer), "stream", "engine", "match"]


def head(options):
    return ["edges", "ring", "rings", *ways(options), *(f"{peer.split('=', 1)[0]} over match" for peer in options.peer)]


def row_of(options, each):
    ratios = [f"{each['seconds'][peer.split('=', 1)[0]] / each['seconds']['match']:.2f}" for peer in options.peer]
    return [each["edges"], str(each["ring"]), f"{each['rings']:,}", *(f"{each['seconds'][way]:.3g}" for way in ways(options)), *ratios]


if __name__ == "__main__":
    script.main(body)
