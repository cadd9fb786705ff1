"""Edges with keys and attributes: how they are declared, read, refused and written."""

import json

import harness

RING = "R=(a)-[t1:T]->(b)-[t2:T]->(c)-[t3:T]->(a)"
IN_ORDER = RING + " WHERE t1.time < t2.time < t3.time"
EDGE = "e=(a)-[t:T]->(b)"
# Two rings, in order and out of order.
TIMES = """source,target,label,time
A,B,T,100
B,C,T,200
C,A,T,300
P,Q,T,100
Q,R,T,300
R,P,T,200
"""


class Declarations(harness.CliTest):
    def refused(self, *args, says, code=2):
        outcome = self.run_program(*args)
        self.assertEqual(outcome.code, code, outcome)
        for text in says:
            self.assertIn(text, outcome.err, outcome)

    def test_what_is_wrong_is_named_with_a_remedy(self):
        validate = ("validate", "--query", EDGE, "--edges", "events", "--attributes")
        self.refused(*validate, "amount:money", says=["--attributes: `money` is not a type", "write decimal(2)"])
        self.refused(*validate, "time:time", says=["the time of its event"])
        self.refused("validate", "--query", EDGE, "--attributes", "amount:int",
                     says=["edges of the model simple have no attributes", "--edges keyed"])
        self.refused("validate", "--query", EDGE, "--edges", "many", says=["choose one of simple|keyed|events"])

    def test_validate_prints_what_was_declared(self):
        out = self.ok("validate", "--query", EDGE, "--edges", "keyed", "--attributes",
                      "amount:decimal(2)=payload.amt,channel:symbol", "--vertex-attributes", "risk:int").out
        self.assertTrue(out.startswith("edges: keyed; amount decimal(2), channel symbol\nvertices: risk int\ne: "), out)
        self.assertTrue(self.ok("validate", "--query", EDGE).out.startswith("e: "))

    def test_conditions_are_checked_against_the_declarations(self):
        condition = EDGE + " WHERE t.amount > 1000"
        self.ok("validate", "--query", condition, "--edges", "events", "--attributes", "amount:decimal(2)")
        self.refused("validate", "--query", condition, "--edges", "events", "--attributes", "amt:decimal(2)", code=78,
                     says=["edges have no attribute 'amount'", "amt, time"])
        self.refused("validate", "--query", condition, "--edges", "events", code=78,
                     says=["edges have no attribute 'amount'; declare it with the graph's attributes; there is only time"])
        self.refused("validate", "--query", condition, code=78,
                     says=["the graph's edges are 'simple'", "choose --edges keyed or --edges events"])
        self.refused("validate", "--query", RING + " WITHIN 1h", code=78, says=["--edges"])

    def test_simple_edges_refuse_conditions_on_time_in_every_command(self):
        self.write("t.csv", TIMES)
        for args in (("replay", "--updates", "t.csv"), ("match", "--graph", "t.csv"), ("explain", "--graph", "t.csv")):
            self.refused(*args, "--query", IN_ORDER, code=78, says=["choose --edges keyed or --edges events"])


# A payment is made twice, and the second one is recalled. The ring stands on the first one.
RECALLED = """op,source,target,label,time
+,A,B,T,1
+,B,C,T,2
+,C,A,T,3
+,A,B,T,4
-,A,B,T,5
"""


class Events(harness.CliTest):
    def listed(self, name, *args):
        """The accounts of each match that a replay lists, with the ordinals of its payments and its sign."""
        self.ok("replay", "--updates", name, "--edges", "events", "--emit", "matches", "--out", "listed.jsonl", *args)
        return [(alert["sign"], "".join(alert["bindings"].values()), [edge["ordinal"] for edge in alert["edges"]])
                for alert in self.lines("listed.jsonl")]

    def test_only_the_ring_whose_payments_are_in_order_is_found(self):
        self.write("t.csv", TIMES)
        for size in (1, 2, 1000):
            self.assertEqual(self.listed("t.csv", "--query", IN_ORDER, "--batch", size), [("+", "ABC", [1, 2, 3])], size)
        matched = self.json("match", "--graph", "t.csv", "--edges", "events", "--query", IN_ORDER)
        self.assertEqual(matched["queries"][0]["matches"], 1)

    def test_a_ring_outlives_the_recall_of_a_second_payment(self):
        self.write("r.csv", RECALLED)
        first, second = [1, 2, 3], [4, 2, 3]
        for size in (1, 2):
            listed = self.listed("r.csv", "--query", RING, "--batch", size)
            self.assertCountEqual(listed[:2], [("+", "ABC", first), ("+", "ABC", second)], size)
            self.assertEqual(listed[2:], [("-", "ABC", second)], size)
        for size in (3, 5):  # the second payment comes and goes in one batch
            self.assertEqual(self.listed("r.csv", "--query", RING, "--batch", size), [("+", "ABC", first)], size)
        matched = self.json("match", "--graph", "r.csv", "--edges", "events", "--query", RING)
        self.assertEqual(matched["queries"][0]["matches"], 1)

    def test_without_a_condition_both_rings_are_found(self):
        self.write("t.csv", TIMES)
        done = self.json("replay", "--updates", "t.csv", "--edges", "events", "--query", RING)
        self.assertEqual(done["queries"][0]["new"], 2)

    def test_a_late_event_within_the_allowed_lateness_gives_its_match(self):
        """The last edge of the ring comes when the watermark is 1h 6m 40s after the first one."""
        self.write("late.csv", "source,target,label,time\nA,B,T,1000000\nB,C,T,1000600\nX,Y,T,1004000\nC,A,T,1001200\n")
        replay = ("replay", "--updates", "late.csv", "--edges", "events")
        late = ("--allowed-lateness",)
        for size in (1, 2, 3, 1000):
            for lateness, new in (((), 0), (late + ("5m",), 0), (late + ("10m",), 1)):
                # The last edge comes 46m 40s late.
                done = self.json(*replay, "--query", IN_ORDER + " WITHIN 1h", "--batch", size, *lateness, warns=harness.OUT_OF_ORDER)
                self.assertEqual(done["queries"][0]["new"], new, (size, lateness))
            done = self.json(*replay, "--query", IN_ORDER + " WITHIN 1h", "--batch", size, "--allowed-lateness", "47m")
            self.assertEqual(done["queries"][0]["new"], 1, size)
        for command in (replay, ("explain", "--graph", "late.csv", "--edges", "events")):
            outcome = self.fails(2, *command, "--query", IN_ORDER, "--allowed-lateness", "10m")
            self.assertEqual(outcome.err, "deltamatch: --allowed-lateness: no query has WITHIN, EMIT FINAL or ALERT ONCE, so no record can come too late "
                             "for one; end a pattern with WITHIN TIME, or leave it out; with --window, edges that come too late "
                             "are always left out\n")

    def test_a_correction_makes_an_aged_match_new_again(self):
        """Whatever other patterns keep the edge for. A correction that leaves it aged, or that comes in time, is no news."""
        header = "source,target,label,time,edge\nA,B,,0,1\n"
        for rest, new in (("A,B,,5,2\nA,B,,6,1\n", [1, 2, 3]), ("A,B,,5,2\nA,B,,1,1\n", [1, 2]), ("A,B,,1,2\nA,B,,1,1\n", [1, 2])):
            self.write("s.csv", header + rest)
            for others in ((), ("--query", "long=(a)-->(b) WITHIN 1h"), ("--query", "ever=(a)-->(b)")):
                outcome = self.run_program("replay", "--updates", "s.csv", "--edges", "keyed", "--time-unit", "s", "--batch", 1, "--emit",
                                           "matches", "--out", "listed.jsonl", "--query", "q=(a)-[:``]->(b) WITHIN 2s", *others)
                self.assertEqual(outcome.code, 0, outcome)
                listed = [(alert["sign"], alert["batch"]) for alert in self.lines("listed.jsonl") if alert["query"] == "q"]
                self.assertEqual(listed, [("+", batch) for batch in new], (rest, others))

    def test_graph_files_have_no_keys(self):
        self.write("t.csv", TIMES)
        self.ok("convert", "t.csv", "t.dmg", "--to", "graph")
        for model, code in (("keyed", 2), ("events", 0)):
            outcome = self.run_program("match", "--graph", "t.dmg", "--query", RING, "--edges", model, "--json")
            self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(json.loads(outcome.out)["queries"][0]["matches"], 2)


class Reading(harness.CliTest):
    """convert shows what was read."""

    def converted(self, name, content, *args):
        self.write(name, content)
        outcome = self.run_program("convert", name, "-", "--to", "jsonl", *args)
        self.assertEqual(outcome.code, 0, outcome)
        return [json.loads(line) for line in outcome.out.splitlines()]

    def test_keys_and_attributes_of_csv(self):
        rows = self.converted("p.csv", "from,to,txn_id,amt,channel\na,b,tx-1,1200.5,web\na,b,8,,\n", "--edges", "keyed",
                              "--attributes", "amount:decimal(2)=amt,channel:symbol")
        self.assertEqual(rows, [
            {"source": "a", "target": "b", "edge": "tx-1", "amount": "1200.50", "channel": "web"},
            {"source": "a", "target": "b", "edge": 8, "amount": None, "channel": None}])

    def test_what_convert_writes_is_read_again(self):
        text = "from,to,uuid,amt,ok,n\na,b,tx-1,-0.05,yes,7\nc,d,2,1,no,\n"
        declared = ("--edges", "keyed", "--attributes", "amt:decimal(2),ok:bool,n:int")
        first = self.converted("p.csv", text, *declared)
        again = self.converted("q.jsonl", "".join(json.dumps(row) + "\n" for row in first), *declared)
        self.assertEqual(first, again)

    def test_deletions_by_key(self):
        rows = self.converted("d.jsonl", '{"op":"d","txn_id":7}\n{"op":"d","txn_id":8,"from":"a","to":"b"}\n', "--edges", "keyed")
        self.assertEqual(rows, [{"op": "-", "edge": 7}, {"op": "-", "source": "a", "target": "b", "edge": 8}])

    def test_change_events(self):
        event = {"op": "u", "before": {"id": 7}, "after": {"id": 7, "a": "x", "b": "y", "amount": {"scale": 2, "value": "AeI="}}}
        gone = {"op": "d", "before": {"id": 7, "a": "", "b": ""}, "after": None}
        rows = self.converted("e.jsonl", json.dumps(event) + "\n" + json.dumps(gone) + "\n", "--envelope", "debezium",
                              "--edges", "keyed", "--attributes", "amount:decimal(2)", "--columns", "edge=id,source=a,target=b")
        self.assertEqual(rows, [{"source": "x", "target": "y", "edge": 7, "amount": "4.82"}, {"op": "-", "edge": 7}])

    def test_tsv_and_edge_lists_by_position(self):
        args = ("--edges", "keyed", "--attributes", "amount:decimal(1)", "--columns", "source,target,edge,amount")
        meant = [{"source": 1, "target": 2, "edge": "t", "amount": "0.5"}]
        self.assertEqual(self.converted("a.txt", "1 2 t 0.5\n", *args), meant)
        self.assertEqual(self.converted("a.tsv", "1\t2\tt\t0.5\n", "--format", "tsv", *args), meant)

    def test_tsv_cannot_hold_them(self):
        self.write("p.csv", "from,to,txn_id\na,b,1\n")
        outcome = self.run_program("convert", "p.csv", "-", "--to", "tsv", "--edges", "keyed")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("tsv cannot hold the key of an edge; convert to binary or jsonl", outcome.err)

    def test_refusals_name_line_column_value_and_remedy(self):
        self.write("p.csv", 'from,to,txn_id,amt\na,b,1,5\na,b,2,"1,20"\na,b,,5\n')
        args = ("convert", "p.csv", "-", "--to", "jsonl", "--edges", "keyed", "--attributes", "amount:decimal(2)=amt")
        outcome = self.run_program(*args)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("p.csv:3: bad_value: amt `1,20` has a comma", outcome.err)
        self.assertIn("write a point before the fraction", outcome.err)
        outcome = self.run_program(*args, "--on-error", "dead-letter", "--dead-letters", "bad.jsonl")
        reasons = [json.loads(line)["reason"] for line in self.read("bad.jsonl").splitlines()]
        self.assertEqual(reasons, ["bad_value", "missing_key"])

    def test_a_missing_column_is_an_error_that_shows_the_header(self):
        self.write("p.csv", "from,to,amt\na,b,5\n")
        outcome = self.run_program("replay", "--updates", "p.csv", "--query", EDGE, "--edges", "events", "--attributes",
                                   "amount:decimal(2)")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("p.csv:1: the CSV header `from,to,amt` has no column `amount` for the attribute amount", outcome.err)
        self.assertIn("--columns amount=NAME", outcome.err)

    def test_attributes_that_no_record_has_are_reported(self):
        self.write("p.jsonl", '{"from":1,"to":2,"amt":5}\n')
        outcome = self.run_program("convert", "p.jsonl", "-", "--to", "jsonl", "--edges", "events", "--attributes", "amount:int")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("no record has a value of `amount`", outcome.err)


if __name__ == "__main__":
    harness.main()
