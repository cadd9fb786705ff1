"""A vertex without a label takes its first one from a later record, for all kinds of records and inputs."""

import json

import harness

FLAGGED = "f=(a:Flagged)-[:T]->(b)"
ANY = "e=(a)-[:T]->(b)"
JSONL = ('{"source":"a","target":"b","label":"T"}\n{"source":"c","target":"a","label":"T"}\n'
         '{"source":"a","target":"d","label":"U","source_label":"Flagged"}\n')
CSV = "source,target,label,source_label\na,b,T,\nc,a,T,\na,d,U,Flagged\n"


class FirstLabel(harness.CliTest):
    def deltas(self, *args):
        told = json.loads(self.ok("replay", "--query", FLAGGED, "--query", ANY, "--json", *args).out)
        return [(query["new"], query["removed"]) for query in told["queries"]]

    def test_edges_before_the_label_count(self):
        for name, text in ("s.jsonl", JSONL), ("s.csv", CSV):
            self.write(name, text)
            for batch in 1, 2, 3:
                self.assertEqual(self.deltas("--updates", name, "--batch", batch), [(1, 0), (2, 0)], (name, batch))
            told = json.loads(self.ok("match", "--graph", name, "--query", FLAGGED, "--json").out)
            self.assertEqual(told["queries"][0]["matches"], 1)

    def test_a_label_that_comes_after_the_start_graph(self):
        self.write("g.jsonl", "".join(JSONL.splitlines(keepends=True)[:2]))
        self.write("s.jsonl", JSONL.splitlines()[2] + "\n")
        self.assertEqual(self.deltas("--graph", "g.jsonl", "--updates", "s.jsonl"), [(1, 0), (0, 0)])

    def test_the_alert_names_the_edge_of_before_as_its_cause_and_what_stays_is_not_told(self):
        self.write("s.jsonl", JSONL)
        self.ok("replay", "--updates", "s.jsonl", "--batch", 2, "--query", FLAGGED, "--query", ANY, "--emit", "matches", "--out", "o")
        alerts = [json.loads(line) for line in self.read("o").splitlines()]
        (alert,) = [alert for alert in alerts if alert["batch"] == 2]
        self.assertEqual((alert["query"], alert["sign"], alert["edges"]), ("f", "+", [["a", "T", "b"]]))
        self.assertEqual(alert["cause"], [0])
        self.assertEqual(len(alerts), 3)

    def test_a_deletion_gives_no_label(self):
        insert = '{"source":"a","target":"b","label":"T"}\n{"source":"a","target":"c","label":"T"}\n'
        delete = '{"op":"-","source":"%s","target":"%s","label":"T","source_label":"Flagged"}\n'
        for source, target, removed in (("a", "c", 1), ("a", "x", 0), ("x", "y", 0)):  # the edge exists, or one end, or nothing
            for batch in 1, 2, 3:
                with self.subTest(source=source, target=target, batch=batch):
                    self.write("s.jsonl", insert + delete % (source, target))
                    flagged, (new, gone) = self.deltas("--updates", "s.jsonl", "--batch", batch)
                    self.assertEqual((flagged, new - gone), ((0, 0), 2 - removed))
        # It states no label, so a later record may state another first label.
        self.write("s.jsonl", insert + delete % ("a", "c") + '{"source":"a","target":"d","label":"T","source_label":"Other"}\n')
        self.assertEqual(self.deltas("--updates", "s.jsonl", "--batch", 1)[0], (0, 0))

    def test_a_deletion_that_states_another_label_is_refused(self):
        self.write("s.jsonl", JSONL + '{"op":"-","source":"a","target":"b","label":"T","source_label":"Other"}\n')
        outcome = self.run_program("replay", "--updates", "s.jsonl", "--query", FLAGGED)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("s.jsonl:4: label_conflict", outcome.err)

    def test_labels_that_come_late_under_a_window_depend_on_the_cuts(self):
        hour = 3600
        self.write("s.csv", "source,target,label,source_label,time\n" + "".join(
            f"{edge},{label},{1_700_000_000 + int(time * hour)}\n" for edge, label, time in
            (("a,b,T", "", 0), ("x,y,T", "", 1), ("a,c,T", "Flagged", 23.5), ("x,z,T", "", 24.5))))
        window = ["--updates", "s.csv", "--window", "24h"]
        self.assertEqual(self.deltas(*window, "--batch", 1)[0], (2, 1))
        self.write("cuts", "3\n2\n")  # the header is a line
        self.assertEqual(self.deltas(*window, "--cuts", "cuts")[0], (1, 0))  # a b has expired when the label comes

    def test_a_second_label_is_refused_with_its_place(self):
        self.write("s.jsonl", JSONL + '{"source":"a","target":"e","label":"T","source_label":"Other"}\n')
        outcome = self.run_program("replay", "--updates", "s.jsonl", "--query", FLAGGED)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("s.jsonl:4: label_conflict", outcome.err)


if __name__ == "__main__":
    harness.main()
