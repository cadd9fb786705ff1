"""match: matches a whole graph once. Partial answers say so."""

import json
import math
import re

import harness
from harness import IGNORED, TRIANGLE

WEDGE = "wedge=(a)-->(b)-->(c)"


class Match(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("g.txt", "1 2\n2 3\n3 1\n3 4\n")
        # Cliques of 5 in a complete graph of 60 vertices. Any machine needs more than a microsecond for them.
        self.write("big.txt", "".join(f"{i} {j}\n" for i in range(60) for j in range(i)))
        self.clique = "c=" + ",".join(f"(v{i})--(v{j})" for i in range(5) for j in range(i))

    def test_json_has_exactly_these_keys_in_this_order(self):
        result = self.json("match", "--graph", "g.txt", "--query", TRIANGLE, "--query", WEDGE, "--filter", "none")
        self.assertEqual(list(result), ["v", "version", "mode", "counting", "threads", "graph", "batches", "updates", "ignored", "warnings", "queries", "seconds"])
        self.assertEqual(list(result["ignored"]), IGNORED)
        self.assertEqual(list(result["seconds"]), ["load", "apply", "estimate", "cache", "match", "settle", "anticipate", "other", "total", "cpu"])
        self.assertEqual([list(query) for query in result["queries"]], [["name", "matches", "seconds"]] * 2)
        self.assertEqual(self.untimed(result["queries"]), [{"name": "triangle", "matches": 1}, {"name": "wedge", "matches": 4}])
        self.assertAlmostEqual(sum(query["seconds"] for query in result["queries"]), result["seconds"]["match"], delta=2e-6)
        self.assertEqual((result["batches"], result["updates"]), (0, 0))

    def test_counts_come_in_full_digits(self):
        self.write("hub.txt", "".join(f"0 {i}\n" for i in range(1, 41)))

        def star(leaves):
            return "star=" + ",".join(f"(hub)-->(v{i})" for i in range(leaves))

        args = ["match", "--graph", "hub.txt", "--json", "--query"]
        # Compared as text, up to the end of the digits. A slow machine adds a line about its filter.
        self.assertRegex(self.ok(*args, star(31)).out, f'"matches":{math.comb(40, 31)}[,}}]')
        many = math.perm(40, 20)
        self.assertTrue(2**64 < many < 2**128)
        self.assertRegex(self.ok(*args, star(20), "--count", "embeddings").out, f'"matches":{many}[,}}]')
        self.assertGreater(math.perm(40, 31), 2**128)
        # A count that is too large is named. The other queries are still reported.
        outcome = self.run_program("match", "--graph", "hub.txt", "--query", "edge=(a)-->(b)", "--query", star(31), "--query", "v" + star(2),
                                   "--count", "embeddings", "--json")
        self.assertEqual(outcome.code, 1, outcome)
        queries = json.loads(outcome.out)["queries"]
        self.assertEqual([query.get("matches") for query in queries], [40, None, 40 * 39])
        self.assertEqual(self.untimed(queries)[1], {"name": "star", "complete": False, "error": "a count exceeds 2^128-1"})
        self.assertEqual(outcome.err, "deltamatch: query star: a count exceeds 2^128-1; estimate it with --sample, "
                                      "or list some matches with --limit\n")
        self.assertRegex(self.run_program("match", "--graph", "hub.txt", "--query", star(31), "--count", "embeddings").out,
                         r"(?m)^star +unknown: a count exceeds 2\^128-1 ")

    def test_table(self):
        out = self.ok("match", "--graph", "g.txt", "--query", TRIANGLE).out
        self.assertRegex(out, r"(?m)^graph    4 vertices, 4 edges, ")
        self.assertRegex(out, r"(?m)^query     matches +time\ntriangle        1 +\d+\.\d m?s$")

    def test_edge_labels_that_a_query_reads(self):
        self.write("l.jsonl", "".join(json.dumps({"source": s, "target": t, "label": label}) + "\n"
                                      for s, t, label in [(1, 2, "pays"), (1, 3, "pays"), (2, 3, "owns"), (3, 1, "knows")]))

        def labels(pattern, *more):
            query = self.json("match", "--graph", "l.jsonl", "--query", "q=" + pattern, *more)["queries"][0]
            return query.get("edge_labels")

        # Eight bytes for a list at a vertex and four for an entry, summed over both ends.
        pays = {"label": "pays", "edges": 2, "bytes": 8 * 3 + 4 * 4}
        owns = {"label": "owns", "edges": 1, "bytes": 8 * 2 + 4 * 2}
        knows = {"label": "knows", "edges": 1, "bytes": 8 * 2 + 4 * 2}
        self.assertEqual(labels("(a)-[:pays]->(b)"), [pays])
        self.assertEqual(labels("(a)-[:pays|owns]->(b)-[:owns]->(c)"), [owns, pays])
        self.assertEqual(labels("(a)-->(b)"), [knows, owns, pays])
        self.assertEqual(labels("(a)-[:pays]->(b)", "--induced"), [knows, owns, pays])
        clique = ",".join(f"(v{i})--(v{j})" for i in range(4) for j in range(i))
        self.assertEqual(labels(clique), [knows, owns, pays])
        self.assertIsNone(labels("(a)-[:steals]->(b)"))
        out = self.ok("match", "--graph", "l.jsonl", "--query", "q=(a)-[:pays|owns]->(b)").out
        self.assertIn("\nlabels   q: 2 edge labels, 3 edges in 64 B; most take those of `pays`, 40 B\n", out)
        out = self.ok("match", "--graph", "l.jsonl", "--query", "q=(a)-[:owns]->(b)").out
        self.assertIn("\nlabels   q: 1 edge label, 1 edge in 24 B\n", out)

    def test_match_agrees_with_a_replay_from_nothing(self):
        for args in [[], ["--mode", "homomorphism"], ["--count", "embeddings"], ["--mode", "edge-distinct"]]:
            static = self.json("match", "--graph", "g.txt", "--query", TRIANGLE, "--query", WEDGE, *args)
            replay = self.json("replay", "--updates", "g.txt", "--query", TRIANGLE, "--query", WEDGE, "--batch", 2, *args)
            self.assertEqual([q["matches"] for q in static["queries"]],
                             [q["new"] - q["removed"] for q in replay["queries"]], args)

    def test_duplicates_and_bad_lines_of_the_graph_are_counted(self):
        self.write("d.txt", "1 2\n1 2\n2 2\nx y\n")
        result = self.json("match", "--graph", "d.txt", "--query", TRIANGLE, "--on-error", "skip")
        self.assertEqual({k: v for k, v in result["ignored"].items() if v},
                         {"superseded": 1, "self_loop": 1, "bad_id": 1})

    def test_matches_to_a_file_and_to_standard_output(self):
        args = ["match", "--graph", "g.txt", "--query", TRIANGLE, "--emit", "matches"]
        self.ok(*args, "--out", "m.jsonl")
        row = self.lines("m.jsonl")[0]
        self.assertEqual((row["batch"], row["time"], row["sign"], row["cause"]), (0, None, "+", []))
        self.assertEqual(self.run_program(*args).out, self.read("m.jsonl"))

    def test_limit_marks_a_partial_answer(self):
        args = ["match", "--graph", "g.txt", "--query", WEDGE, "--query", TRIANGLE, "--limit", 2]
        partial = self.run_program(*args, "--json")
        self.assertEqual(partial.code, 1, partial)
        self.assertRegex(partial.out, r'\{"name":"wedge","matches":2,"complete":false,"partial":"limit","seconds":\d+\.\d{6}[,}]')
        self.assertRegex(partial.out, r'\{"name":"triangle","matches":1,"seconds":\d+\.\d{6}[,}]')
        self.assertIn("deltamatch: query wedge: stopped by --limit after 2 matches, so the answer is partial", partial.err)
        self.assertRegex(self.run_program(*args).out, r"(?m)^wedge +at least 2 ")
        listed = self.run_program(*args, "--emit", "matches", "--out", "m.jsonl")
        self.assertEqual(listed.code, 1)
        rows = self.lines("m.jsonl")
        self.assertEqual(sorted(row["query"] for row in rows if "id" in row), ["triangle", "wedge", "wedge"])
        self.assertEqual([row for row in rows if "id" not in row], [{"v": 1, "query": "wedge", "partial": "limit", "matches": 2}])

    def test_what_a_filter_leaves_is_explained(self):
        self.write("graph.txt", "".join(f"{i} {j}\n" for i in range(8) for j in range(i)) + "".join(f"{i} {i + 20}\n" for i in range(8)))
        args = ["--graph", "graph.txt", "--undirected", "--query", "diamond=(a)--(b)--(c)--(d)--(a), (a)--(c)"]
        told = self.ok("explain", "--whole", *args, "--filter", "refine").out
        self.assertRegex(told, r"\Afilter   diamond: .*, matched on lists of 56 entries, ")
        self.assertRegex(told, r"\n  label  64 candidates: 16 16 16 16 \(.*\n  degree 32 candidates: 8 8 8 8 \(")
        self.assertIn("\ndiamond:\n", told)
        self.assertNotIn("filter", self.ok("explain", "--whole", *args).out, "matching begins on the graph")
        plain = self.ok("explain", "--whole", *args, "--filter", "none").out
        self.assertNotIn("filter", plain)
        self.assertNotEqual(told[told.index("diamond:\n"):], plain, "estimates are of the lists that are left")
        self.assertNotEqual(self.ok("explain", "--whole", *args, "--filter", "none", "--count-from", "edges").out,
                            self.ok("explain", "--whole", *args, "--filter", "none", "--count-from", "vertices").out)

    def test_a_filter_that_match_begins_with_is_explained(self):
        """Filtering should take less time than planning, and there are labels that distinguish candidates."""
        self.write("labelled.graph", "".join(f"v {i} {'AB'[i % 2]}\n" for i in range(40)) +
                   "".join(f"e {i} {j}\n" for i in range(40) for j in range(i) if (i * j + i + j) % 3 == 0))
        args = ["--graph", "labelled.graph", "--query", "square=(a:A)--(b:B)--(c:A)--(d:B)--(a)"]
        steps = [step["step"] for step in self.json("match", *args)["queries"][0]["filter"]["steps"]]
        told = self.ok("explain", "--whole", *args).out
        self.assertEqual(re.findall(r"(?m)^  (\w+) +[\d,]+ candidates:", told), steps)
        self.assertGreater(len(steps), 2)
        refined = self.ok("explain", "--whole", *args, "--filter", "refine").out
        self.assertEqual(told[told.index("\nsquare:"):], refined[refined.index("\nsquare:"):])
        self.assertNotIn("filter", self.ok("explain", "--whole", *args, "--filter", "none").out)

    def test_counts_from_edges_are_those_from_vertices(self):
        house = "house=(a)--(b)--(c)--(d)--(a)--(e)--(b)"
        self.write("clique.txt", "".join(f"{i} {j}\n" for i in range(12) for j in range(i)))
        args = ["--graph", "clique.txt", "--undirected", "--query", house]
        counts = [self.json("match", *args, "--count-from", way)["queries"][0]["matches"] for way in ("auto", "edges", "vertices")]
        self.assertEqual(counts, [math.perm(12, 5) // 2] * 3)
        self.assertIn("\nroot ", self.ok("explain", "--whole", "--graph", "big.txt", *args[2:]).out)
        self.fails(2, "explain", "--whole", *args, "--analyze", says="--whole")
        for option in (["--filter", "none"], ["--count-from", "edges"]):
            self.fails(2, "explain", *args, *option, says="add --whole")
        self.ok("explain", *args, "--induced")
        self.ok("validate", "--undirected", "--query", house, "--induced")
        self.fails(78, "explain", *args, "--induced", "--mode", "homomorphism", says="induced only with isomorphism")
        self.fails(2, "match", *args, "--count-from", "triangles", says="--count-from")
        way = ["--count-from", "vertices"]
        self.fails(2, "match", *args, *way, "--limit", 3, says="--count-from: matches are listed, not summed; leave it or --limit out")
        self.fails(2, "match", *args, *way, "--emit", "digest", says="--count-from: matches are listed, not summed; leave it or --emit")
        self.fails(2, "match", *args, *way, "--sample", 10, says="--count-from: an estimate sums no counts; leave it or --sample out")
        for command in (["match"], ["explain", "--whole"]):
            self.fails(2, *command, *args, *way, "--induced", says="--count-from vertices: induced matches are counted from edges")
            self.fails(2, *command, *args, *way, "--mode", "edge-distinct", says="--count-from vertices: edge-distinct matches")
        self.ok("match", *args, "--count-from", "edges", "--induced")
        self.fails(2, "match", *args, "--filter", "none", "--sample", 10, says="--filter: an estimate does not filter candidates")

    def test_limit_stops_promptly(self):
        """A clique of 150 vertices has 60 million squares. All their anchors are processed together."""
        self.write("clique.txt", "".join(f"{a} {b}\n" for a in range(150) for b in range(a)))
        for threads in (1, 2):
            partial = self.run_program("match", "--graph", "clique.txt", "--undirected", "--query",
                                       "square=(a)--(b)--(c)--(d)--(a)", "--limit", 100, "--threads", threads, "--filter", "none",
                                       "--json")
            self.assertEqual(partial.code, 1, partial)
            told = json.loads(partial.out)
            self.assertEqual(self.untimed(told["queries"]), [{"name": "square", "matches": 100, "complete": False, "partial": "limit"}])
            self.assertLess(told["seconds"]["match"], 3)

    def test_limit_that_is_not_reached_changes_nothing(self):
        result = self.json("match", "--graph", "g.txt", "--query", WEDGE, "--limit", 5, "--filter", "none")
        self.assertEqual(self.untimed(result["queries"]), [{"name": "wedge", "matches": 4}])

    def test_timeout_does_not_look_like_success(self):
        partial = self.run_program("match", "--graph", "big.txt", "--undirected", "--query", self.clique, "--timeout", "1us",
                                   "--json")
        self.assertEqual(partial.code, 1, partial)
        self.assertIn('"complete":false', partial.out)
        self.assertIn("stopped by --timeout", partial.err)
        self.json("match", "--graph", "g.txt", "--query", TRIANGLE, "--timeout", "1h")

    def test_unknown_labels_are_a_correct_zero(self):
        result = self.json("match", "--graph", "g.txt", "--query", "q=(a:Nowhere)-[:NEVER]->(b)", "--filter", "none")
        self.assertEqual(self.untimed(result["queries"]), [{"name": "q", "matches": 0}])

    def test_graph_from_standard_input(self):
        result = self.json("match", "--graph", "-", "--query", TRIANGLE, "--filter", "none", stdin="1 2\n2 3\n3 1\n")
        self.assertEqual(self.untimed(result["queries"]), [{"name": "triangle", "matches": 1}])

    def test_reading_options_are_those_of_the_graph(self):
        self.write("g.csv", "who,whom\na,b\nb,c\nc,a\n")
        self.assertEqual(self.json("match", "--graph", "g.csv", "--columns", "source=who,target=whom", "--query", TRIANGLE)
                         ["queries"][0]["matches"], 1)


if __name__ == "__main__":
    harness.main()
