"""A long ring beside chains, which have exponentially many ways through them and none back. Each run below ends at once if dead ends
are recognised beforehand. Otherwise it practically never ends. So no time is measured."""

import itertools
import json
import pathlib

import harness

FILTERS = ["auto", "none", "label", "degree", "refine"]


def ring(length):
    return "ring=" + "-->".join(f"(v{i})" for i in range(length)) + "-->(v0)"


def ring_beside_diamonds(length, diamonds):
    """Returns the edges of a ring. Each of its vertices leads to a chain of diamonds with 2^diamonds ways through it."""
    edges = [(f"r{v}", f"r{(v + 1) % length}") for v in range(length)] + [(f"r{v}", "d0") for v in range(length)]
    for d in range(diamonds):
        for middle in (f"a{d}", f"b{d}"):
            edges += [(f"d{d}", middle), (middle, f"d{d + 1}")]
    return edges


class LongRing(harness.CliTest):
    LENGTH = 32

    def setUp(self):
        super().setUp()
        edges = ring_beside_diamonds(self.LENGTH, 60)
        self.write("graph.csv", "source,target\n" + "".join(f"{a},{b}\n" for a, b in edges))
        self.query = ["--query", ring(self.LENGTH)]
        self.ring = self.LENGTH

    def counted(self, *args):
        return self.json("match", "--graph", "graph.csv", *self.query, *args)["queries"][0]

    def replayed(self, *args):
        query = self.json("replay", *self.query, *args)["queries"][0]
        return query["new"], query["removed"]

    def test_match_counts_and_lists_it_under_every_filter(self):
        digests = set()
        for how, threads in itertools.product(FILTERS, ["1", "3"]):
            self.assertEqual(self.counted("--filter", how, "--threads", threads)["matches"], 1, how)
            listed = self.counted("--filter", how, "--threads", threads, "--emit", "digest")
            self.assertEqual(listed["matches"], 1, how)
            digests.add(listed["digest"])
        self.assertEqual(len(digests), 1)

    def test_match_lists_its_vertices_and_stops_at_a_limit(self):
        for limit in ([], ["--limit", "1"]):
            outcome = self.run_program("match", "--graph", "graph.csv", *self.query, "--emit", "matches", "--out", "matches.jsonl", *limit)
            self.assertEqual(outcome.code, 0, outcome)
            (line,) = (self.dir / "matches.jsonl").read_text().splitlines()
            self.assertEqual(len(set(json.loads(line)["bindings"].values())), self.ring)

    def test_replay_finds_it_in_one_batch_and_in_many(self):
        for batch, emit in itertools.product(["1", "40", "100000"], ["none", "digest"]):
            self.assertEqual(self.replayed("--updates", "graph.csv", "--batch", batch, "--emit", emit), (1, 0))
        outcome = self.run_program("replay", *self.query, "--updates", "graph.csv", "--emit", "matches", "--out", "matches.jsonl")
        self.assertEqual(outcome.code, 0, outcome)
        (line,) = (self.dir / "matches.jsonl").read_text().splitlines()
        self.assertEqual(len(set(json.loads(line)["bindings"].values())), self.ring)

    def test_replay_tells_when_it_vanishes_and_comes_back(self):
        edges = (self.dir / "graph.csv").read_text().splitlines()[1:]
        all_edges = [*("-," + edge for edge in edges), *("+," + edge for edge in edges)]
        self.write("changes.csv", "op,source,target\n" + "\n".join(all_edges) + "\n")
        for emit in ("none", "digest"):
            self.assertEqual(self.replayed("--graph", "graph.csv", "--updates", "changes.csv", "--batch", str(len(edges)), "--emit", emit), (1, 1))

    def test_replay_tells_when_it_leaves_the_window(self):
        edges = (self.dir / "graph.csv").read_text().splitlines()[1:]
        rows = [f"{edge},{1_700_000_000 + i}" for i, edge in enumerate(edges)] + ["x,y,1700072000"]
        self.write("timed.csv", "source,target,time\n" + "\n".join(rows) + "\n")
        for batch in ("50", "100000"):
            new, removed = self.replayed("--updates", "timed.csv", "--window", "12h", "--batch", batch)
            self.assertEqual(new, removed)
            self.assertEqual(self.replayed("--updates", "timed.csv", "--window", "5000d", "--batch", batch), (1, 0))
        self.assertEqual(self.replayed("--updates", "timed.csv", "--window", "12h", "--batch", "50"), (1, 1))


class LongRing27(LongRing):
    """The same for a ring of 27 beside 49 other vertices. It once took 9 s in match, and half as long in replay."""

    LENGTH = 27

    def setUp(self):
        super().setUp()
        self.write("graph.csv", (pathlib.Path(__file__).parent / "long-ring-27.csv").read_bytes())

    def test_it_takes_a_fraction_of_what_it_took(self):
        for args in (["match", "--graph"], ["match", "--emit", "digest", "--graph"], ["replay", "--updates"],
                     ["replay", "--emit", "digest", "--updates"]):
            told = self.json(*args, "graph.csv", *self.query)
            self.assertLess(told["seconds"]["match"], 1, args)  # 0.02 s on a machine that is not busy


class LongPath(harness.CliTest):
    def test_a_path_that_is_nowhere_is_soon_told(self):
        edges = ring_beside_diamonds(2, 13)[4:]  # the longest path has 27 vertices
        self.write("graph.csv", "source,target\n" + "".join(f"{a},{b}\n" for a, b in edges))
        for length, ways in ((28, 0), (27, 2**13)):
            query = "path=" + "-->".join(f"(v{i})" for i in range(length))
            for how in FILTERS:
                told = self.json("match", "--graph", "graph.csv", "--query", query, "--filter", how)
                self.assertEqual(told["queries"][0]["matches"], ways, how)
            self.assertEqual(self.json("replay", "--updates", "graph.csv", "--query", query)["queries"][0]["new"], ways)


if __name__ == "__main__":
    harness.main()
