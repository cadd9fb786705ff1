"""email-eu-core-temporal: 332,334 messages between 986 people, with relative times and many repeats. A window refreshes and
expires edges.
"""

import datasets
from reference import cycle, pattern
from streams import INSERT, Graph, StreamTest, main

FILE = "email-eu-core-temporal/email-Eu-core-temporal.txt.gz"
DAY = 86_400_000_000
PATTERNS = [
    cycle("ring3", 3),
    pattern("mutual", (0, 1), (1, 0)),
    pattern("forwarded", (0, 1), (1, 2), (0, 2)),
    pattern("asked", (0, 1), (0, 2), (1, 3), (2, 3)),
]


def records():
    for source, target, time in datasets.rows(FILE):
        yield INSERT, int(source), int(target), "", int(time) * 1_000_000


class EmailEuCore(StreamTest):
    WARNED = ("late",)  # times restart twice in the file, so half of the messages are below the window

    def test_window_of_a_week(self):
        args = ["--updates", datasets.path(FILE), "--window", "7d"]
        told = self.check_replay(args, records(), PATTERNS, Graph(window=7 * DAY), checkpoints=12)
        self.assertGreater(min(q["removed"] for q in told["queries"]), 0)

    def test_window_of_a_day_in_small_batches(self):
        args = ["--updates", datasets.path(FILE), "--window", "1d", "--batch", 64, "--threads", 2]
        self.check_replay(args, records(), PATTERNS, Graph(window=DAY), checkpoints=50)

    def test_without_a_window(self):
        self.check_replay(["--updates", datasets.path(FILE)], records(), PATTERNS[:3], Graph(), checkpoints=3)

    def test_the_same_matches_however_it_is_cut(self):
        args = ["--updates", datasets.path(FILE), "--window", "3d"]
        self.check_digests(args, PATTERNS, [[], ["--batch", 100, "--threads", 2], ["--batch-span", "1h"]])

    def test_triangles(self):
        self.check_triangles(["--updates", datasets.path(FILE)], 105_461)


if __name__ == "__main__":
    main()
