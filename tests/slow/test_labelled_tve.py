"""labelled-tve: real graphs with 71 and 307 vertex labels, and the queries commonly used for them. A random fifth of the edges
is inserted, then another fifth is deleted.
"""

import lzma
import random
import tarfile

import datasets
from reference import Edge, Pattern
from streams import DELETE, INSERT, Graph, StreamTest, main

PER_FAMILY = 6


def read_pattern(name, data):
    """Reads a query. Its edge label 0 is ignored, because the graphs have no edge labels."""
    labels, edges = [], []
    for kind, one, other, *_ in datasets.text_rows(data):
        if kind == "v":
            labels.append((other,))
        elif kind == "e":
            edges.append(Edge(int(one), int(other), directed=False))
    return Pattern(name, tuple(labels), tuple(edges))


class LabelledTve(StreamTest):
    def check(self, name, families):
        with lzma.open(datasets.path(f"labelled-tve/{name}.graph.xz"), "rt") as file:
            lines = file.read().splitlines()
        edges = [line.split()[1:] for line in lines if line.startswith("e")]
        random.Random(7).shuffle(edges)
        fifth = len(edges) // 5
        held, gone = edges[:fifth], edges[fifth:2 * fifth]
        graph = Graph(directed=False)
        graph.vertex_label = {int(v): label for kind, v, label, *_ in map(str.split, lines) if kind == "v"}
        for source, target in edges[fifth:]:
            graph.insert(int(source), int(target))
        self.write("start.graph", "\n".join([line for line in lines if line.startswith("v")] +
                                            [" ".join(["e", *edge]) for edge in edges[fifth:]]) + "\n")
        self.write("stream", "".join(f"{sign} {' '.join(edge)}\n" for sign, part in (("e", held), ("-e", gone)) for edge in part))
        records = [(sign, *map(int, edge)) for sign, part in ((INSERT, held), (DELETE, gone)) for edge in part]
        patterns = []
        with tarfile.open(datasets.path(f"labelled-tve/{name}.query_graph.tar.xz")) as archive:
            for family in families:
                for number in range(1, PER_FAMILY + 1):
                    member = archive.extractfile(f"{name}/query_graph/query_{family}_{number}.graph")
                    patterns.append(read_pattern(f"{family}_{number}", member.read()))
        args = ["--graph", "start.graph", "--updates", "stream", "--format", "tve", "--batch", 300]
        told = self.check_replay(args, records, patterns, graph, checkpoints=2)
        self.assertGreater(sum(q["new"] for q in told["queries"]), 0)
        self.assertGreater(sum(q["removed"] for q in told["queries"]), 0)

    def test_hprd(self):
        self.check("hprd", ("dense_4", "dense_8", "sparse_8", "sparse_16"))

    def test_yeast(self):
        self.check("yeast", ("dense_4", "dense_8"))


if __name__ == "__main__":
    main()
