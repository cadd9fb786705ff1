"""collegemsg: 59,835 messages between 1,899 people. Small enough for an independent matcher."""

import datasets
import independent
from reference import Index, cycle, four_cycles, pattern, subgraphs, triangles
from streams import INSERT, Graph, StreamTest, apply, main

FILE = "collegemsg/CollegeMsg.txt.gz"
PATTERNS = [
    cycle("ring3", 3),
    pattern("forwarded", (0, 1), (1, 2), (0, 2)),
    pattern("answered", (0, 1), (1, 0), (1, 2), (2, 1)),
    cycle("ring4", 4),
]


def records():
    for source, target, time in datasets.rows(FILE):
        yield INSERT, int(source), int(target), "", int(time) * 1_000_000


class CollegeMsg(StreamTest):
    def test_messages(self):
        self.check_replay(["--updates", datasets.path(FILE), "--batch", 500], records(), PATTERNS, Graph(), checkpoints=2)

    def test_window(self):
        args = ["--updates", datasets.path(FILE), "--window", "10d"]
        self.check_replay(args, records(), PATTERNS, Graph(window=10 * 86_400_000_000), checkpoints=20)

    def test_independent_matcher_counts_the_same(self):
        rows = list(records())[:3000]
        self.write("head.txt", "".join(f"{source} {target} {time // 1_000_000}\n" for _, source, target, _, time in rows))
        graph = Graph(window=20 * 86_400_000_000)
        apply(graph, rows)
        told = self.replay(["--updates", "head.txt", "--window", "20d", "--batch", 50, "--count", "embeddings"], PATTERNS)
        self.assertGreater(min(q["new"] for q in told["queries"]), 0)
        independent.check(self, told, graph, PATTERNS)

    def test_undirected_cycles(self):
        graph = Graph(directed=False)
        apply(graph, records())
        self.assertEqual(triangles(graph.edges()), 14_319)
        shapes = [cycle("c3", 3, directed=False), cycle("c4", 4, directed=False)]
        told = self.replay(["--updates", datasets.path(FILE), "--undirected"], shapes)
        self.assertEqual([q["new"] for q in told["queries"]], [14_319, four_cycles(graph.edges())])
        self.assertEqual(subgraphs(Index(graph), shapes[0]), 14_319)


if __name__ == "__main__":
    main()
