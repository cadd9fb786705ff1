"""--order time: late records take their place by time, across batches and restarts, or the option is refused."""

import harness

EDGE = "e=(a)-[:T]->(b)"
# The deletion overtakes the insertion.
OVERTAKEN = ('{"op":"-","source":"A","target":"B","label":"T","time":2000000}\n'
             '{"op":"+","source":"A","target":"B","label":"T","time":1000000}\n')


class Order(harness.CliTest):
    def run_of(self, name, *args):
        return ("replay", "--updates", name, "--query", EDGE + (" WITHIN 30d" if "--window" not in args else ""), "--time-unit", "s",
                *args)

    def test_an_insertion_that_its_deletion_overtook_leaves_no_edge(self):
        self.write("s.jsonl", OVERTAKEN)
        for size in (1, 8192):
            for edges in ((), ("--edges", "events")):
                run = self.run_of("s.jsonl", "--window", "30d", "--batch", size, *edges)
                self.assertEqual(self.json(*run)["graph"]["edges"], 1)
                self.assertEqual(self.json(*run, "--order", "arrival")["graph"]["edges"], 1)
                done = self.json(*run, "--order", "time")
                self.assertEqual((done["graph"]["edges"], done["ignored"]["superseded"]), (0, 1), run)
            within = self.json(*self.run_of("s.jsonl", "--edges", "events", "--order", "time", "--batch", size), warns=harness.OUT_OF_ORDER)
            self.assertEqual((within["graph"]["edges"], within["ignored"]["superseded"]), (0, 1))

    def test_a_deletion_older_than_the_edge_removes_nothing(self):
        self.write("s.csv", "op,source,target,label,time\n+,A,B,T,100\n+,A,B,T,300\n-,A,B,T,200\n")
        for size in (1, 2, 8192):
            run = self.run_of("s.csv", "--window", "1h", "--batch", size)
            self.assertEqual(self.json(*run)["graph"]["edges"], 0)
            self.assertEqual(self.json(*run, "--order", "time")["graph"]["edges"], 1)

    def test_of_the_records_of_a_key_the_newest_counts(self):
        self.write("s.csv", "op,source,target,label,time,edge\n+,A,B,T,300,k\n+,A,C,T,200,k\n-,A,B,T,250,k\n-,A,B,T,400,j\n+,A,B,T,399,j\n")
        for size in (1, 2, 8192):
            run = self.run_of("s.csv", "--window", "1h", "--edges", "keyed", "--batch", size, "--save-snapshot", "s.dms")
            self.json(*run, "--order", "time")
            lines = self.ok("snapshot", "export", "s.dms").out.splitlines()
            self.assertEqual([line for line in lines if "source" in line],
                             ['{"source":"A","target":"B","label":"T","time":300000000,"edge":"k"}'])

    def test_a_snapshot_remembers_deletions_and_brings_its_order(self):
        first, second = OVERTAKEN.splitlines(keepends=True)
        self.write("1.jsonl", first)
        self.write("2.jsonl", second)
        for edges in ((), ("--edges", "events")):
            self.ok(*self.run_of("1.jsonl", "--window", "30d", "--order", "time", "--save-snapshot", "s.dms", *edges))
            self.assertEqual(self.json("snapshot", "info", "s.dms")["order"], "time")
            self.assertIn("order   time\n", self.ok("snapshot", "info", "s.dms").out)
            self.ok("snapshot", "verify", "s.dms")
            again = self.run_of("2.jsonl", "--window", "30d", "--snapshot", "s.dms")
            for order in ((), ("--order", "time")):
                self.assertEqual(self.json(*again, *order)["graph"]["edges"], 0)
            self.fails(2, *again, "--order", "arrival", says="the snapshot s.dms was made with the other order")
        self.ok(*self.run_of("1.jsonl", "--window", "30d", "--save-snapshot", "s.dms"))
        self.assertNotIn("order", self.json("snapshot", "info", "s.dms"))
        self.fails(2, *again, "--order", "time", says="the snapshot s.dms was made with the other order")

    def test_it_is_refused_if_deletions_would_be_remembered_for_ever(self):
        self.write("s.jsonl", OVERTAKEN)
        run = ("replay", "--updates", "s.jsonl", "--order", "time")
        outcome = self.fails(2, *run, "--query", EDGE)
        self.assertEqual(outcome.err, "deltamatch: --order time: deletions would be remembered for ever, because there is no window; "
                         "give --window, or --edges keyed or events and patterns that end with WITHIN TIME\n")
        outcome = self.fails(2, *run, "--edges", "events", "--query", "w=(a)-->(b) WITHIN 1h", "--query", EDGE)
        self.assertEqual(outcome.err, "deltamatch: --order time: deletions would be remembered for ever, because there is no window "
                         "and the query e has no WITHIN; give --window, or end each pattern with WITHIN TIME\n")


if __name__ == "__main__":
    harness.main()
