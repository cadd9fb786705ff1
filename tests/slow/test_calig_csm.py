"""calig-csm: ready-made inputs of continuous matching, with a start graph, a stream and queries. In the stream, `e -(u+1)
-(v+1)` is a deletion. About a third of the insertions repeat a live edge.
"""

import datasets
import independent
from reference import Edge, Pattern
from streams import DELETE, INSERT, Graph, StreamTest, apply, counts, main

SAMPLE = {  # queries by number of vertices; left out are those that take plain Python minutes
    "lastfm10": {4: range(1, 6), 6: range(1, 6), 8: range(1, 6), 10: range(1, 6)},
    "facebook10": {4: range(1, 6), 6: (1, 10, 15, 16, 17, 18)},
    "deezer5": {4: range(1, 6), 6: range(1, 6)},
    "github10": {4: range(1, 6), 6: (10, 13, 15)},
}
FOR_INDEPENDENT = ("q4_1", "q4_2", "q6_1", "q8_1", "q8_3", "q10_1")  # from lastfm10, those that take networkx seconds


def file(name):
    return f"calig-csm/{name}.zip"


def start_graph(data):
    graph = Graph(directed=False)
    for kind, one, other, *_ in datasets.text_rows(data):
        if kind == "v":
            graph.vertex_label[int(one)] = other
        else:
            graph.insert(int(one), int(other))
    return graph


def records(data):
    for _, one, other in datasets.text_rows(data):
        source, target = int(one), int(other)
        if source < 0:
            yield DELETE, -source - 1, -target - 1
        else:
            yield INSERT, source, target


def read_pattern(name, data):
    labels, edges = [], []
    for kind, one, other, *_ in filter(None, datasets.text_rows(data)):
        if kind == "v":
            labels.append((other,))
        elif kind == "e":
            edges.append(Edge(int(one), int(other), directed=False))
    return Pattern(name, tuple(labels), tuple(edges))


class CaligCsm(StreamTest):
    def prepare(self, name):
        """Unpacks a set. Returns the arguments, the patterns, and the reference's start graph and records."""
        archive = file(name)
        initial, stream = datasets.unzip(archive, f"{name}/initial"), datasets.unzip(archive, f"{name}/s")
        self.write("initial", initial)
        self.write("s", stream)
        patterns = []
        for size, numbers in SAMPLE[name].items():
            for number in numbers:
                query, data = f"q{size}_{number}", datasets.unzip(archive, f"{name}/Q/{size}/q{number}")
                self.write(f"queries/{query}.graph", data)
                patterns.append(read_pattern(query, data))
        args = ["--graph", "initial", "--graph-format", "tve", "--updates", "s", "--format", "tve", "--negative-ids"]
        return args, patterns, start_graph(initial), list(records(stream))

    def check(self, name):
        args, patterns, graph, rows = self.prepare(name)
        told = self.check_replay([*args, "--batch", 1000], rows, patterns, graph, checkpoints=1)
        self.assertGreater(told["ignored"]["duplicate_insert"], 0)
        self.assertGreater(sum(q["new"] for q in told["queries"]), 0)
        self.assertGreater(sum(q["removed"] for q in told["queries"]), 0)
        files = self.program("replay", *args, "--query", "queries", "--threads", 2)  # the query files mean the same as the
                                                                                     # patterns
        self.assertEqual({q["name"]: q["new"] - q["removed"] for q in files["queries"]},
                         {q["name"]: q["new"] - q["removed"] for q in told["queries"]})

    def test_lastfm10(self):
        self.check("lastfm10")

    def test_facebook10(self):
        self.check("facebook10")

    def test_deezer5(self):
        self.check("deezer5")

    def test_github10(self):
        self.check("github10")

    def test_independent_matcher_counts_the_same(self):
        args, patterns, graph, rows = self.prepare("lastfm10")
        patterns = [p for p in patterns if p.name in FOR_INDEPENDENT]
        start = counts(graph, patterns, "embeddings")
        told = self.replay([*args, "--count", "embeddings"], patterns)
        apply(graph, rows)
        independent.check(self, told, graph, patterns, start)


if __name__ == "__main__":
    main()
