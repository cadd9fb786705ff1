"""ALERT ONCE in replay, validate, explain and match: what is left out, what is counted, and what a snapshot remembers."""

import json

import harness

FAN = "fan=(s:Account)-[t:PAYS]->(hub:Account) ALERT ONCE PER (hub) EVERY 1h"
HEAD = "op,source,target,label,source_label,target_label,time\n"
MINUTES = [("a", "h", 0), ("b", "h", 30), ("b", "k", 31), ("c", "h", 60), ("d", "h", 100), ("e", "h", 121)]


class AlertOnce(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.lines = [f"+,{s},{t},PAYS,Account,Account,{minute * 60}\n" for s, t, minute in MINUTES]
        self.write("s.csv", HEAD + "".join(self.lines))

    def run_replay(self, *args):
        return self.json("replay", "--edges", "events", "--time-unit", "s", "--query", FAN, *args)["queries"][0]

    def signs(self, *args):
        self.run_replay("--emit", "matches", "--out", "o.jsonl", *args)
        return [(line["sign"], line["bindings"]["s"], line["bindings"]["hub"])
                for line in map(json.loads, self.read("o.jsonl").splitlines())]

    def test_one_alert_an_hour_whatever_the_size_of_batches(self):
        expected = [("+", "a", "h"), ("+", "b", "k"), ("+", "c", "h"), ("+", "e", "h")]
        for size in (1, 2, 3, 6):
            for threads in (1, 3):
                found = self.signs("--updates", "s.csv", "--batch", size, "--threads", threads)
                self.assertEqual(sorted(found), expected, size)

    def test_only_what_was_reported_vanishes(self):
        gone = "".join(f"-,{s},h,PAYS,,,{9000 + number}\n" for number, s in enumerate("abce"))
        self.write("d.csv", HEAD + "".join(self.lines) + gone)
        found = self.signs("--updates", "d.csv", "--batch", 1)
        self.assertEqual([line for line in found if line[0] == "-"], [("-", "a", "h"), ("-", "c", "h"), ("-", "e", "h")])

    def test_counts_and_digests_are_of_what_is_reported(self):
        counted = self.run_replay("--updates", "s.csv", "--batch", 1)
        self.assertEqual((counted["new"], counted["removed"], counted["suppressed"]), (4, 0, 2))
        digests = [self.run_replay("--updates", "s.csv", "--batch", size, "--emit", "digest") for size in (1, 6)]
        self.assertEqual(*self.untimed(digests))
        self.assertEqual(digests[0]["suppressed"], 2)
        self.ok("replay", "--edges", "events", "--time-unit", "s", "--query", FAN, "--updates", "s.csv", "--batch", 2, "--batches", "b.jsonl")
        lines = [json.loads(line)["queries"][0] for line in self.read("b.jsonl").splitlines()]
        self.assertEqual([line["suppressed"] for line in lines], [1, 0, 1])
        table = self.ok("replay", "--edges", "events", "--time-unit", "s", "--query", FAN, "--query", "all=(a)-[:PAYS]->(b)", "--updates", "s.csv").out
        self.assertRegex(table, r"query +new +removed +suppressed +time\n")
        self.assertRegex(table, r"fan +4 +0 +2 ")
        self.assertRegex(table, r"all +6 +0 +- ")

    def test_a_snapshot_goes_on_where_it_was_made(self):
        self.write("first.csv", HEAD + "".join(self.lines[:2]))
        self.write("rest.csv", HEAD + "".join(self.lines[2:]))
        whole = self.run_replay("--updates", "s.csv", "--batch", 1, "--emit", "digest")
        first = self.run_replay("--updates", "first.csv", "--batch", 1, "--save-snapshot", "half.dms")
        rest = self.json("replay", "--snapshot", "half.dms", "--time-unit", "s", "--query", FAN, "--updates", "rest.csv", "--batch", 1)["queries"][0]
        self.assertEqual(first["new"] + rest["new"], whole["new"])
        self.assertEqual(first["suppressed"] + rest["suppressed"], whole["suppressed"])
        other = self.json("replay", "--snapshot", "half.dms", "--time-unit", "s", "--query", FAN.replace("1h", "61m"), "--updates", "rest.csv",
                          "--batch", 1)["queries"][0]
        self.assertEqual(other["suppressed"], 1)  # another definition remembers nothing of this one

    def test_it_is_shown_and_taken_no_notice_of_in_a_whole_graph(self):
        shown = self.ok("validate", "--query", FAN, "--edges", "events").out
        self.assertIn("ALERT ONCE PER (hub) EVERY 1h", shown)
        self.assertIn("alerts: one new match per (hub) every 1h of event time; others are counted as suppressed", shown)
        self.write("g.csv", "source,target,label,source_label,target_label,time\n" + "".join(line[2:] for line in self.lines))
        explained = self.ok("explain", "--query", FAN, "--edges", "events", "--graph", "g.csv", "--time-unit", "s").out
        self.assertIn("alerts: one new match per (hub)", explained)
        self.assertEqual(self.json("match", "--graph", "g.csv", "--edges", "events", "--time-unit", "s", "--query", FAN)["queries"][0]["matches"], 6)

    def test_what_is_wrong_is_refused_with_place_and_remedy(self):
        for pattern, place in (("(a)-->(b) ALERT ONCE PER (c) EVERY 1h", ":1:27: no vertex is named 'c'"),
                               ("(a)-->(b) ALERT ONCE PER (a)", ":1:29: expected EVERY"),
                               ("(a)-->(b)-->(c)-->(a) ALERT ONCE PER (a) EVERY 1h", "can change places with 'b'")):
            refused = self.run_program("validate", "--query", "q=" + pattern)
            self.assertEqual(refused.code, 78)
            self.assertIn(place, refused.err)


if __name__ == "__main__":
    harness.main()
