#!/usr/bin/env python3
"""Labelled queries cut out of real graphs by random walks: how many are answered within a time limit, and how long that takes.

A query is the subgraph induced by the vertices of a random walk, with their labels; half of them have a mean degree of at least
3 ("dense"), where the graph has such. Every query runs alone. Ways of matching, and builds, must find the same wherever both
finish. Times are of matching, without loading the graph: the median of several runs that take turns; what is not answered
counts with the limit. The worst query is the one that takes the most times as long as in the first way, among those that take at least
50 ms there."""

import argparse
import lzma
import pathlib
import random
import shlex
import statistics
import tempfile

import harness


TELLING = 0.05  # seconds


class Graph:
    def __init__(self, path):
        self.name = path.name.split(".")[0]
        self.path = path
        self.labels = {}
        self.neighbours = {}
        with (lzma.open if path.suffix == ".xz" else open)(path, "rt") as file:
            for line in file:
                kind, *fields = line.split()
                if kind == "v":
                    self.labels[int(fields[0])] = fields[1]
                elif kind == "e":
                    for u, v in ((fields[0], fields[1]), (fields[1], fields[0])):
                        self.neighbours.setdefault(int(u), set()).add(int(v))
        self.vertices = sorted(self.neighbours)

    def walk(self, draw, size):
        """The vertices that a walk meets, in that order; fewer than `size` where it gets nowhere."""
        at = draw.choice(self.vertices)
        seen = [at]
        for _ in range(100 * size):
            if len(seen) == size:
                break
            at = draw.choice(sorted(self.neighbours[at]))
            if at not in seen:
                seen.append(at)
        return seen

    def query(self, draw, size, dense):
        """Text in t/v/e."""
        for attempt in range(100000):
            seen = self.walk(draw, size)
            edges = [(i, j) for i in range(len(seen)) for j in range(i) if seen[j] in self.neighbours[seen[i]]]
            if len(seen) < size or ((2 * len(edges) >= 3 * size) != dense and attempt < 5000):
                continue
            lines = [f"t {size} {len(edges)}", *(f"v {i} {self.labels[v]}" for i, v in enumerate(seen)), *(f"e {i} {j}" for i, j in edges)]
            return "\n".join(lines) + "\n"
        raise harness.Refused(f"{self.name}: no walk meets {size} vertices")


def body():
    parser = harness.parser(__doc__)
    parser.add_argument("graphs", type=pathlib.Path, nargs="+", help="graphs in t/v/e with vertex labels, plain or .xz")
    parser.add_argument("--against", type=pathlib.Path, nargs="*", default=[], help="other build directories, which take turns with --build")
    parser.add_argument("--way", nargs="+", default=["--filter auto"], help="options of match, as one text each")
    parser.add_argument("--vertices", type=int, default=12)
    parser.add_argument("--queries", type=int, default=40, help="per graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=2, help="seconds for a query")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    rows = [["graph", "build", "way", "answered", "seconds of all", "of those that all answer", "worst query"]]
    measured = []
    for path in options.graphs:
        graph = Graph(path)
        draw = random.Random(options.seed)
        with tempfile.TemporaryDirectory() as directory:
            queries = []
            for i in range(options.queries):
                queries.append(pathlib.Path(directory) / f"q{i}.graph")
                queries[-1].write_text(graph.query(draw, options.vertices, i % 2 == 0))
            measured += measure(options, graph, queries)
        for told in measured[-len(options.way) * (1 + len(options.against)):]:
            rows.append([graph.name, told["build"], told["way"], f"{told['answered']} of {len(queries)}", f"{told['seconds']:.2f}",
                         f"{told['common_seconds']:.3f} ({told['common']})", f"{told['worst']:.2f}"])
    harness.table(rows)
    harness.write_results(options, measured)


def measure(options, graph, queries):
    """One row for each build and way."""
    cases = [(build, way) for build in (options.build, *options.against) for way in options.way]
    times = {case: {} for case in cases}
    for query in queries:
        runs = {case: [] for case in cases}
        truth = None
        for _ in range(options.repeat):
            for build, way in cases:
                if None in runs[build, way]:
                    continue
                told, seconds = run(options, build, shlex.split(way), graph, query)
                if told is not None and told != (truth := truth or told):
                    raise harness.Refused(f"{graph.name}, {query.name}, {build} {way}: {told}, not {truth}\n{query.read_text()}")
                runs[build, way].append(None if told is None else seconds)
        for case, seconds in runs.items():
            times[case][query] = None if None in seconds else statistics.median(seconds)
    common = [query for query in queries if all(times[case][query] is not None for case in cases)]
    first = {query: options.timeout if seconds is None else seconds for query, seconds in times[cases[0]].items()}

    def worst(case):
        return max(((options.timeout if times[case][query] is None else times[case][query]) / seconds
                    for query, seconds in first.items() if seconds >= TELLING), default=1)

    return [{"graph": graph.name, "build": str(build), "way": way, "worst": worst((build, way)),
             "answered": sum(seconds is not None for seconds in times[build, way].values()),
             "seconds": sum(options.timeout if seconds is None else seconds for seconds in times[build, way].values()),
             "common": len(common), "common_seconds": sum(times[build, way][query] for query in common)} for build, way in cases]


def run(options, build, way, graph, query):
    """((matches, digest), seconds), the former None where the time was out. Digests of what --limit cut short are not compared."""
    program = harness.program(argparse.Namespace(build=build))
    command = [program, "match", "--graph", graph.path, "--undirected", "--query", query, "--threads", options.threads, "--timeout",
               f"{round(options.timeout * 1000)}ms", "--json", *way]
    told = harness.Run(command, (0, 1)).json()
    found = told["queries"][0]
    partial = found.get("partial")
    answer = None if partial == "timeout" else (found["matches"], "" if partial else found.get("digest", ""))
    return answer, told["seconds"]["match"]


if __name__ == "__main__":
    harness.main(body)
