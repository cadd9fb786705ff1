"""Counts whole graphs in many ways, which must all agree. Filters are applied at once, late, in part or not at all. Counting
starts from edges or vertices, with one thread or two, and matches are listed or summed. The graphs are real, with random
labels; the queries are cut out of them by walks.
"""

import gzip
import json
import random
import time

import datasets
from streams import StreamTest, main

SECONDS = 60   # for the program on all graphs
LIMIT = "2s"   # for a count; slower counts are not compared
WAYS = ((), ("--filter", "none"), ("--filter", "label"), ("--filter", "refine"), ("--filter", "refine", "--filter-without", "degree,unite"),
        ("--count-from", "edges"), ("--count-from", "vertices"), ("--threads", "2"))
GRAPHS = ("email-enron", "facebook-combined", "ca-condmat-cc1")
# A filter that began late once counted from vertices in addition to what had been counted from edges. The result was
# 3,570,143,540.
FOUND_LATE = (4, [3, 3, 1, 2, 0, 0, 2, 2], [(1, 0), (2, 1), (3, 2), (4, 1), (4, 3), (5, 1), (5, 2), (5, 3), (5, 4), (6, 4), (6, 5), (7, 1), (7, 6)],
              8_606_500_320)


class Ways(StreamTest):
    def test_a_query_that_was_found_late(self):
        count, labels, edges, matches = FOUND_LATE
        self.graph("email-enron", count)
        self.query(labels, edges)
        for way in WAYS:
            self.assertEqual(self.program("match", *self.arguments(way, "30s"))["queries"][0]["matches"], matches, way)

    def test_all_find_the_same(self):
        draw = random.Random(11)
        end = time.monotonic() + SECONDS
        compared = filtered = 0
        while time.monotonic() < end:
            labels, neighbours = self.graph(draw.choice(GRAPHS), draw.choice((1, 2, 4, 8)))
            for _ in range(6):
                text = self.query(*walked(draw, labels, neighbours, draw.randint(4, 8)))
                induced = ("--induced",) if draw.random() < 0.2 else ()
                ways = [way for way in WAYS if not induced or "--count-from" not in way]
                told = {way: self.told(way + induced) for way in ways}
                counts = {way: query["matches"] for way, query in told.items() if not query.get("partial")}
                self.assertLessEqual(len(set(counts.values())), 1, (text, induced, counts))
                compared += max(0, len(counts) - 1)
                filtered += "filter" in told[()]
        self.assertGreater(compared, 100)
        self.assertGreater(filtered, 10)

    def told(self, way):
        outcome = self.run_program("match", *self.arguments(way, LIMIT), "--json")
        self.assertIn(outcome.code, (0, 1), outcome)
        return json.loads(outcome.out)["queries"][0]

    def arguments(self, way, limit):
        threads = () if "--threads" in way else ("--threads", "1")
        return "--graph", "g.graph", "--undirected", "--query", "q.graph", "--timeout", limit, *threads, *way

    def query(self, labels, edges):
        text = "".join([f"t {len(labels)} {len(edges)}\n", *(f"v {v} {label}\n" for v, label in enumerate(labels)), *(f"e {u} {v}\n" for u, v in edges)])
        self.write("q.graph", text)
        return text

    def graph(self, name, count):
        """Writes g.graph with `count` labels, the i-th in proportion to 1/i. Returns labels and neighbours by vertex."""
        neighbours = {}
        with gzip.open(datasets.path(f"snap-static/{name}.jlg"), "rt") as file:
            for line in file:
                ends = line.strip().split(",")
                if len(ends) == 2 and all(map(str.isdecimal, ends)) and ends[0] != ends[1]:
                    for u, v in (map(int, ends), map(int, reversed(ends))):
                        neighbours.setdefault(u, set()).add(v)
        vertices = sorted(neighbours)
        drawn = random.Random(count).choices(range(count), weights=[1 / (i + 1) for i in range(count)], k=len(vertices))
        labels = dict(zip(vertices, drawn))
        number = {vertex: i for i, vertex in enumerate(vertices)}
        edges = [(number[u], number[v]) for u, near in neighbours.items() for v in near if u < v]
        self.write("g.graph", "".join([f"t {len(vertices)} {len(edges)}\n", *(f"v {number[v]} {label}\n" for v, label in labels.items()),
                                       *(f"e {u} {v}\n" for u, v in edges)]))
        return labels, neighbours


def walked(draw, labels, neighbours, size):
    """The subgraph induced by the vertices of a random walk: labels, and edges between their positions."""
    seen = []
    while len(seen) < size:
        at, seen = draw.choice(list(labels)), []
        for _ in range(100 * size):
            if at not in seen:
                seen.append(at)
            if len(seen) == size:
                break
            at = draw.choice(sorted(neighbours[at]))
    return [labels[v] for v in seen], [(i, j) for i in range(size) for j in range(i) if seen[j] in neighbours[seen[i]]]


if __name__ == "__main__":
    main()
