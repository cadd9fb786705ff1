"""Triangle totals of whole graphs, matched once and streamed, compared with those in the data sets' README."""

import datasets
from streams import StreamTest, main

TRIANGLE = "triangle=(a)--(b)--(c)--(a)"
GRAPHS = {
    "snap-static/facebook-combined.jlg": (1_612_010, []),
    "snap-static/ca-condmat-cc1.jlg": (171_051, []),
    "snap-static/as-caida20071105.jlg": (36_365, []),
    "snap-static/astro-ph-cc1.jlg": (1_350_014, []),
    "snap-static/email-enron.jlg": (727_044, []),
    "snap-static/ego-twitter-undirected.jlg": (13_082_506, []),
    "musae-github/git_edges.csv.gz": (523_810, ["--columns", "source=id_1,target=id_2"]),
    "dblp-temporal-labelled/dblp.txt.gz": (210_176, ["--columns", "source,target,time"]),
    "web-uk-2007-05-100000/edges.txt.xz": (59_926_808, []),
}
LARGE = ("snap-static/ego-twitter-undirected.jlg", "web-uk-2007-05-100000/edges.txt.xz")


class Triangles(StreamTest):
    def test_whole_graphs(self):
        for name, (expected, args) in GRAPHS.items():
            with self.subTest(name):
                told = self.program("match", "--graph", datasets.path(name), "--undirected", "--on-error", "skip", *args, "--query",
                                    TRIANGLE)
                self.assertEqual(told["queries"][0]["matches"], expected)

    def test_streams(self):
        for name, (expected, args) in GRAPHS.items():
            if name not in LARGE:
                with self.subTest(name):
                    self.check_triangles([*args, "--updates", datasets.path(name)], expected)


if __name__ == "__main__":
    main()
