"""generate payments, and the patterns of config/patterns: what the program reports is what an independent search finds."""

import collections
import csv
import pathlib
import random
import subprocess
import sys

import harness
import payments_oracle as oracle

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERNS = [part for name in oracle.CONDITIONS for part in ("--query", ROOT / "config" / "patterns" / f"{name}.pattern")]
KEYED = ["--edges", "keyed", "--attributes", "amount:decimal(2)", *PATTERNS, "--emit", "matches", "--out", "a.jsonl"]
CROWDED = {"records": 4000, "accounts": 1000, "merchants": 6, "planted": 8, "decoys": 2, "duration": "4d"}


def keys_of(alert):
    """The keys of a match in order, joined. The steps of a path stand in a list of their own."""
    return " ".join(step["key"] for edge in alert["edges"] for step in (edge if isinstance(edge, list) else [edge]))


class Payments(harness.CliTest):
    def generate(self, name="p.csv", **more):
        options = [part for key, value in {**CROWDED, **more}.items() for part in ("--" + key.replace("_", "-"), value)]
        self.ok("generate", "payments", *options, "--updates", name, "--truth", "t.csv")
        with open(self.dir / "t.csv", encoding="utf-8", newline="") as file:
            self.truth = list(csv.DictReader(file))

    def found(self, *more):
        """What the program reports, as (sign, pattern, keys), as counts."""
        self.ok("replay", "--updates", "p.csv", *KEYED, *more)
        return collections.Counter((alert["sign"], alert["query"], keys_of(alert)) for alert in self.lines("a.jsonl"))

    def planted(self):
        """What the truth says, in the same form."""
        rows = [row for row in self.truth if row["kind"] == "planted"]
        return collections.Counter([("+", row["pattern"], row["keys"]) for row in rows] +
                                   [("-", row["pattern"], row["keys"]) for row in rows if row["recalled"]])

    def test_what_is_planted_is_all_there_is(self):
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                self.generate(seed=seed, charge_backs=0.05, recalled=0.4)
                expected = oracle.alerts(*oracle.read(self.dir / "p.csv"))
                self.assertEqual(expected, self.planted())
                self.assertGreater(sum(sign == "-" for sign, _, _ in expected), 6)
                self.assertEqual(self.found("--batch", 1), expected)

    def test_batches_do_not_change_what_is_found(self):
        self.generate(seed=4, charge_backs=0, recalled=0)
        expected = oracle.alerts(*oracle.read(self.dir / "p.csv"))
        self.assertEqual(expected, self.planted())
        for batch in (1, 20, 100, 4000):
            self.assertEqual(self.found("--batch", batch), expected, batch)

    def test_charge_backs_in_small_batches(self):
        self.generate(seed=9, charge_backs=0.05, recalled=1)
        self.assertEqual(self.found("--batch", 20), self.planted())

    def test_each_decoy_misses_one_condition(self):
        self.generate(seed=5)
        payments, _ = oracle.read(self.dir / "p.csv")
        kinds = collections.Counter()
        for row in self.truth:
            holds = oracle.CONDITIONS[row["pattern"]](*([payments[key] for key in row[name].split()] for name in ("keys", "counted")))
            missed = [name for name, held in holds.items() if not held]
            self.assertEqual(missed, [row["misses"]] if row["kind"] == "decoy" else [], row)
            kinds[row["pattern"], row["misses"]] += 1
        self.assertEqual(collections.Counter(kinds.values()), {8: 5, 2: 23})

    def test_matches_by_chance_are_found_too(self):
        """The same payments with few different amounts, with transfers among few accounts, and with more charge-backs. Half of
        them come in five hours."""
        self.generate(seed=6, planted=2, decoys=1, accounts=400, merchants=2, charge_backs=0.05, duration="40h")
        draw = random.Random(6)
        with open(self.dir / "p.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        gone = {row["txn_id"] for row in rows if row["op"] == "-"}
        begin, ends, changed = float(rows[0]["time"]), {}, []
        for row in rows:
            passed = (float(row["time"]) - begin) / 3600
            row["time"] = f"{begin + 3600 * (passed / 4 if passed < 20 else 5 + (passed - 20) * 1.75):.6f}"
            if row["op"] == "+":
                row["amount"] = draw.choice(["600.00", "600.00", "650.00", "999.99", "1445.00", "1700.00", "2000.00", "2400.00"])
            if row["label"] == "TRANSFER":
                source, target = int(40 * draw.random() ** 2), int(40 * draw.random() ** 3)
                drawn = (f"acct-{source}", f"acct-{target if target != source else 40}")
                row["source"], row["target"] = ends.setdefault(row["txn_id"], drawn)
            changed.append(row)
            back = draw.choice(changed[-300:])
            if draw.random() < 0.05 and back["txn_id"] not in gone:
                gone.add(back["txn_id"])
                changed.append({**back, "op": "-", "time": row["time"], "amount": "", "channel": ""})
        with open(self.dir / "p.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(changed)
        expected = oracle.alerts(*oracle.read(self.dir / "p.csv"))
        signs = collections.Counter((pattern, sign) for sign, pattern, _ in expected.elements())
        self.assertTrue(all(signs[name, "+"] > 20 and signs[name, "-"] > 0 for name in oracle.CONDITIONS), signs)
        self.assertEqual(self.found("--batch", 1), expected)

    def test_the_digest_of_the_demo(self):
        self.generate("payments.csv", seed=8)
        (self.dir / "t.csv").rename(self.dir / "planted.csv")
        done = self.ok("replay", "--updates", "payments.csv", *KEYED[:-1], "alerts.jsonl", "--batch", 50, "--json")
        self.write("report.json", done.out)
        digest = subprocess.run([sys.executable, "-B", ROOT / "scripts" / "demo_digest.py", self.dir], capture_output=True, text=True,
                                check=False)
        self.assertEqual(digest.returncode, 0, digest.stdout + digest.stderr)
        self.assertIn("found = planted: 40 of 40; wrongly reported: 0, beside 46 decoys", digest.stdout)
        self.assertRegex(digest.stdout, r"the first ring, planted as ring-\d+:\n  when +from +to +amount +key\n"
                                        r"(  [-\d]+ [:\d]+  acct-\d+ +acct-\d+ +\d,\d{3}\.\d\d  tx-\d+\n){3,6}\n"
                                        r"the first smurfing, planted as smurfing-\d+, with \d+ payments that count:\n")

    def test_every_model_of_edges_and_both_formats_read_the_stream(self):
        self.generate(seed=7)
        keyed = self.found("--batch", 50)
        self.assertEqual(keyed, self.planted())
        self.generate("p.jsonl", seed=7, format="jsonl")
        self.ok("replay", "--updates", "p.jsonl", *KEYED, "--batch", 50)
        self.assertEqual(len(self.lines("a.jsonl")), keyed.total())
        self.ok("replay", "--updates", "p.csv", "--edges", "events", *KEYED[2:], "--batch", 50)
        new = collections.Counter(alert["query"] for alert in self.lines("a.jsonl") if alert["sign"] == "+")
        self.assertEqual(new, {name: 8 for name in oracle.CONDITIONS})
        ring = "ring=(a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)"
        simple = self.json("replay", "--updates", "p.csv", "--query", ring, "--batch", 1)
        of_three = sum(row["pattern"] == "ring" and len(row["keys"].split()) == 3 for row in self.truth)
        self.assertGreater(of_three, 2 + 2 * 2)
        self.assertEqual(simple["queries"][0]["new"], of_three, "decoys are rings, too")


if __name__ == "__main__":
    harness.main()
