"""Queries with paths, as a user runs them: every form of output, the commands that describe queries, and refusals."""

import csv
import io
import unittest

import binary_matches
import harness

PAYMENTS = """op,key,source,target,label,time,amount
+,p1,ann,bob,T,1,1500.00
+,p2,bob,cem,T,2,1400.00
+,p3,cem,ann,T,3,1300.00
+,p4,bob,ann,T,4,20.00
-,p4,bob,ann,T,5,
"""
RING = "ring=(a)-[t:T WHERE t.time > prev(t).time]->{2,3}(a)"


class Paths(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("p.csv", PAYMENTS)
        self.stream = ["replay", "--updates", "p.csv", "--edges", "keyed", "--columns", "edge=key", "--attributes", "amount:decimal(2)",
                       "--batch", 1]

    def listed(self, name, *args, query=RING):
        return self.json(*self.stream, "--query", query, "--emit", "matches", "--out", name, *args)

    def test_json_has_lists_in_place_of_a_path(self):
        result = self.listed("m.jsonl")
        self.assertEqual([(row["name"], row["new"], row["removed"]) for row in result["queries"]], [("ring", 2, 1)])
        lines = self.lines("m.jsonl")
        self.assertEqual([(line["sign"], line["bindings"], line["cause"]) for line in lines],
                         [("+", {"a": "ann", "t": ["bob", "cem"]}, [[0, 2]]), ("+", {"a": "ann", "t": ["bob"]}, [[0, 1]]),
                          ("-", {"a": "ann", "t": ["bob"]}, [[0, 1]])])
        self.assertEqual([edge["key"] for edge in lines[0]["edges"][0]], ["p1", "p2", "p3"])
        self.assertEqual(lines[1]["id"], lines[2]["id"])
        self.assertNotEqual(lines[0]["id"], lines[1]["id"])

    def test_other_edges_stay_as_they_are(self):
        self.listed("m.jsonl", query="q=(c)-[u:T]->(a)-[t:T]->{2}(c) WHERE u.time < first(t).time")
        line = self.lines("m.jsonl")[0]
        self.assertEqual(line["edges"][0]["key"], "p1")
        self.assertEqual([edge["key"] for edge in line["edges"][1]], ["p2", "p3"])

    def test_flat_csv_has_columns_for_each_step(self):
        self.listed("m.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("m.csv"))))
        self.assertEqual(list(rows[0])[5:], ["a", "t.count", "t[1].key", "t[1].time", "t[1].amount", "t[1].target", "t[2].key", "t[2].time",
                                             "t[2].amount", "t[2].target", "t[3].key", "t[3].time", "t[3].amount"])
        self.assertEqual([(row["t.count"], row["t[1].target"], row["t[2].key"], row["t[3].key"], row["t[3].amount"]) for row in rows],
                         [("3", "bob", "p2", "p3", "1300.00"), ("2", "bob", "p4", "", ""), ("2", "bob", "p4", "", "")])

    def test_binary_files_hold_what_json_holds(self):
        for query in (RING, "q=(c)-[u:T]->(a)-[t:T]->{1,2}(c)", "two=(a)-[t:T]->{1,2}(b)-[u:T]->{1,2}(a) WHERE id(a) <> 'cem'"):
            self.listed("m.jsonl", query=query)
            self.listed("m.dmm", query=query)
            matches, _ = binary_matches.read((self.dir / "m.dmm").read_bytes())
            self.assertEqual(matches, self.lines("m.jsonl"), query)

    def test_simple_edges_have_paths_too(self):
        self.write("s.csv", "source,target\n1,2\n2,3\n3,1\n")
        self.ok("match", "--graph", "s.csv", "--query", "q=(a)-->{3}(a)", "--emit", "matches", "--out", "m.jsonl")
        line = self.lines("m.jsonl")[0]
        self.assertEqual((line["v"], line["bindings"], line["edges"], line["cause"]),
                         (1, {"a": 1, "_1": [2, 3]}, [[[1, "", 2], [2, "", 3], [3, "", 1]]], []))

    def test_a_whole_graph_is_matched_induced_sampled_and_limited(self):
        self.write("s.csv", "source,target\n1,2\n2,3\n3,4\n1,3\n")
        matches = lambda *args: self.json("match", "--graph", "s.csv", "--query", "q=(a)-[t]->{1,3}(b) WHERE count(t) > 0", *args)["queries"][0]
        self.assertEqual(matches()["matches"], 4 + 3 + 1)
        self.assertEqual(matches("--induced")["matches"], 4 + 2)
        self.assertAlmostEqual(matches("--sample", 30000)["estimate"], 8, delta=0.5)
        limited = self.run_program("match", "--graph", "s.csv", "--query", "q=(a)-->{1,3}(b)", "--limit", 5, "--emit", "matches", "--out", "m.jsonl")
        self.assertEqual(len(self.lines("m.jsonl")), 6, limited)

    def test_explain_and_validate_tell_the_variants(self):
        query = ["--query", RING, "--edges", "keyed"]
        text = self.ok("explain", *query).out
        self.assertIn("  t of 2: 2 vertices, 2 edges\n  t of 3: 3 vertices, 3 edges\n", text)
        self.assertEqual(text.count("ring, variant"), 0)
        text = self.ok("explain", "--variants", *query).out
        self.assertIn("ring, variant 1 of 2:\n", text)
        self.assertIn("ring, variant 2 of 2:\n", text)
        text = self.ok("validate", *query).out
        self.assertTrue(text.startswith("edges: keyed\nring: 2 to 3 vertices, 2 to 3 edges: (a)-["), text)
        self.assertIn("\n  2 variants; the longest:\n", text)
        self.assertIn("ring: 3 vertices, 3 edges: (a)", self.ok("validate", "--query", "ring=(a)-->{3}(a)").out)

    def test_errors_name_place_and_remedy(self):
        for query, expected in (("q=(a)-->{1,9}(b)", "a path of more than 8 edges"), ("q=(a)-[:T*]->(b)", "a path without an upper bound"),
                                ("q=(a)-[t]->{2}(b) WHERE t.amount > 1", "'t' is a path, so it has no single value")):
            outcome = self.run_program("validate", "--edges", "keyed", "--query", query)
            self.assertEqual(outcome.code, 78, outcome)
            self.assertIn(expected, outcome.err)
        outcome = self.run_program("explain", "--variants", "--analyze", "--query", RING, "--updates", "p.csv")
        self.assertEqual(outcome.code, 2, outcome)


if __name__ == "__main__":
    unittest.main()
