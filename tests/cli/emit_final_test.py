"""EMIT FINAL in replay and validate: what waits, what is reported once, and what is refused."""

import json

import harness

QUERY = ("unconfirmed=(a)-[t:PAY]->(b) WHERE NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE u.time >= t.time AND u.time <= t.time + 5m } "
         "EMIT FINAL")
HEAD = "op,source,target,label,time\n"


def rows(*records):
    return HEAD + "".join(f"{op},{source},{target},{label},{time}\n" for op, source, target, label, time in records)


class EmitFinal(harness.CliTest):
    def signs(self, stream, *args, query=QUERY, warns=None):
        self.write("s.csv", stream)
        totals = self.json("replay", "--updates", "s.csv", "--edges", "events", "--time-unit", "s", "--query", query, "--emit", "matches",
                           "--out", "o.jsonl", *args, warns=warns)["queries"][0]
        lines = [json.loads(line) for line in self.read("o.jsonl").splitlines()]
        self.assertEqual((totals["new"], totals["removed"]), (len(lines), 0))
        return [(line["batch"], line["sign"], line["bindings"]["a"]) for line in lines], totals["waiting"]

    def test_a_payment_that_nobody_confirms_is_one_alert(self):
        stream = rows(("+", "a", "s", "PAY", 0), ("+", "b", "s", "PAY", 10), ("+", "s", "b", "CONFIRM", 300), ("+", "c", "s", "PAY", 300),
                      ("+", "s", "c", "CONFIRM", 601), ("+", "d", "s", "PAY", 610))
        found, waiting = self.signs(stream, "--batch", 1)
        self.assertEqual(sorted(found), [(5, "+", "a"), (5, "+", "c")])  # the watermark is then later than 0 + 300 and 300 + 300
        self.assertEqual(waiting, 1)
        for size in (2, 3, 6):
            again, still = self.signs(stream, "--batch", size)
            self.assertEqual((sorted(line[2] for line in again), still), (["a", "c"], 1), size)

    def test_what_goes_while_it_waits_is_not_reported(self):
        found, waiting = self.signs(rows(("+", "a", "s", "PAY", 0), ("-", "a", "s", "PAY", 200), ("+", "x", "y", "OTHER", 900)), "--batch", 1)
        self.assertEqual((found, waiting), ([], 0))

    def test_what_comes_later_changes_nothing(self):
        found, _ = self.signs(rows(("+", "a", "s", "PAY", 0), ("+", "x", "y", "OTHER", 301), ("+", "s", "a", "CONFIRM", 100),
                                   ("-", "a", "s", "PAY", 400)), "--batch", 1, warns=harness.OUT_OF_ORDER)
        self.assertEqual(found, [(2, "+", "a")])

    def test_lateness_is_waited_for(self):
        found, _ = self.signs(rows(("+", "a", "s", "PAY", 0), ("+", "x", "y", "OTHER", 301), ("+", "s", "a", "CONFIRM", 100),
                                   ("+", "x", "y", "OTHER", 900)), "--batch", 1, "--allowed-lateness", "1m", query=QUERY.replace("EMIT", "WITHIN 1h EMIT"),
                              warns=harness.OUT_OF_ORDER)
        self.assertEqual(found, [])

    def test_a_night_without_records_loses_nothing(self):
        stream = rows(("+", "a", "s", "PAY", 0), ("+", "b", "s", "PAY", 1), ("+", "s", "b", "CONFIRM", 2), ("+", "x", "y", "OTHER", 80_000))
        for args in (("--window", "10m"), ("--window", "6m"), ()):
            for size in (1, 2, 4):
                found, waiting = self.signs(stream, "--batch", size, *args)
                self.assertEqual(([line[2] for line in found], waiting), (["a"], 0), (args, size))

    def test_a_snapshot_goes_on_where_it_was_made(self):
        first = rows(("+", "a", "s", "PAY", 0), ("+", "b", "s", "PAY", 10))
        rest = rows(("+", "s", "b", "CONFIRM", 20), ("+", "x", "y", "OTHER", 900))
        self.write("first.csv", first)
        self.write("rest.csv", rest)
        run = ("replay", "--time-unit", "s", "--query", QUERY, "--emit", "matches", "--out", "o.jsonl")
        half = self.json(*run, "--edges", "events", "--updates", "first.csv", "--save-snapshot", "half.dms")["queries"][0]
        self.assertEqual((half["new"], half["waiting"]), (0, 2))
        self.json(*run, "--snapshot", "half.dms", "--updates", "rest.csv")
        self.assertEqual([line["bindings"]["a"] for line in self.lines("o.jsonl")], ["a"])

    def test_it_goes_together_with_alert_once(self):
        stream = rows(*(("+", source, "s", "PAY", 10 * number) for number, source in enumerate("abcd")), ("+", "x", "y", "OTHER", 900))
        for size in (1, 5):
            found, _ = self.signs(stream, "--batch", size, query=QUERY + " ALERT ONCE PER (b) EVERY 25s")
            self.assertEqual(sorted(line[2] for line in found), ["a", "d"])

    def test_it_is_shown(self):
        shown = self.ok("validate", "--query", QUERY, "--edges", "events").out
        self.assertIn("EMIT FINAL", shown)
        self.assertIn("emitted once, when the watermark has passed t.time + 5m", shown)
        self.write("s.csv", rows(("+", "a", "s", "PAY", 0)))
        table = self.ok("replay", "--updates", "s.csv", "--edges", "events", "--time-unit", "s", "--query", QUERY).out
        self.assertRegex(table, r"query +new +removed +waiting +time\n")
        self.assertRegex(table, r"unconfirmed +0 +0 +1 ")

    def test_what_could_wait_for_ever_is_refused_with_place_and_remedy(self):
        for pattern, place, remedy in (
                ("(a)-[t:PAY]->(b) WHERE NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE u.time >= t.time } EMIT FINAL", ":1:83: EMIT FINAL has to know the latest time of 'u'",
                 "u.time <= t.time + 5m"),
                ("(a)-[t:PAY]->(b) WHERE NOT EXISTS { (b)-[:CONFIRM]->(a) } EMIT FINAL", ":1:59: EMIT FINAL has to know the latest time of the edge from 'b' to 'a'",
                 "bound it"),
                ("(a)-[t:PAY]->(b) WHERE t.time > datetime('2026-01-01') EMIT FINAL", ":1:56: EMIT FINAL without COUNT or EXISTS", "leave it out"),
                ("(a)-[t:PAY]->(b) EMIT CHANGES", ":1:23: expected FINAL", "write EMIT FINAL")):
            refused = self.run_program("validate", "--query", "q=" + pattern, "--edges", "events")
            self.assertEqual(refused.code, 78, refused)
            self.assertIn(place, refused.err)
            self.assertIn(remedy, refused.err)

    def test_a_window_that_is_too_short_is_refused(self):
        self.write("s.csv", rows(("+", "a", "s", "PAY", 0)))
        refused = self.run_program("replay", "--updates", "s.csv", "--edges", "events", "--time-unit", "s", "--query", QUERY, "--window", "5m")
        self.assertEqual(refused.code, 78, refused)
        self.assertIn("EMIT FINAL waits up to 5m for an edge, but the window is 5m", refused.err)
        self.assertIn("set a window longer than 5m", refused.err)


if __name__ == "__main__":
    harness.main()
