"""Random queries of 5 to 14 vertices, trees and similar. Each is planted in a random graph, so the graph has at least one match.
They are too large for brute force. The reference counts them and the program lists them, while edges are deleted and inserted
again.
"""

import random

from reference import Edge, Index, Pattern, embeddings
from streams import DELETE, Graph, StreamTest, apply, main, queries

ROUNDS = 150


class Case:
    def __init__(self, seed):
        rng = random.Random(seed)
        size = rng.randint(5, 14)
        names = rng.randint(2, size)
        label = [str(rng.randrange(names)) for _ in range(size)]
        edges = {(rng.randrange(v), v) for v in range(1, size)}
        for _ in range(rng.choice((0, 0, 1, 2))):
            edges.add(tuple(sorted(rng.sample(range(size), 2))))
        self.pattern = Pattern("q", tuple((name,) for name in label), tuple(Edge(*e, directed=False) for e in sorted(edges)))
        self.graph = Graph(directed=False)
        vertices = size + rng.randint(0, 8)
        self.graph.vertex_label = {v: label[v] if v < size else rng.choice(label) for v in range(vertices)}
        for source, target in [*edges, *(rng.sample(range(vertices), 2) for _ in range(rng.randint(0, 12)))]:
            self.graph.insert(source, target)
        self.gone = rng.sample(sorted(edges), rng.randint(1, 3))


class LargeQueries(StreamTest):
    def check(self, seed):
        case = Case(seed)
        labels = case.graph.vertex_label.items()
        self.write("start", "".join(f"v {v} {name}\n" for v, name in labels) +
                   "".join(f"e {source} {target}\n" for source, target, _ in sorted(case.graph.edges())))
        self.write("stream", "".join(f"{sign} {source} {target}\n" for sign in ("-e", "e") for source, target in case.gone))
        before = embeddings(Index(case.graph), case.pattern)
        apply(case.graph, [(DELETE, *edge) for edge in case.gone])
        lost = before - embeddings(Index(case.graph), case.pattern)
        self.assertGreater(lost, 0)
        args = ["replay", "--graph", "start", "--updates", "stream", "--format", "tve", "--batch", len(case.gone), "--count",
                "embeddings", *queries([case.pattern])]
        for emit in ("none", "digest"):
            told = self.program(*args, "--emit", emit, timeout=20)
            (query,) = told["queries"]
            self.assertEqual((query["removed"], query["new"]), (lost, lost), f"{emit}: {case.pattern.text()}")
        self.assertEqual(query["new_digest"], query["removed_digest"])
        whole = self.program("match", "--graph", "start", "--count", "embeddings", *queries([case.pattern]), timeout=20)
        self.assertEqual(whole["queries"][0]["matches"], before, case.pattern.text())

    def test_planted(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                self.check(seed)


if __name__ == "__main__":
    main()
