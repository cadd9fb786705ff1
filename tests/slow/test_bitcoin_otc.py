"""bitcoin-otc: directed ratings between people, with the rating as edge label, and times with fractions of a second."""

import datasets
from reference import cycle, pattern
from streams import INSERT, Graph, StreamTest, main, microseconds

FILE = "bitcoin-otc/soc-sign-bitcoinotc.csv.gz"
TRUSTED = ("10", "9", "8", "7")
PATTERNS = [
    cycle("ring3", 3),
    cycle("trusted4", 4, *TRUSTED),
    pattern("mutual", (0, 1), (1, 0)),
    pattern("shared", (0, 1), (0, 2), (1, 2)),
    pattern("disputed", (0, 1, "10"), (0, 2, "10"), (1, 2, "-10")),
    pattern("contrary", (0, 1, *TRUSTED), (1, 0, "-10", "-9", "-8")),
    pattern("undirected", (0, 1), (1, 2), (2, 0), directed=False),
]


def records():
    for source, target, rating, time in datasets.rows(FILE, ",", skip=1):
        yield INSERT, int(source), int(target), rating, microseconds(time)


class BitcoinOtc(StreamTest):
    WARNED = ("label_absent",)  # a slice may lack a label of a pattern
    args = ["--columns", "source=from,target=to,label=feature,time=time", "--updates"]

    def test_ratings(self):
        self.check_replay([*self.args, datasets.path(FILE), "--batch", 5000], records(), PATTERNS, Graph())

    def test_window(self):
        graph = Graph(window=90 * 86_400_000_000)
        self.check_replay([*self.args, datasets.path(FILE), "--window", "90d"], records(), PATTERNS, graph, checkpoints=6)

    def test_the_same_matches_however_it_is_cut(self):
        variants = [["--batch", 100_000], ["--batch", 1], ["--batch", 997, "--threads", 2], ["--batch-span", "24h"]]
        self.check_digests([*self.args, datasets.path(FILE)], PATTERNS, variants)

    def test_triangles(self):
        self.check_triangles(["--columns", "source=from,target=to,time=time", "--updates", datasets.path(FILE)], 33_493)


if __name__ == "__main__":
    main()
