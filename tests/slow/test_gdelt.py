"""tkg-gdelt-slice: directed world events with 220 edge labels, and many parallel edges between the same two countries."""

import datasets
from reference import Index, cycle, embeddings, pattern
from streams import INSERT, Graph, StreamTest, apply, main

FILE = "tkg-gdelt-slice/valid.txt.gz"


def records():
    for source, relation, target, time in datasets.rows(FILE, "\t"):
        yield INSERT, int(source), int(target), relation, int(time) * 1_000_000


def common(place):
    """The label at this rank by frequency."""
    seen = {}
    for _, _, _, relation, _ in records():
        seen[relation] = seen.get(relation, 0) + 1
    return sorted(seen, key=lambda r: (-seen[r], r))[place]


class Gdelt(StreamTest):
    args = ["--columns", "source,label,target,time", "--updates"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        a, b, c, rare = (common(place) for place in (0, 1, 2, 60))
        cls.patterns = [
            cycle("common3", 3, a),
            cycle("alternatives3", 3, a, b, c),
            pattern("answer", (0, 1, a), (1, 0, b)),
            pattern("joint", (0, 2, a), (1, 2, a), (0, 1, b)),
            pattern("rare", (0, 1, rare), (1, 2, a), (2, 0)),
            pattern("square", (0, 1, rare), (1, 2, b), (2, 3, rare), (3, 0, b)),
        ]

    def test_labels(self):
        args = [*self.args, datasets.path(FILE), "--on-error", "skip"]
        self.check_replay(args, records(), self.patterns, Graph(), checkpoints=2)

    def test_window(self):
        args = [*self.args, datasets.path(FILE), "--on-error", "skip", "--window", "100s"]
        self.check_replay(args, records(), self.patterns, Graph(window=100_000_000), checkpoints=8)

    def test_wildcards_over_parallel_edges(self):
        graph = Graph()
        apply(graph, records())
        ring = cycle("ring3", 3)
        self.assertGreater(len(graph.edges()), len({e[:2] for e in graph.edges()}), "parallel edges")
        told = self.replay([*self.args, datasets.path(FILE), "--on-error", "skip", "--count", "embeddings"], [ring])
        self.assertEqual(told["queries"][0]["new"], embeddings(Index(graph), ring))

    def test_triangles(self):
        self.check_triangles(["--columns", "source,-,target,time", "--updates", datasets.path(FILE)], 655_073)


if __name__ == "__main__":
    main()
