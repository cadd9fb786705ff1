"""darpa1998: 4.55 M network connections between some 25,000 hosts, most of them repeats. Ids are strings, the edge label is the
attack's name, and times have the form %m/%d/%Y-%H:%M. Read from standard input.
"""

import datetime
import sys

import datasets
from reference import cycle, pattern
from streams import INSERT, UNREADABLE, Graph, StreamTest, main

ARCHIVE, MEMBER = "darpa1998/darpa_original.zip", "darpa_original.csv"
FORM = "%m/%d/%Y-%H:%M"
COLUMNS = "source,target,time,label"
PATTERNS = [
    cycle("ring3", 3),
    pattern("mutual", (0, 1), (1, 0)),
    pattern("probed", (0, 1, "neptune"), (1, 0, "-")),
    cycle("triangle", 3, directed=False),
]


def microseconds(text):
    """None for the ten times on the 32nd of July."""
    try:
        return int(datetime.datetime.strptime(text + "+0000", FORM + "%z").timestamp()) * 1_000_000
    except ValueError:
        return None


class Darpa1998(StreamTest):
    WARNED = ("label_absent",)  # a slice may lack a label of a pattern
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bytes = datasets.unzip(ARCHIVE, MEMBER)
        minutes = {}
        cls.rows = []
        for line in cls.bytes.decode().splitlines():
            source, target, when, label = map(sys.intern, line.split(","))
            if when not in minutes:
                minutes[when] = microseconds(when)
            time = minutes[when]
            cls.rows.append(UNREADABLE if time is None else (INSERT, source, target, label, time))

    def args(self, columns=COLUMNS):
        return ["--updates", "-", "--format", "csv", "--columns", columns, "--time-format", FORM]

    def test_attacks(self):
        args = [*self.args(), "--on-error", "skip", "--batch", 200_000]
        told = self.check_replay(args, self.rows, PATTERNS, Graph(), checkpoints=2, stdin=self.bytes)
        self.assertEqual(told["ignored"]["bad_time"], 10)

    def test_window(self):
        args = [*self.args(), "--on-error", "skip", "--window", "12h"]
        graph = Graph(window=12 * 3_600_000_000)
        self.check_replay(args, self.rows, PATTERNS, graph, checkpoints=10, stdin=self.bytes)

    def test_triangles(self):
        self.check_triangles(self.args("source,target,time,-"), 137, stdin=self.bytes)


if __name__ == "__main__":
    main()
