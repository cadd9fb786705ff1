"""sx-mathoverflow: answers and comments with three edge labels, and therefore parallel edges. 629 records are out of order, and
116,109 are self-loops.
"""

import heapq

import datasets
from reference import cycle, pattern
from streams import INSERT, Graph, StreamTest, main

KINDS = ("a2q", "c2q", "c2a")
PATTERNS = [
    pattern("thanked", (0, 1, "a2q"), (1, 0, "c2a")),
    pattern("both", (0, 1, "a2q"), (0, 1, "c2q")),
    pattern("experts", (0, 2, "a2q"), (1, 2, "a2q"), (0, 1, "c2a")),
    cycle("answers3", 3, "a2q"),
    cycle("any3", 3),
    pattern("mixed", (0, 1, "a2q", "c2a"), (1, 2, "c2q"), (0, 2)),
]


def file(kind):
    return f"sx-mathoverflow/sx-mathoverflow-{kind}.txt.gz"


def read(kind):
    for source, target, time in datasets.rows(file(kind)):
        yield int(time), source, target, kind


def merged():
    """The three files merged by time, each in its own order."""
    return heapq.merge(*map(read, KINDS), key=lambda row: row[0])


def records():
    for time, source, target, kind in merged():
        yield INSERT, int(source), int(target), kind, time * 1_000_000


class MathOverflow(StreamTest):
    def stream(self):
        return self.write("stream.txt", "".join(f"{source} {target} {kind} {time}\n" for time, source, target, kind in merged()))

    def test_three_edge_labels(self):
        args = ["--updates", self.stream()]
        told = self.check_replay(args, records(), PATTERNS, Graph(), checkpoints=2)
        self.assertEqual(told["ignored"]["self_loop"], 116_109)

    def test_window(self):
        args = ["--updates", self.stream(), "--window", "30d"]
        told = self.check_replay(args, records(), PATTERNS, Graph(window=30 * 86_400_000_000), checkpoints=10)
        self.assertEqual(told["ignored"]["self_loop"], 116_109)

    def test_triangles_over_three_files(self):
        args = [argument for kind in KINDS for argument in ("--updates", datasets.path(file(kind)))]
        self.check_triangles(args, 1_403_919)


if __name__ == "__main__":
    main()
