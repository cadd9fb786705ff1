"""Static matching of real labelled graphs against networkx's VF2, and of whole graphs against published counts."""

import lzma
import random
import tarfile
import time
import unittest

import datasets
from streams import StreamTest, main

try:
    import networkx
    from networkx.algorithms.isomorphism import GraphMatcher
except ImportError:
    networkx = None

FAMILIES = {"yeast": ("dense_4", "dense_8", "sparse_8"), "hprd": ("dense_4", "dense_8", "sparse_8")}
PER_FAMILY = 4
MOST = 20_000  # embeddings: beyond, VF2 takes too long
SECONDS = 75   # of VF2, on each graph


def read(text):
    graph = networkx.Graph()
    for line in text.splitlines():
        fields = line.split()
        if fields[0] == "v":
            graph.add_node(int(fields[1]), label=fields[2])
        elif fields[0] == "e":
            graph.add_edge(int(fields[1]), int(fields[2]))
    return graph


class Static(StreamTest):
    def check(self, name):
        if networkx is None:
            raise unittest.SkipTest("networkx is missing: install python3-networkx (scripts/setup --dev does)")
        with lzma.open(datasets.path(f"labelled-tve/{name}.graph.xz"), "rt") as file:
            text = file.read()
        self.write("g.graph", text)
        data = read(text)
        checked = found = 0
        start = time.monotonic()
        with tarfile.open(datasets.path(f"labelled-tve/{name}.query_graph.tar.xz")) as archive:
            for family in FAMILIES[name]:
                for number in random.Random(family).sample(range(1, 101), PER_FAMILY):
                    query = archive.extractfile(f"{name}/query_graph/query_{family}_{number}.graph").read().decode()
                    self.write("q.graph", query)
                    pattern = read(query)
                    for induced in (False, True):
                        if time.monotonic() - start > SECONDS:
                            continue
                        told = self.program("match", "--graph", "g.graph", "--query", "q.graph", "--count", "embeddings",
                                            *(["--induced"] if induced else []))["queries"][0]["matches"]
                        if told > MOST:
                            continue
                        matcher = GraphMatcher(data, pattern, node_match=lambda one, other: one["label"] == other["label"])
                        walk = matcher.subgraph_isomorphisms_iter if induced else matcher.subgraph_monomorphisms_iter
                        self.assertEqual(told, sum(1 for _ in walk()), (name, family, number, induced))
                        checked += 1
                        found += told
        self.assertGreater(checked, 4, name)
        self.assertGreater(found, 0, name)

    def test_yeast(self):
        self.check("yeast")

    def test_hprd(self):
        self.check("hprd")

    def test_published_counts(self):
        clique = ",".join(f"(v{a})--(v{b})" for a in range(5) for b in range(a))
        expected = {"diamond": 36_528_276, "square": 36_262_229, "clique5": 5_809_356}
        told = self.program("match", "--graph", datasets.path("snap-static/email-enron.jlg"), "--query",
                            "diamond=(a)--(b)--(c)--(d)--(a),(a)--(c)", "--query", "square=(a)--(b)--(c)--(d)--(a)", "--query",
                            "clique5=" + clique)
        self.assertEqual({query["name"]: query["matches"] for query in told["queries"]}, expected)

    def test_induced_counts_sum_up(self):
        """Squares are those without a diagonal, those with one, and three for each clique of four."""
        graph = datasets.path("snap-static/facebook-combined.jlg")
        square, diamond = "(a)--(b)--(c)--(d)--(a)", "(a)--(b)--(c)--(d)--(a),(a)--(c)"
        queries = ["--query", f"square={square}", "--query", f"diamond={diamond}", "--query", f"clique={diamond},(b)--(d)"]
        whole = [query["matches"] for query in self.program("match", "--graph", graph, *queries)["queries"]]
        induced = [query["matches"] for query in self.program("match", "--graph", graph, *queries, "--induced", timeout=300)["queries"]]
        self.assertEqual(whole[2], induced[2])
        self.assertEqual(whole[1], induced[1] + 6 * induced[2])
        self.assertEqual(whole[0], induced[0] + induced[1] + 3 * induced[2])


if __name__ == "__main__":
    main()
