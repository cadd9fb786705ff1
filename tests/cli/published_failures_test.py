"""Cases that published systems of this field get wrong, each of them observed. Here each has the right answer or a clear refusal."""

import harness
from harness import TRIANGLE


class PublishedFailures(harness.CliTest):
    def test_duplicate_insert_is_not_counted_again(self):
        for batch in [1, 2, 100]:
            counts, result = self.replay("+\t1\t2\n+\t2\t3\n+\t3\t1\n+\t3\t1\n+\t1\t2\n", "--batch", batch)
            self.assertEqual(counts, {"triangle": (1, 0)})
            self.assertEqual(result["ignored"]["duplicate_insert"] + result["ignored"]["superseded"], 2)

    def test_deleting_a_missing_edge_does_not_end_the_run(self):
        counts, result = self.replay("-\t8\t9\n+\t1\t2\n-\t2\t1\n+\t2\t3\n+\t3\t1\n", "--batch", 1)
        self.assertEqual(counts, {"triangle": (1, 0)})
        self.assertEqual(result["ignored"]["absent_delete"], 2)

    def test_new_vertex_in_the_stream(self):
        self.write("g.graph", "t 2 1\nv 0 A\nv 1 A\ne 0 1\n")
        self.write("s.txt", "v 70 A\ne 1 70\ne 0 70\n")
        result = self.json("replay", "--graph", "g.graph", "--updates", "s.txt", "--query", "t=(a:A)--(b:A)--(c:A)--(a)")
        self.assertEqual(self.untimed(result["queries"]), [{"name": "t", "new": 1, "removed": 0}])

    def test_unknown_vertex_in_the_stream(self):
        self.write("g.graph", "t 2 1\nv 0 A\nv 1 A\ne 0 1\n")
        self.write("s.txt", "e 1 4000000000000\n-e 0 123456789\n")
        result = self.json("replay", "--graph", "g.graph", "--updates", "s.txt", "--query", "p=(a)--(b)--(c)")
        self.assertEqual(self.untimed(result["queries"]), [{"name": "p", "new": 1, "removed": 0}])
        self.assertEqual(result["ignored"]["absent_delete"], 1)

    def test_unknown_labels_match_nothing(self):
        counts, _ = self.replay("+\t1\t2\tPAYS\t5\n", query="q=(a:Ghost)-[:NEVER]->(b)")
        self.assertEqual(counts, {"q": (0, 0)})

    def test_disconnected_query_is_refused(self):
        self.write("s.tsv", "1\t2\n")
        self.fails(78, "replay", "--updates", "s.tsv", "--query", "q=(a)-->(b), (c)-->(d)", says="connected")
        self.write("q.graph", "t 4 2\nv 0 0\nv 1 0\nv 2 0\nv 3 0\ne 0 1\ne 2 3\n")
        self.fails(78, "replay", "--updates", "s.tsv", "--query", "q.graph", says=["q.graph", "connected"])

    def test_queries_of_1_and_33_vertices_are_refused(self):
        self.write("s.tsv", "1\t2\n")
        for query in ["q=(a)", "q=" + "-->".join(f"(v{i})" for i in range(33))]:
            self.fails(78, "replay", "--updates", "s.tsv", "--query", query, says="2 to 32 vertices")

    def test_garbage_line_is_neither_a_deletion_nor_the_end(self):
        stream = "e 1 2\ne 2 3\ne 1 3\nsome garbage -1 -2\ne 3 4\ne 4 1\n"
        self.write("g.graph", "t 5 0\nv 0 0\nv 1 0\nv 2 0\nv 3 0\nv 4 0\n")
        self.write("s.txt", stream)
        args = ["replay", "--graph", "g.graph", "--updates", "s.txt", "--query", "t=(a)--(b)--(c)--(a)"]
        self.fails(1, *args, says="s.txt:4: ", reports=True)
        result = self.json(*args, "--on-error", "skip")
        self.assertEqual(self.untimed(result["queries"]), [{"name": "t", "new": 2, "removed": 0}])
        self.assertEqual((result["graph"]["edges"], sum(result["ignored"].values())), (5, 1))

    def test_deleting_a_vertex_removes_its_matches(self):
        self.write("g.jsonl", '{"source":1,"target":2}\n{"source":2,"target":3}\n{"source":3,"target":1}\n')
        self.write("s.jsonl", '{"op":"-","vertex":2}\n')
        result = self.json("replay", "--graph", "g.jsonl", "--updates", "s.jsonl", "--query", TRIANGLE)
        self.assertEqual(self.untimed(result["queries"]), [{"name": "triangle", "new": 0, "removed": 1}])
        self.assertEqual(result["graph"]["edges"], 1)

    def test_time_out_is_no_success(self):
        self.write("g.txt", "".join(f"{i} {j}\n" for i in range(60) for j in range(i)))
        clique = "c=" + ",".join(f"(v{i})--(v{j})" for i in range(5) for j in range(i))
        outcome = self.run_program("match", "--graph", "g.txt", "--undirected", "--query", clique, "--timeout", "1us")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("at least", outcome.out)
        self.assertIn("stopped by --timeout", outcome.err)


if __name__ == "__main__":
    harness.main()
