"""generate: the same options give the same bytes, and its output can be replayed."""

import json

import harness


class Generate(harness.CliTest):
    def test_payments(self):
        args = ["generate", "payments", "--records", 3000, "--planted", 2, "--accounts", 500, "--seed", 7]
        out = self.ok(*args, "--updates", "p.csv", "--truth", "t.csv").out
        self.assertRegex(out, r"inserts, [\d,]+ deletes; planted: ring 2 smurfing 2 refund_round_trip 2 fee_chain 2 unpaid_refund 2; decoys: 23\n")
        self.ok(*args, "--updates", "again.csv", "--truth", "t2.csv")
        self.assertEqual(self.read("p.csv"), self.read("again.csv"))
        self.assertEqual(self.read("t.csv"), self.read("t2.csv"))
        piped = self.run_program(*args, "--updates", "-")
        self.assertEqual((piped.code, piped.out), (0, self.read("p.csv")))
        self.assertIn("planted: ring 2", piped.err)
        result = self.json("replay", "--updates", "p.csv", "--edges", "keyed", "--query", "p=(a:Account)-[:REFUND|PAYMENT]-(b)")
        self.assertEqual(result["updates"], 3000)
        rows = [row.split(",") for row in self.read("t.csv").splitlines()]
        self.assertEqual([row[1] for row in rows].count("ring"), 2 + 6)
        self.assertEqual([row[2] for row in rows].count("planted"), 10)

    def test_payments_as_jsonl(self):
        args = ["generate", "payments", "--records", 2000, "--planted", 1, "--accounts", 300]
        self.ok(*args, "--updates", "p.csv")
        self.ok(*args, "--updates", "p.jsonl", "--format", "jsonl")
        results = [self.json("replay", "--updates", name, "--query", "e=(a)-[:TRANSFER]->(b)") for name in ["p.csv", "p.jsonl"]]
        self.assertEqual(self.untimed(results[0]["queries"]), self.untimed(results[1]["queries"]))

    def test_rmat_and_chung_lu(self):
        for args in [["rmat", "--scale", 7, "--edge-factor", 4], ["rmat", "--scale", 7, "--edge-factor", 4, "--directed"],
                     ["chung-lu", "--vertices", 200, "--edges", 600, "--max-degree", 50]]:
            with self.subTest(args=args):
                command = ["generate", *args, "--insertions", 0.2, "--deletions", 0.1, "--noise", 0.5, "--graph", "g.graph",
                           "--updates", "s.txt"]
                out = self.ok(*command).out
                graph, stream = self.read("g.graph"), self.read("s.txt")
                self.ok(*command)
                self.assertEqual((graph, stream), (self.read("g.graph"), self.read("s.txt")))
                self.ok(*command, "--seed", 2)
                self.assertNotEqual(stream, self.read("s.txt"))
                piped = self.run_program(*command[:-1], "-")
                self.assertEqual((piped.code, piped.out, piped.err), (0, stream, out))
                direction = ["--directed"] if "--directed" in args else []
                self.assertEqual("--directed" in out, "--directed" in args)
                replayed = self.run_program("replay", "--graph", "g.graph", "--updates", "s.txt", "--query", "e=(a)--(b)", "--batch", 1, "--json",
                                            *direction)
                result = json.loads(replayed.out)
                self.assertEqual([warning["code"] for warning in result["warnings"]], ["absent_deletes"])  # noise
                ignored = result["ignored"]
                self.assertGreater(ignored["duplicate_insert"], 0)
                self.assertGreater(ignored["absent_delete"], 0)
                self.assertEqual(result["updates"] - sum(ignored.values()),
                                 result["queries"][0]["new"] + result["queries"][0]["removed"])

    def test_bad_options(self):
        for args in [["payments", "--updates", "p", "--exponent", "1"], ["payments", "--updates", "p", "--recalled", "2"],
                     ["rmat", "--graph", "g", "--scale", 31], ["rmat", "--graph", "g", "--scale", 2, "--edge-factor", 100],
                     ["rmat", "--graph", "g", "--a", "nan"], ["chung-lu", "--graph", "g", "--exponent", 2],
                     ["payments", "--updates", "p", "--planted", 50000]]:
            with self.subTest(args=args):
                self.fails(2, "generate", *args)

    def test_unwritable(self):
        self.fails(1, "generate", "rmat", "--scale", 3, "--edge-factor", 1, "--graph", "no/such/g", says="no/such/g")
        self.fails(1, "generate", "payments", "--records", 10, "--planted", 0, "--updates", "no/such/p", says="no/such/p")


if __name__ == "__main__":
    harness.main()
