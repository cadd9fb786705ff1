"""Motifs and cliques of real graphs. They are compared with the triangles in the data sets' README, with published counts of
email-enron, and between methods.
"""

import itertools
import math

import datasets
from streams import StreamTest, main
from test_triangles import GRAPHS

ENRON = "snap-static/email-enron.jlg"
# Edge-induced and without automorphisms, as other systems count them.
PUBLISHED = {
    ("diamond", 4, "01 02 03 12 13"): 36_528_276,
    ("4-cycle", 4, "01 12 23 03"): 36_262_229,
    ("house", 5, "01 12 23 03 04 14"): 5_677_082_981,
    ("pentagon", 5, "01 12 23 34 04"): 2_587_839_764,
    ("5-clique", 5, "01 02 03 04 12 13 14 23 24 34"): 5_809_356,
    ("5-clique less an edge", 5, "01 02 03 04 12 13 14 23 24"): 101_383_042,
}


def embeddings(part, whole, k):
    """The ways to map the edges of `part` into those of `whole`. Both have the vertices 0 to k - 1."""
    return sum(all(frozenset((p[u], p[v])) in whole for u, v in part) for p in itertools.permutations(range(k)))


class Mine(StreamTest):
    def motifs(self, name, k, *args):
        return self.program("motifs", "--graph", datasets.path(name), "-k", k, "--on-error", "skip", *args)["motifs"]

    def test_triangles(self):
        for name, (expected, args) in GRAPHS.items():
            with self.subTest(name):
                self.assertEqual(self.motifs(name, 3, *args)[1]["count"], expected)

    def test_published_counts(self):
        motifs = {k: self.motifs(ENRON, k) for k in (4, 5)}
        for (name, k, text), expected in PUBLISHED.items():
            with self.subTest(name):
                part = [(int(a), int(b)) for a, b in text.split()]
                symmetries = embeddings(part, {frozenset(e) for e in part}, k)
                found = sum(m["count"] * embeddings(part, {frozenset(e) for e in m["edges"]}, k) // symmetries for m in motifs[k])
                self.assertEqual(found, expected)

    def test_published_cliques(self):
        told = self.program("cliques", "--graph", datasets.path(ENRON))["cliques"]
        counts = {row["k"]: row["count"] for row in told}
        self.assertEqual([counts[k] for k in range(2, 8)], [183_831, 727_044, 2_341_639, 5_809_356, 11_213_163, 16_985_090])

    def test_methods_agree(self):
        for name, k in (("snap-static/ca-condmat-cc1.jlg", 4), ("collegemsg/CollegeMsg.txt.gz", 5)):
            found = datasets.ROOT / name
            if not found.exists():
                continue
            with self.subTest(name):
                formulas = self.motifs(name, k)
                for method in ("pairs", "extend")[: 2 if k == 4 else 1]:
                    self.assertEqual(self.motifs(name, k, "--method", method), formulas)

    def test_quasi_cliques_are_dense_motifs(self):
        name = "snap-static/ca-condmat-cc1.jlg"
        told = self.program("quasi-cliques", "--graph", datasets.path(name), "--on-error", "skip", "-k", 5, "--density", "0.7")
        dense = sum(m["count"] for m in self.motifs(name, 5) if len(m["edges"]) >= math.ceil(0.7 * 10))
        self.assertEqual(told["total"], dense)


if __name__ == "__main__":
    main()
