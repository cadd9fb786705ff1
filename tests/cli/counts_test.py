"""COUNT, EXISTS and NOT EXISTS in replay, match, explain and validate, and alerts of patterns without edges."""

import csv
import json

import harness

FAN = "fan=(hub:Account) WHERE COUNT { DISTINCT s | (s)-[t:PAYS]->(hub) } >= 3"
LONELY = "lonely=(a)-[t:PAYS]->(b) WHERE NOT EXISTS { (b)-[u:PAYS]->(a) WHERE u.time >= t.time }"
UPDATES = ("op,source,target,label,source_label,target_label,time\n"
           "+,a,h,PAYS,Account,Account,1\n+,b,h,PAYS,Account,Account,2\n+,b,h,PAYS,Account,Account,3\n"
           "+,c,h,PAYS,Account,Account,4\n+,h,a,PAYS,Account,Account,5\n-,c,h,PAYS,,,6\n")


class Counts(harness.CliTest):
    def signs(self, *args):
        self.ok("replay", "--updates", "s.csv", "--edges", "events", "--time-unit", "s", "--emit", "matches", "--out", "o.jsonl",
                *args)
        return [(line["batch"], line["sign"], line["bindings"]) for line in map(json.loads, self.read("o.jsonl").splitlines())]

    def setUp(self):
        super().setUp()
        self.write("s.csv", UPDATES)

    def test_a_fan_in_is_one_alert_until_a_sender_goes(self):
        self.assertEqual(self.signs("--query", FAN, "--batch", 1), [(4, "+", {"hub": "h"}), (6, "-", {"hub": "h"})])
        self.assertEqual(self.signs("--query", FAN, "--batch", 5), [(1, "+", {"hub": "h"}), (2, "-", {"hub": "h"})])
        self.assertEqual(self.signs("--query", FAN, "--batch", 6), [])

    def test_the_senders_must_come_within_the_span(self):
        self.assertEqual(self.signs("--query", FAN + " WITHIN 4s", "--batch", 1)[0], (4, "+", {"hub": "h"}))
        self.assertEqual(self.signs("--query", FAN + " WITHIN 3s", "--batch", 1), [])
        self.assertEqual(self.signs("--query", FAN, "--window", "4s", "--batch", 1),
                         [(4, "+", {"hub": "h"}), (5, "-", {"hub": "h"})])

    def test_what_ages_within_a_batch_counts_at_the_record_that_completes_a_match(self):
        """The payment is 23 hours old when its refund comes, and has aged when the batch ends."""
        self.write("p.csv", "source,target,label,time\nc,s,PAYS,1700000000\ns,c,REFUNDS,1700082800\nx,y,PAYS,1700088200\n"
                            "x,y,PAYS,1700120000\n")
        unpaid = "q=(s)-[r:REFUNDS]->(c) WHERE NOT EXISTS { (c)-[p:PAYS]->(s) WHERE p.time < r.time } WITHIN 24h"
        paid = "p=(s)-[r:REFUNDS]->(c) WHERE EXISTS { (c)-[p:PAYS]->(s) WHERE p.time < r.time } WITHIN 24h"
        for batch in (1, 2, 3, 8192):
            told = self.json("replay", "--updates", "p.csv", "--edges", "events", "--query", unpaid, "--query", paid, "--batch", batch)
            self.assertEqual([(query["new"], query["removed"]) for query in told["queries"]], [(0, 0), (1, 0)], batch)

    def test_an_insertion_can_end_a_match(self):
        found = self.signs("--query", LONELY, "--batch", 1)
        self.assertIn((1, "+", {"a": "a", "b": "h"}), found)
        self.assertIn((5, "-", {"a": "a", "b": "h"}), found)
        self.assertIn((5, "+", {"a": "h", "b": "a"}), found)

    def test_alerts_of_a_single_vertex_have_every_form(self):
        run = ("replay", "--updates", "s.csv", "--edges", "events", "--time-unit", "s", "--batch", 1, "--query", FAN, "--emit",
               "matches")
        self.ok(*run, "--out", "o.jsonl")
        line = json.loads(self.read("o.jsonl").splitlines()[0])
        self.assertEqual((line["edges"], line["cause"]), ([], []))
        self.ok(*run, "--out", "o.csv")
        rows = list(csv.DictReader(self.read("o.csv").splitlines()))
        self.assertEqual([row["hub"] for row in rows], ["h", "h"])
        self.ok(*run, "--out", "o.dmm")
        self.assertTrue((self.dir / "o.dmm").stat().st_size > 0)

    def test_a_whole_graph_is_counted_and_listed(self):
        rows = [line[line.index(",") + 1:] for line in UPDATES.splitlines() if not line.startswith("-")]
        self.write("g.csv", "\n".join(rows) + "\n")
        graph = ("match", "--graph", "g.csv", "--edges", "events", "--time-unit", "s")
        self.assertEqual(self.json(*graph, "--query", FAN)["queries"][0]["matches"], 1)
        self.assertEqual(self.json(*graph, "--query", LONELY)["queries"][0]["matches"], 4)
        self.ok(*graph, "--query", LONELY, "--emit", "matches", "--out", "o.jsonl", "--limit", 4)
        self.assertEqual(len(self.lines("o.jsonl")), 4)
        self.fails(78, *graph, "--query", FAN, "--sample", 100, says="its condition counts")

    def test_a_graph_file_is_read_with_all_that_is_counted(self):
        self.write("p.csv", "source,target,label,source_label,target_label\na,b,PAYS,A,A\nb,a,OWES,A,A\nc,d,PAYS,A,B\n")
        self.ok("convert", "p.csv", "g.dmg", "--to", "graph")
        for query, matches in (("q=(x)-[:PAYS]->(y) WHERE NOT EXISTS { (y)-[:OWES]->(x) }", 1),
                               ("q=(x:B) WHERE NOT EXISTS { (x)-[:OWES]->(y) }", 1),
                               ("q=(x:A) WHERE EXISTS { (x)-[:PAYS]->(y)-[:OWES]->(x) }", 1),
                               ("q=(x:A) WHERE EXISTS { (x)-[:PAYS]->(y:B) }", 1)):
            for graph in ("p.csv", "g.dmg"):
                self.assertEqual(self.json("match", "--graph", graph, "--query", query)["queries"][0]["matches"], matches, query)

    def test_explain_and_validate_show_what_counts(self):
        explained = self.ok("explain", "--query", FAN, "--edges", "events").out
        self.assertIn("3 <= COUNT { DISTINCT s | (s)-[t:PAYS]->(hub) }", explained)
        self.assertIn("counted anew at hub", explained)
        self.assertIn("matched on CPU cores only", explained)
        checked = self.ok("validate", "--query", LONELY, "--edges", "events").out
        self.assertIn("NOT 1 <= COUNT { (b)-[u:PAYS]->(a) WHERE t.time <= u.time }", checked)

    def test_standing_queries_are_induced_with_isomorphism_only(self):
        self.write("t.csv", "op,source,target\n+,1,2\n+,2,3\n+,1,3\n-,2,1\n+,9,8\n-,1,2\n")
        run = ("replay", "--updates", "t.csv", "--query", "path=(a)-->(b)-->(c)", "--batch", 1)
        found = self.json(*run, "--induced")["queries"][0]
        self.assertEqual((found["new"], found["removed"]), (1, 1))
        self.ok(*run, "--emit", "matches", "--out", "plain.jsonl")
        self.ok(*run, "--emit", "matches", "--out", "induced.jsonl", "--induced")
        self.assertEqual([line["sign"] for line in self.lines("induced.jsonl")], ["+", "-"])
        self.assertEqual([line["batch"] for line in self.lines("induced.jsonl")], [2, 3])
        self.assertEqual({line["id"] for line in self.lines("induced.jsonl")}, {line["id"] for line in self.lines("plain.jsonl")})
        self.fails(78, *run, "--induced", "--mode", "homomorphism", says="induced only with isomorphism")

    def test_times_that_are_counted_need_edges_with_times(self):
        refused = self.fails(78, "validate", "--query", LONELY)
        self.assertIn("choose --edges keyed or --edges events", refused.err)


if __name__ == "__main__":
    harness.main()
