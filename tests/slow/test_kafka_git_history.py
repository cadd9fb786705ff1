"""kafka-git-history: the history of a source tree, with real insertions and deletions. Edges are directed, and vertex labels
come from a separate table. The edge labels are 5 (directory contains entry) and 6 (author last modified file).
"""

import datasets
from reference import cycle, pattern
from streams import DELETE, INSERT, Graph, StreamTest, counts, main

TRUNK = "kafka-git-history/trunk_live_stream_with_deletes.tsv.xz"
ALL_REFS = "kafka-git-history/all_refs_insert_stream.tsv.xz"
VERTICES = "kafka-git-history/vertices.tsv.xz"
AUTHOR, COMMIT, FILE, DIRECTORY = "0", "1", "2", "3"
PATTERNS = [
    pattern("nested", (0, 1, "5"), (1, 2, "5"), (2, 3, "5"), labels=(DIRECTORY, DIRECTORY, DIRECTORY, FILE)),
    pattern("owned", (0, 1, "5"), (2, 1, "6"), labels=(DIRECTORY, FILE, AUTHOR)),
    pattern("corner", (0, 1, "5"), (0, 2, "5"), (1, 3, "5"), (2, 4, "5"), (5, 3, "6"), (5, 4, "6"),
            labels=(DIRECTORY, DIRECTORY, DIRECTORY, FILE, FILE, AUTHOR)),
    pattern("touched", (0, 1), (1, 2), (3, 2), labels=(DIRECTORY, DIRECTORY, None, AUTHOR)),
    cycle("impossible", 3, "5"),
]


def records():
    for sign, source, target, label, time in datasets.rows(TRUNK, "\t"):
        yield sign, int(source), int(target), label, int(time) * 1_000_000


def with_kinds(graph):
    graph.vertex_label = {int(vertex): kind for vertex, kind, *_ in datasets.rows(VERTICES, "\t")}
    return graph


class KafkaGitHistory(StreamTest):
    def args(self, stream):
        return ["--labels", datasets.path(VERTICES), "--labels-format", "tsv", "--labels-columns", "vertex,label,-",
                "--updates", datasets.path(stream)]

    def test_the_file_says_what_it_holds(self):
        signs = [sign for sign, *_ in datasets.rows(TRUNK, "\t")]
        self.assertEqual((signs.count(INSERT), signs.count(DELETE)), (90_570, 75_991))

    def test_trunk(self):
        told = self.check_replay(self.args(TRUNK), records(), PATTERNS, with_kinds(Graph()), checkpoints=8)
        by_name = {q["name"]: q for q in told["queries"]}
        self.assertEqual((by_name["impossible"]["new"], by_name["impossible"]["removed"]), (0, 0))
        self.assertTrue(all(q["removed"] > 0 for name, q in by_name.items() if name != "impossible"))

    def test_trunk_one_by_one(self):
        self.check_replay([*self.args(TRUNK), "--batch", 1], records(), PATTERNS[:2], with_kinds(Graph()), checkpoints=20)

    def test_trunk_from_the_middle(self):
        rows = list(records())
        graph = with_kinds(Graph())
        for sign, *edge in rows[:80_000]:
            (graph.insert if sign == INSERT else graph.delete)(*edge)
        start = counts(graph, PATTERNS)
        self.write("start.txt", "".join(f"{s} {t} {label} 0\n" for s, t, label in graph.edges()))
        self.write("rest.tsv", "".join(f"{sign}\t{s}\t{t}\t{label}\t{time // 1_000_000}\n" for sign, s, t, label, time in
                                       rows[80_000:]))
        args = self.args(TRUNK)[:-1] + ["rest.tsv", "--graph", "start.txt", "--graph-columns", "source,target,label,time"]
        self.check_replay(args, rows[80_000:], PATTERNS, graph, checkpoints=2)
        self.assertGreater(start["corner"], 0)

    def test_the_same_matches_however_it_is_cut(self):
        variants = [[], ["--batch", 100, "--threads", 2], ["--batch-span", "168h"]]
        self.check_digests(self.args(TRUNK), [p for p in PATTERNS if p.name != "corner"], variants)

    def test_all_refs_triangles(self):
        columns = ["--format", "tsv", "--columns", "source,target,-,time"]
        self.check_triangles([*columns, "--updates", datasets.path(ALL_REFS)], 123_656)


if __name__ == "__main__":
    main()
