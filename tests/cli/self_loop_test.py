"""Edges from a vertex to itself: left out, or kept on request."""

import harness

STREAM = "0 0\n0 1\n1 0\n1 2\n2 0\n0 1\n"
LOOP = "l=(a)-->(a)"
EVENTS = ("op,source,target,label,time,amount\n+,a,a,T,1,10\n+,a,b,T,2,20\n+,a,a,T,3,30\n+,b,b,U,4,5\n-,a,a,T,5,\n")


class SelfLoops(harness.CliTest):
    def matches(self, pattern, *args):
        return self.json("match", "--query", "q=" + pattern, *args)["queries"][0]["matches"]

    def test_they_are_left_out_and_counted_unless_they_are_kept(self):
        self.write("g.txt", STREAM)
        for direction, triangles in (("--undirected", 1), ("--directed", 2)):
            args = ["match", "--graph", "g.txt", direction, "--query", "t=(a)--(b)--(c)--(a)"]
            left = self.json(*args)
            kept = self.json(*args, "--self-loops", "keep")
            self.assertEqual([told["queries"][0]["matches"] for told in (left, kept)], [triangles, triangles], direction)
            self.assertEqual([told["ignored"]["self_loop"] for told in (left, kept)], [1, 0])
            self.assertEqual(kept["graph"]["edges"], left["graph"]["edges"] + 1)

    def test_a_pattern_with_a_self_loop_needs_a_graph_that_keeps_them(self):
        self.write("g.txt", STREAM)
        says = ["query l: the edge at 'a' is a self-loop, but the graph leaves self-loops out; keep them: --self-loops keep"]
        self.fails(78, "match", "--graph", "g.txt", "--query", LOOP, says=says)
        self.fails(78, "replay", "--updates", "g.txt", "--query", LOOP, says=says)
        self.fails(78, "match", "--graph", "g.txt", "--self-loops", "keep", "--induced", "--query", "e=(a)-->(b)",
                   says="induced matches of a graph that keeps self-loops")
        self.fails(78, "validate", "--query", LOOP, says=says)
        self.ok("validate", "--query", LOOP, "--self-loops", "keep")

    def test_patterns_with_self_loops(self):
        self.write("g.txt", STREAM)
        keep = ["--graph", "g.txt", "--self-loops", "keep"]
        for pattern, count in (("(a)-->(a)", 1), ("(a)--(a)", 1), ("(a)-->(a)-->(b)", 1), ("(a)-->(b)-->(b)", 2), ("(a)-->(a), (a)-->(b), (b)-->(b)", 0)):
            self.assertEqual(self.matches(pattern, *keep), count, pattern)
        self.assertEqual(self.matches("(a)--(a)", *keep, "--undirected"), 1)
        # In the other modes two query vertices may be one.
        for mode, count in (("isomorphism", 4), ("edge-distinct", 5), ("homomorphism", 5)):
            self.assertEqual(self.matches("(a)-->(b)", *keep, "--mode", mode), count, mode)

    def test_they_come_and_go_in_a_stream(self):
        self.write("s.csv", EVENTS)
        args = ["replay", "--updates", "s.csv", "--self-loops", "keep", "--edges", "events", "--attributes", "amount:int",
                "--query", "l=(a)-[t:T]->(a) WHERE t.amount >= 10", "--query", "p=(a)-[:T]->(a)-[:T]->(b)-[:U]->(b)"]
        for batch, expected in ((1, [(2, 1), (2, 1)]), (2, [(2, 1), (2, 1)]), (5, [(1, 0), (1, 0)])):
            told = self.json(*args, "--batch", batch)
            self.assertEqual([(q["new"], q["removed"]) for q in told["queries"]], expected, batch)
        self.ok(*args, "--batch", 1, "--emit", "matches", "--out", "o.jsonl")
        first = self.lines("o.jsonl")[0]
        self.assertEqual(first["bindings"], {"a": "a"})
        self.assertEqual([(edge["source"], edge["target"]) for edge in first["edges"]], [("a", "a")])

    def test_they_expire(self):
        self.write("s.csv", "source,target,time\na,a,1700000000\nb,c,1700090000\n")
        told = self.json("replay", "--updates", "s.csv", "--self-loops", "keep", "--window", "24h", "--query", LOOP)
        self.assertEqual((told["queries"][0]["new"], told["queries"][0]["removed"], told["graph"]["edges"]), (1, 1, 1))

    def test_snapshots_keep_them_and_say_so(self):
        self.write("g.txt", STREAM)
        for loops, edges in ((["--self-loops", "keep"], 5), ([], 4)):
            self.ok("replay", "--updates", "g.txt", *loops, "--query", "e=(a)-->(b)", "--save-snapshot", "s.dms")
            told = self.json("match", "--snapshot", "s.dms", "--query", "e=(a)-->(b)")
            self.assertEqual((told["graph"]["edges"], told["queries"][0]["matches"]), (edges, 4))
        self.fails(2, "match", "--snapshot", "s.dms", "--self-loops", "keep", "--query", LOOP,
                   says="the snapshot s.dms was made of a graph that leaves out self-loops; leave --self-loops out")
        self.ok("replay", "--updates", "g.txt", "--self-loops", "keep", "--query", LOOP, "--save-snapshot", "s.dms")
        self.assertEqual(self.matches("(a)-->(a)", "--snapshot", "s.dms"), 1)
        self.assertIn("loops   kept", self.ok("snapshot", "info", "s.dms").out)
        self.assertEqual(self.json("snapshot", "info", "s.dms")["self_loops"], "keep")

    def test_graph_files_leave_them_out(self):
        self.write("g.txt", STREAM)
        self.assertIn("1 self-loops left out", self.ok("convert", "g.txt", "g.dmg", "--to", "graph").out)
        self.assertEqual(self.matches("(a)-->(a)", "--graph", "g.dmg", "--self-loops", "keep"), 0)
        self.ok("convert", "g.txt", "g.dmu", "--to", "binary")
        self.assertEqual(self.matches("(a)-->(a)", "--graph", "g.dmu", "--self-loops", "keep"), 1)


if __name__ == "__main__":
    harness.main()
