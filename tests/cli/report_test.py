"""What a run says of itself: settings, seconds of each query, rows as CSV, and the vertices in most matches."""

import csv
import io
import json
import os
import re
import subprocess

import harness
from harness import TRIANGLE

HUB = "hub=(a)-->(h)<--(b)"


class Settings(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("g.txt", "1 2\n2 3\n3 1\n1 3\n")

    def settings(self, *args):
        result = self.json(*args)
        self.assertRegex(result["version"], r"^\d+\.\d+\.\d+$")
        done = subprocess.run([harness.PROGRAM, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split()[-1], result["version"])
        return result["mode"], result["counting"], result["threads"]

    def test_they_name_mode_counting_and_threads(self):
        for command in (["replay", "--updates"], ["match", "--graph"]):
            args = [*command, "g.txt", "--query", TRIANGLE]
            self.assertEqual(self.settings(*args, "--threads", 3), ("isomorphism", "subgraphs", 3))
            self.assertEqual(self.settings(*args, "--count", "embeddings"), ("isomorphism", "embeddings", os.cpu_count()))
            self.assertEqual(self.settings(*args, "--mode", "edge-distinct", "--threads", 1), ("edge-distinct", "embeddings", 1))
            self.assertEqual(self.settings(*args, "--mode", "homomorphism", "--threads", 1), ("homomorphism", "embeddings", 1))
        for command in (["motifs", "-k", 3], ["cliques"], ["quasi-cliques", "-k", 3, "--density", 0.5]):
            self.assertEqual(self.settings(*command, "--graph", "g.txt", "--undirected", "--threads", 2), ("isomorphism", "subgraphs", 2))


class Seconds(harness.CliTest):
    def test_each_query_has_its_share_of_matching(self):
        self.write("s.txt", "".join(f"{i % 40} {40 + (i * 7 + i // 40) % 40}\n" for i in range(800)))
        result = self.json("replay", "--updates", "s.txt", "--batch", 100, "--batches", "b.jsonl", "--query", "light=(a)-[:NONE]->(b)", "--query",
                           "heavy=(a)-->(b)<--(c)-->(d)", "--emit", "digest")
        light, heavy = (query["seconds"] for query in result["queries"])
        self.assertGreater(heavy, 0)
        self.assertGreater(heavy, light)
        self.assertLessEqual(light + heavy, result["seconds"]["match"] + 1e-5)
        lines = self.lines("b.jsonl")
        total = sum(line["queries"][1]["seconds"] for line in lines)
        self.assertAlmostEqual(total, heavy, delta=1e-6 * len(lines))
        for line in lines:
            self.assertLessEqual(sum(query["seconds"] for query in line["queries"]), line["seconds"]["match"] + 2e-6)


class Rows(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("s.tsv", "+\t1\t2\n+\t2\t3\n+\t3\t1\n-\t3\t1\n")
        self.write("g.txt", "1 2\n2 3\n3 1\n")

    def rows(self, *args, code=0):
        done = self.run_program(*args, "--csv")
        self.assertEqual(done.code, code, done)
        self.assertTrue(done.out.endswith("\r\n"))
        self.assertEqual(done.out.count("\n"), done.out.count("\r\n"))
        rows = list(csv.reader(io.StringIO(done.out, newline="")))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        return [dict(zip(rows[0], row)) for row in rows[1:]]

    def test_replay_has_a_row_for_each_query(self):
        rows = self.rows("replay", "--updates", "s.tsv", "--batch", 3, "--query", TRIANGLE, "--query", "edge,\"x\"=(a)-->(b)")
        self.assertEqual(list(rows[0]), ["query", "new", "removed", "suppressed", "waiting", "seconds", "threads", "partial"])
        self.assertEqual([(row["query"], row["new"], row["removed"], row["partial"]) for row in rows],
                         [("triangle", "1", "1", ""), ("edge,\"x\"", "3", "1", "")])
        self.assertTrue(all(float(row["seconds"]) >= 0 for row in rows))

    def test_match_has_a_row_for_each_query(self):
        rows = self.rows("match", "--graph", "g.txt", "--query", TRIANGLE, "--emit", "digest")
        self.assertEqual(list(rows[0]), ["query", "matches", "seconds", "threads", "partial", "error", "digest"])
        self.assertEqual((rows[0]["query"], rows[0]["matches"], len(rows[0]["digest"])), ("triangle", "1", 32))
        self.assertEqual(self.rows("match", "--graph", "g.txt", "--query", TRIANGLE, "--threads", 2)[0]["threads"], "2")
        rows = self.rows("match", "--graph", "g.txt", "--query", "e=(a)-->(b)", "--limit", 2, code=1)
        self.assertEqual((rows[0]["matches"], rows[0]["partial"]), ("2", "limit"))
        rows = self.rows("match", "--graph", "g.txt", "--query", "e=(a)-->(b)", "--sample", 3000)
        self.assertEqual((float(rows[0]["estimate"]), float(rows[0]["low"]), float(rows[0]["high"])), (3, 3, 3))

    def test_counts_have_all_their_digits(self):
        self.write("star.txt", "".join(f"0 {i}\n" for i in range(1, 600)))
        star = "star=" + ", ".join(f"(h)-->(v{i})" for i in range(8))
        (row,) = self.rows("match", "--graph", "star.txt", "--query", star, "--count", "embeddings")
        wanted = 1
        for i in range(8):
            wanted *= 599 - i
        self.assertEqual(int(row["matches"]), wanted)

    def test_a_name_is_no_formula(self):
        self.write("=1+1.pattern", "(a)-->(b)")
        (row,) = self.rows("match", "--graph", "g.txt", "--query", "=1+1.pattern")
        self.assertEqual(row["query"], "'=1+1")

    def test_standard_output_has_one_reader(self):
        args = ["replay", "--updates", "s.tsv", "--query", TRIANGLE]
        self.fails(2, *args, "--csv", "--json", says="choose one of them")
        self.fails(2, *args, "--csv", "--batches", "-", says="write one of them to a file")
        self.fails(2, *args, "--csv", "--emit", "matches", says="write the matches to a file with --out FILE")


class Top(harness.CliTest):
    def setUp(self):
        super().setUp()
        stars = {"h1": 5, "h2": 9, "h3": 9, "7": 4}
        self.write("s.tsv", "".join(f"+\t{hub}-{i}\t{hub}\n" for hub, leaves in stars.items() for i in range(leaves)) + "-\th2-0\th2\n")
        self.args = ["replay", "--updates", "s.tsv", "--batch", 10, "--query", HUB]

    def test_the_vertices_in_most_new_matches_are_named(self):
        result = self.json(*self.args, "--top", 3)
        (query,) = result["queries"]
        self.assertEqual(query["top"], [{"name": "h", "vertex": "h2", "matches": 36}, {"name": "h", "vertex": "h3", "matches": 36},
                                        {"name": "h", "vertex": "h1", "matches": 10}])
        self.assertEqual((query["new"], query["removed"]), (88, 8))
        out = self.ok(*self.args, "--top", 2).out
        self.assertIn("vertices in most new matches of hub\n  h h2: 36 matches\n  h h3: 36 matches\n", out)

    def test_ids_keep_their_kind_and_order(self):
        self.write("s.tsv", "".join(f"+\t{a}\t{b}\n" for a in ("x", "9", "10", "-3") for b in ("t",)))
        (query,) = self.json("replay", "--updates", "s.tsv", "--query", "e=(a)-->(b)", "--top", 9)["queries"]
        self.assertEqual([(row["name"], row["vertex"]) for row in query["top"]], [("b", "t"), ("a", -3), ("a", 9), ("a", 10), ("a", "x")])

    def test_it_goes_beside_a_listing(self):
        self.ok(*self.args, "--top", 1, "--emit", "matches", "--signs", "removed", "--out", "m.jsonl")
        self.assertEqual({line["sign"] for line in self.lines("m.jsonl")}, {"-"})
        (query,) = self.json(*self.args, "--top", 1, "--emit", "digest")["queries"]
        self.assertEqual(query["top"][0]["matches"], 36)
        self.assertIn("new_digest", query)

    def test_it_does_not_depend_on_batches_or_threads(self):
        told = [self.json(*self.args[:3], "--batch", batch, "--threads", threads, "--query", HUB, "--top", 50)["queries"][0]["top"]
                for batch, threads in ((1, 1), (7, 2), (26, 3))]
        self.assertEqual(told[0], told[1])
        self.assertEqual(told[0], told[2])

    def test_a_query_without_matches_has_none(self):
        (query,) = self.json(*self.args[:-1], "none=(a)-->(b)-->(c)-->(a)", "--top", 3)["queries"]
        self.assertEqual(query["top"], [])

    def test_an_abandoned_batch_does_not_count(self):
        self.write("bad.tsv", self.read("s.tsv") + "+\tz1\th9\n+\tz2\th9\nbroken\n")
        done = self.run_program("replay", "--updates", "bad.tsv", "--query", HUB, "--top", 1, "--json")
        self.assertEqual(done.code, 1)
        self.assertEqual(json.loads(done.out)["queries"][0]["top"][0]["matches"], json.loads(self.ok(*self.args[:3], "--query", HUB, "--top", 1, "--json")
                                                                                        .out)["queries"][0]["top"][0]["matches"])


class MatchingOrders(harness.CliTest):
    HOUSE = "house=(a)-->(b)-->(c)-->(d)-->(a), (a)-->(r), (b)-->(r)"

    def setUp(self):
        super().setUp()
        self.write("g.txt", "".join(f"{i} {(i * 5 + j * 3 + 1) % 23}\n" for i in range(23) for j in range(4) if i != (i * 5 + j * 3 + 1) % 23))

    def test_results_are_the_same_for_every_order(self):
        plain = None
        for order in (None, "a,b,c,d,r", "r,b,a,d,c", "c,d,a,r,b"):
            extra = ["--matching-order", order] if order else []
            for more in ([], ["--emit", "digest"]):
                matched = self.json("match", "--graph", "g.txt", "--query", self.HOUSE, *more, *extra)["queries"][0]
                replayed = self.json("replay", "--updates", "g.txt", "--batch", 16, "--query", self.HOUSE, *more, *extra)["queries"][0]
                self.assertEqual(matched["matches"], replayed["new"] - replayed["removed"])
                plain = plain or matched["matches"]
                self.assertEqual(matched["matches"], plain)
        self.assertGreater(plain, 0)

    def test_explain_shows_the_order(self):
        text = self.ok("explain", "--query", self.HOUSE, "--matching-order", "r,b,a,d,c", "--whole", "--graph", "g.txt").out
        self.assertRegex(text, r"anchor \(b\)-->\(r\)(.|\n)*level 1: a in(.|\n)*level 2: d in(.|\n)*level 3: c in")
        text = self.ok("explain", "--query", self.HOUSE, "--matching-order", "house=r,b,a,d,c").out
        self.assertRegex(text, r"anchor \(c\)-->\(d\)[^a]*(.|\n)*?level 1: b in(.|\n)*?level 2: r in(.|\n)*?level 3: a in")

    def test_explain_says_how_many_plans_the_order_changes(self):
        same = "\nthe given order leads to the same plans as the planner's own\n"
        for query, order, says in ((TRIANGLE, "c,b,a", same), (self.HOUSE, "c,d,b,a,r", None)):
            given = self.ok("explain", "--query", query, "--matching-order", order).out
            own = self.ok("explain", "--query", query).out
            self.assertNotIn("given order", own)
            plans = [re.split(r"\n(?=plan )", re.sub(r"(?m)^the given order.*\n", "", text))[1:] for text in (given, own)]
            differ = sum(a != b for a, b in zip(*plans))
            self.assertEqual(differ > 0, says is None)
            self.assertTrue(given.endswith(says or f"\nthe given order changes {differ} of {len(plans[0])} plans\n"), given)

    def test_cliques_are_matched_in_the_order_too(self):
        clique = "k=" + ", ".join(f"({u})--({v})" for u, v in ("ab", "ac", "ad", "bc", "bd", "cd"))
        args = ["--graph", "g.txt", "--undirected", "--on-error", "skip", "--query", clique]
        self.assertEqual(self.json("match", *args)["queries"][0]["matches"],
                         self.json("match", *args, "--matching-order", "d,c,b,a")["queries"][0]["matches"])
        self.assertNotIn("tree of pivots", self.ok("explain", "--whole", *args, "--matching-order", "d,c,b,a").out)

    def test_wrong_orders_are_refused(self):
        for command in (["match", "--graph"], ["replay", "--updates"], ["explain", "--graph"]):
            args = [*command, "g.txt", "--query", self.HOUSE]
            for order, says in (("a,b,c,d", "'r' is missing"), ("a,b,c,d,x", "query house has no vertex 'x'"), ("a,b,b,c,d,r", "'b' is named twice"),
                                ("a,c,b,d,r", "no edge joins 'c' to a vertex named before it"), ("", "query house has no vertex ''"),
                                ("other=a,b,c,d,r", "there is no query 'other'; choose one of house")):
                self.fails(2, *args, "--matching-order", order, says=says)
            self.fails(2, *args, "--matching-order", "a,b,c,d,r", "--matching-order", "house=b,a,c,d,r", says="query house has an order already")
            self.fails(2, *args, "--query", TRIANGLE, "--matching-order", "a,b,c,d,r", says="there are 2 queries; name one of them: house=a,b,c,d,r")
        self.fails(2, "match", "--graph", "g.txt", "--query", self.HOUSE, "--matching-order", "a,b,c,d,r", "--count-from", "vertices",
                   says="--count-from vertices follows no order of vertices")


if __name__ == "__main__":
    harness.main()
