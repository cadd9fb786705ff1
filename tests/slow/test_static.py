"""Static matching of real labelled graphs, compared with networkx's VF2, and of whole graphs, compared with published counts."""

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
MOST = 20_000  # embeddings; VF2 takes too long for more
SECONDS = 75   # for VF2 on each graph


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
        def clique(size, missing=()):
            return ",".join(f"(v{a})--(v{b})" for a in range(size) for b in range(a) if (a, b) not in missing)

        published = {
            "diamond": ("(a)--(b)--(c)--(d)--(a),(a)--(c)", 36_528_276),
            "square": ("(a)--(b)--(c)--(d)--(a)", 36_262_229),
            "house": ("(a)--(b)--(c)--(d)--(a),(a)--(e)--(b)", 5_677_082_981),
            "pentagon": ("(a)--(b)--(c)--(d)--(e)--(a)", 2_587_839_764),
            "clique5": (clique(5), 5_809_356),
            "near_clique5": (clique(5, [(1, 0)]), 101_383_042),
            "clique7": (clique(7), 16_985_090),
        }
        # Counted by this program; plans and trees of pivots agree.
        own = {"clique4": (clique(4), 2_341_639), "clique6": (clique(6), 11_213_163),
               "near_clique6": (clique(6, [(1, 0)]), 246_187_724)}
        expected = {name: count for name, (_, count) in (published | own).items()}
        queries = [f"--query={name}={text}" for name, (text, _) in (published | own).items()]
        for how in ("auto", "refine"):
            with self.subTest(how):
                told = self.program("match", "--graph", datasets.path("snap-static/email-enron.jlg"), *queries, "--filter", how, timeout=600)
                self.assertEqual({query["name"]: query["matches"] for query in told["queries"]}, expected)

    def test_motifs_are_the_induced_matches(self):
        graph = datasets.path("snap-static/ca-condmat-cc1.jlg")
        for k in (3, 4):
            motifs = self.program("motifs", "--graph", graph, "-k", k, "--on-error", "skip")["motifs"]
            queries = [f"--query=q{i}=" + ",".join(f"(v{u})--(v{v})" for u, v in motif["edges"]) for i, motif in enumerate(motifs)]
            told = self.program("match", "--graph", graph, "--on-error", "skip", "--induced", *queries, timeout=600)["queries"]
            self.assertEqual([query["matches"] for query in told], [motif["count"] for motif in motifs], k)

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
