"""What queries ask for and no input has: times, labels, a window that is long enough. And what a missing time is refused for."""

import json

import harness

RING = """MATCH (a)-[t1:TRANSFER]->(b)-[t2:TRANSFER]->(c)-[t3:TRANSFER]->(a)
WHERE t1.time < t2.time < t3.time
WITHIN 24h
"""
PAYMENTS = """booked_at,debtor,creditor,type
2024-03-05T09:12:00Z,A,B,TRANSFER
2024-03-05T11:40:00Z,B,C,TRANSFER
2024-03-05T17:05:00Z,C,A,TRANSFER
"""
COLUMNS = "source=debtor,target=creditor,label=type"
EDGE = "e=(a)-->(b)"
PAIR = "p=(a)-[t]->(b)-[u]->(c) WHERE t.time < u.time"


class DoubtfulQueries(harness.CliTest):
    def warnings(self, *args):
        """The warnings of a command that succeeds, as (code, place, doubt, remedy). Those on standard error are the same."""
        outcome = self.run_program(*args, "--json")
        self.assertEqual(outcome.code, 0, outcome)
        warnings = json.loads(outcome.out)["warnings"]
        self.assertEqual([line.split(": ")[1] for line in outcome.err.splitlines()], ["warning"] * len(warnings), outcome)
        return [(warning["code"], warning["where"], warning["what"], warning["remedy"]) for warning in warnings]


class Order(DoubtfulQueries):
    """Files that are not in order of time."""
    HEADER, *ROWS = PAYMENTS.splitlines(keepends=True)

    def order(self, rows, *args):
        self.write("p q.csv", self.HEADER + "".join(rows))
        self.write("ring.pattern", RING)
        return self.warnings("replay", "--updates", "p q.csv", "--edges", "events", "--columns", COLUMNS + ",time=booked_at", *args)

    def test_newest_first_is_doubtful_whatever_other_queries_stand(self):
        for others in ((), ("--query", EDGE), ("--window", "30d"), ("--batch", 1)):
            (warning,) = self.order(reversed(self.ROWS), "--query", "ring.pattern", *others)
            self.assertEqual(warning, (
                "out_of_order", "p q.csv:3",
                "the record is older than one before it, so matches of the query ring may be missing or wrong; such records come up to "
                "8h late",
                "sort the file with deltamatch convert --order time --to binary 'p q.csv' sorted.dmu and the options that say how to "
                "read it, and replay sorted.dmu without them; if no pattern counts, --allowed-lateness 8h is enough"), others)

    def test_the_remedies_find_the_matches(self):
        self.order(reversed(self.ROWS), "--query", "ring.pattern")
        read = ("--edges", "events", "--columns", COLUMNS + ",time=booked_at")
        self.assertEqual(self.warnings("replay", "--updates", "p q.csv", *read, "--query", "ring.pattern", "--allowed-lateness", "8h"), [])
        self.ok("convert", "--order", "time", "--to", "binary", "p q.csv", "sorted.dmu", *read)
        for found in (self.json("replay", "--updates", "sorted.dmu", "--query", "ring.pattern"),
                      self.json("replay", "--updates", "p q.csv", *read, "--query", "ring.pattern", "--allowed-lateness", "8h")):
            self.assertEqual(found["queries"][0]["new"], 1)

    def test_all_late_records_count(self):
        self.order([*self.ROWS[1:], self.ROWS[0], self.ROWS[0]], "--query", "ring.pattern")
        found = json.loads(self.run_program("replay", "--updates", "p q.csv", "--edges", "events", "--columns", COLUMNS + ",time=booked_at",
                                            "--query", "ring.pattern", "--json").out)
        self.assertEqual([(warning["where"], warning["count"]) for warning in found["warnings"]], [("p q.csv:4", 2)])

    def test_the_order_of_files_counts(self):
        self.write("a.csv", self.HEADER + self.ROWS[0])
        self.write("b.csv", self.HEADER + self.ROWS[1])
        run = ("replay", "--edges", "events", "--columns", COLUMNS + ",time=booked_at", "--query", RING)
        self.assertEqual(self.warnings(*run, "--updates", "a.csv", "--updates", "b.csv"), [])
        self.assertEqual([w[:2] for w in self.warnings(*run, "--updates", "b.csv", "--updates", "a.csv")], [("out_of_order", "a.csv:2")])

    def test_without_a_query_that_heeds_it_order_is_not_doubtful(self):
        self.assertEqual(self.order(reversed(self.ROWS), "--query", EDGE), [])
        self.assertEqual(self.order(self.ROWS, "--query", "ring.pattern"), [])
        self.assertEqual(self.order([self.ROWS[0], self.ROWS[0]], "--query", "ring.pattern"), [])


class Meant(DoubtfulQueries):
    def test_a_label_in_other_letters_is_suggested(self):
        self.write("p.csv", PAYMENTS.replace("TRANSFER", "Transfer"))
        (warning,) = self.warnings("replay", "--updates", "p.csv", "--columns", COLUMNS, "--query", "(a)-[:TRANSFER]->(b)")
        self.assertEqual((warning[0], warning[3]), ("label_absent", "did you mean 'Transfer'?"))

    def test_an_attribute_that_is_near_is_suggested(self):
        self.fails(78, "validate", "--edges", "events", "--attributes", "amount:decimal(2)", "--query", "(a)-[t]->(b) WHERE t.amuont > 1",
                   says="edges have no attribute 'amuont'; did you mean 'amount'? Else declare it")

    def test_a_misspelt_match_is_a_pattern(self):
        self.fails(78, "validate", "--query", "MATHC (a)-->(b)", says="did you mean MATCH?")
        self.write("q.pattern", "MATHC (a)-->(b)")
        self.fails(78, "validate", "--query", "q.pattern", says="q.pattern:1:1: expected MATCH or a vertex")


class Times(DoubtfulQueries):
    WHAT = "no edge has a time, but a query reads times"

    def test_the_column_that_may_hold_times_is_named(self):
        self.write("payments.csv", PAYMENTS)
        self.write("ring.pattern", RING)
        events = ("--edges", "events", "--columns", COLUMNS)
        remedy = f"--columns {COLUMNS},time=booked_at reads `booked_at` as the time"
        expected = [("time_absent", "payments.csv", self.WHAT, remedy)]
        self.assertEqual(self.warnings("match", "--graph", "payments.csv", *events, "--query", "ring.pattern"), expected)
        for size in (1, 8192):
            replay = ("replay", "--updates", "payments.csv", *events, "--batch", size)
            self.assertEqual(self.warnings(*replay, "--query", PAIR), expected)
            self.assertEqual(self.warnings(*replay, "--query", EDGE), [])
        start = ("replay", "--graph", "payments.csv", "--updates", "/dev/null", "--edges", "events", "--graph-columns", COLUMNS,
                 "--query", PAIR)
        self.assertEqual(self.warnings(*start), [(*expected[0][:3], "--graph-" + remedy[2:])])
        told = self.json("match", "--graph", "payments.csv", *events[:3], COLUMNS + ",time=booked_at", "--query", "ring.pattern")
        self.assertEqual(told["queries"][0]["matches"], 1)

    def test_without_such_a_column_the_option_is_named(self):
        for name, content, columns, says in (
                ("g.csv", "source,target\nA,B\nB,C\n", (), "--columns time=NAME says which column or field holds it"),
                ("g.jsonl", '{"source":1,"target":2}\n', (), "--columns time=NAME says which column or field holds it"),
                ("g.txt", "1 2\n2 3\n", (), "name the column that holds it, as in --columns source,target,time"),
                ("p.csv", "A,B\nB,C\n", ("--columns", "source,target"), "as in --columns source,target,time"),
                ("g.graph", "v 1 A\nv 2 A\ne 1 2\n", ("--directed",), "give the edges with their times, for instance as csv")):
            with self.subTest(name):
                self.write(name, content)
                match = ("match", "--graph", name, "--edges", "events", *columns, "--query", PAIR)
                (code, where, what, remedy), = self.warnings(*match)
                self.assertEqual((code, where, what), ("time_absent", name, self.WHAT))
                self.assertIn(says, remedy)
        self.write("g.csv", "source,target,at\nA,B,5\nB,C,6\n")
        self.assertEqual(self.warnings("match", "--graph", "g.csv", "--edges", "events", "--columns", "time=", "--query", PAIR), [])

    def test_graph_files_without_times(self):
        self.write("g.csv", "source,target,time\nA,B,5\nB,C,6\n")
        match = ("match", "--graph", "g.dmg", "--edges", "events", "--query")
        self.ok("convert", "g.csv", "g.dmg", "--to", "graph")
        self.assertEqual(self.warnings(*match, PAIR), [
            ("time_absent", "g.dmg", self.WHAT, "write the file with --times, or leave times out of the queries")])
        self.assertEqual(self.warnings(*match, EDGE), [])
        self.ok("convert", "g.csv", "g.dmg", "--to", "graph", "--times")
        self.assertEqual(self.warnings(*match, PAIR), [])

    def test_an_edge_without_a_time_is_refused_for_what_needs_it(self):
        self.write("s.csv", "source,target\nA,B\n")
        events = ("replay", "--updates", "s.csv", "--edges", "events", "--query")
        outcome = self.fails(1, *events, EDGE + " WITHIN 1h", reports=True,
                             says="s.csv:2: missing_time: edge from `A` to `B` has no time, which a window or WITHIN needs; if no "
                                  "record has a time, leave WITHIN out; ")
        self.assertNotIn("--window", outcome.err)
        self.fails(1, *events, EDGE, "--window", "1h", reports=True, says="if no record has a time, leave --window out; ")

    def test_the_least_integer_is_no_time(self):
        least = -2**63
        for name, content, args in (("g.csv", f"source,target,time\nA,B,{least}\n", ("--time-unit", "us")),
                                    ("g.jsonl", f'{{"source":1,"target":2,"time":{least}}}\n', ())):
            self.write(name, content)
            self.fails(1, "match", "--graph", name, "--edges", "events", "--query", EDGE, *args,
                       says=f"bad_time: time `{least}` is not a time, or beyond the range")
            self.write(name, content.replace(str(least), str(least + 1)))
            self.assertEqual(self.run_program("match", "--graph", name, "--edges", "events", "--query", EDGE, *args).code, 0)


class Windows(DoubtfulQueries):
    def test_a_window_that_is_shorter_than_a_match(self):
        self.write("s.csv", "source,target,label,time\nA,B,T,0\nB,C,T,3600\nC,A,T,7200\n")
        replay = ("replay", "--updates", "s.csv", "--edges", "events", "--time-unit", "s", "--query")
        expected = [("window_short", "--window", "edges live for the window of 1h only, and matches of the query r may span 1d",
                     "make the window as long, or leave it out")]
        ring = "r=(a)-->(b)-->(c)-->(a) WITHIN 1d"
        self.assertEqual(self.warnings(*replay, ring, "--window", "1h"), expected)
        for window in ("1d", "2d"):
            self.assertEqual(self.warnings(*replay, ring, "--window", window), [])
        (_, _, what, _), = self.warnings(*replay, ring, "--window", "1d", "--allowed-lateness", "1h")
        self.assertEqual(what, "edges live for the window of 1d only, and matches of the query r may span 1d and come late by 1h")
        self.assertEqual(self.warnings(*replay, ring.replace(" WITHIN 1d", ""), "--window", "1h"), [])


class Labels(DoubtfulQueries):
    GRAPH = "source,target,label,source_label,target_label\nA,B,TRANSFER,Account,Account\nB,C,CARD,Account,Shop\n"

    def test_a_label_that_never_occurs_is_told_with_the_nearest_one(self):
        self.write("g.csv", self.GRAPH)
        for command in (("match", "--graph"), ("replay", "--batch", 1, "--updates"), ("replay", "--updates")):
            self.assertEqual(self.warnings(*command, "g.csv", "--query", "q=(a:Acount)-[:TRANFER]->(b:Shop|Thing)"), [
                ("label_absent", "query q", "no vertex has the label 'Acount'", "did you mean 'Account'?"),
                ("label_absent", "query q", "no vertex has the label 'Thing'", "check how the data spell it"),
                ("label_absent", "query q", "no edge has the label 'TRANFER'", "did you mean 'TRANSFER'?")])
            self.assertEqual(self.warnings(*command, "g.csv", "--query", "(a:Account|Shop)-[:TRANSFER|CARD]->(b)"), [])

    def test_data_without_labels(self):
        self.write("g.csv", "source,target\nA,B\n")
        self.assertEqual(self.warnings("match", "--graph", "g.csv", "--query", "q=(a:Account)-->(b:``|Shop)"), [
            ("label_absent", "query q", "no vertex has the label 'Account', nor any other",
             "name the columns that hold labels (source_label, target_label), or leave the label out of the pattern")])

        self.assertEqual(self.warnings("match", "--graph", "g.csv", "--query", "q=(a)-[:CARD]->(b)"), [
            ("label_absent", "query q", "no edge has the label 'CARD', nor any other",
             "name the columns that hold labels (label), give all edges one (--edge-label), or leave the label out of the pattern")])

    def test_a_label_that_occurred_and_went_is_not_missed(self):
        self.write("s.csv", "op,source,target,label,time\n+,A,B,OLD,0\n+,A,B,NEW,9000\n")
        for size in (1, 8192):
            replay = ("replay", "--updates", "s.csv", "--window", "1h", "--time-unit", "s", "--batch", size)
            self.assertEqual(self.warnings(*replay, "--query", "(a)-[:OLD]->(b)", "--query", "x=(a)-[:NEWS]->(b)"),
                             [("label_absent", "query x", "no edge has the label 'NEWS'", "did you mean 'NEW'?")])

    def test_graph_files_and_snapshots(self):
        self.write("g.csv", self.GRAPH)
        self.ok("convert", "g.csv", "g.dmg", "--to", "graph")
        self.ok("replay", "--updates", "g.csv", "--query", EDGE, "--save-snapshot", "g.dms")
        for source in (("--graph", "g.dmg"), ("--snapshot", "g.dms")):
            # Shops pay nothing, so nothing is loaded for the first query, and no shop for the second one.
            self.assertEqual(self.warnings("match", *source, "--query", "(a:Shop)-[:CARD]->(b:Account)"), [], source)
            self.assertEqual(self.warnings("match", *source, "--query", "(a:Shop)-[:CARD]->(b:Account)", "--query",
                                           "(a:Account)-[:TRANSFER]->(b)"), [], source)
            self.assertEqual([what for _, _, what, _ in self.warnings("match", *source, "--query", "(a:Shop)-[:CARB]->(b)")],
                             ["no edge has the label 'CARB'"], source)

    def test_an_empty_graph_has_no_labels(self):
        self.write("e.csv", "source,target\n")
        self.assertEqual([w[0] for w in self.warnings("match", "--graph", "e.csv", "--query", "(a:Account)-->(b)")], ["no_records"])


class Snapshots(DoubtfulQueries):
    def test_a_whole_graph_needs_no_memory_of_deletions(self):
        self.write("s.csv", "source,target,label,time\nA,B,T,0\nB,C,T,3600\n")
        within = ("--query", EDGE + " WITHIN 1d")
        self.ok("replay", "--updates", "s.csv", "--edges", "events", "--time-unit", "s", "--order", "time", *within,
                "--save-snapshot", "w.dms")
        match = self.json("match", "--snapshot", "w.dms", "--query", "q=(a)-->(b)")
        self.assertEqual(match["queries"][0]["matches"], 2)
        self.ok("explain", "--snapshot", "w.dms", "--query", "q=(a)-->(b)", "--whole")
        self.ok("explain", "--snapshot", "w.dms", *within)
        for command in (("explain",), ("replay", "--updates", "s.csv", "--time-unit", "s")):
            outcome = self.fails(2, *command, "--snapshot", "w.dms", "--query", "q=(a)-->(b)")
            self.assertEqual(outcome.err, "deltamatch: w.dms: its deletions would be remembered for ever, because it was made with "
                             "--order time and without a window, and the query q has no WITHIN; end each pattern with WITHIN TIME; "
                             "match and explain --whole take any pattern\n")


if __name__ == "__main__":
    harness.main()
