"""A batch with more matches than anyone waits for: --timeout, --max-matches, progress within a batch, and interrupts."""

import json
import signal
import subprocess
import time

import harness

STAR = "star=(h)-->(a), (h)-->(b), (h)-->(c), (h)-->(d), (h)-->(e)"
EDGE = "edge=(a)-->(b)"
FIRST = 20  # edges of the first batch, apart from the hub
HUB = "".join(f"+\t{1000000 + i}\t{2000000 + i}\n" for i in range(FIRST)) + "".join(f"+\t0\t{v}\n" for v in range(1, 3001))
GENEROUS = 60  # seconds, for a busy machine


class ExplodingBatch(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("hub.tsv", HUB)
        # The first batch is harmless. The second one has the hub.
        self.write("cuts", f"{FIRST}\n3000\n")

    def replay(self, *args):
        return ["replay", "--updates", "hub.tsv", "--cuts", "cuts", "--query", STAR, "--query", EDGE, *args]

    def report(self, outcome, code):
        self.assertEqual(outcome.code, code, outcome)
        return json.loads(outcome.out)


class Timeout(ExplodingBatch):
    def test_the_batch_at_hand_is_abandoned_and_all_before_it_holds(self):
        for emit in (["--emit", "matches", "--out", "m.jsonl"], ["--emit", "digest"]):
            with self.subTest(emit=emit):
                outcome = self.run_program(*self.replay("--timeout", "2s", "--json", "--batches", "b", "--save-snapshot", "x", *emit))
                told = self.report(outcome, 1)
                self.assertEqual((told["complete"], told["partial"], told["batches"], told["abandoned_batch"], told["updates"]),
                                 (False, "timeout", 1, 2, FIRST))
                self.assertEqual([(q["name"], q["new"], q["complete"], q["partial"]) for q in told["queries"]],
                                 [("star", 0, False, "timeout"), ("edge", FIRST, False, "timeout")])
                self.assertIn("stopped by --timeout after 1 batch, so the answer is partial", outcome.err)
                self.assertEqual([line["batch"] for line in self.lines("b")], [1])
                info = self.json("snapshot", "info", "x")
                self.assertEqual(info["graph"]["edges"], FIRST)
        lines = self.lines("m.jsonl")
        self.assertEqual(lines[-2:], [{"v": 1, "query": "star", "partial": "timeout", "matches": 0},
                                      {"v": 1, "query": "edge", "partial": "timeout", "matches": FIRST}])
        self.assertEqual({line["batch"] for line in lines[:-2]}, {1})

    def test_the_table_says_so(self):
        outcome = self.run_program(*self.replay("--timeout", "2s", "--emit", "matches", "--out", "m"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("INCOMPLETE", outcome.out)
        self.assertIn("abandoned batch 2", outcome.out)
        self.assertIn(f"at least {FIRST}", outcome.out)

    def test_time_that_is_enough_changes_nothing(self):
        self.write("few.txt", "1 2\n2 3\n")
        self.ok("replay", "--updates", "few.txt", "--query", EDGE, "--timeout", "10m", "--max-matches", 2)


class MaxMatches(ExplodingBatch):
    def test_a_query_beyond_them_is_partial_and_the_other_is_whole(self):
        outcome = self.run_program(*self.replay("--max-matches", 5000, "--json", "--batches", "b", "--emit", "matches", "--out", "m.jsonl"))
        told = self.report(outcome, 1)
        star, edge = told["queries"]
        self.assertEqual((star["new"], star["complete"], star["partial"], star["partial_batches"]), (5000, False, "limit", 1))
        self.assertEqual(self.untimed([edge]), [{"name": "edge", "new": FIRST + 3000, "removed": 0}])
        self.assertEqual((told["complete"], told["batches"]), (False, 2))
        self.assertIn("query star: stopped by --max-matches in 1 batch, first in batch 2, so the answer is partial", outcome.err)
        first, second = [line["queries"] for line in self.lines("b")]
        self.assertNotIn("complete", first[0])
        self.assertEqual((second[0]["new"], second[0]["complete"], second[0]["partial"]), (5000, False, "limit"))
        self.assertNotIn("complete", second[1])
        lines = self.lines("m.jsonl")
        stars = [line for line in lines if line["query"] == "star"]
        self.assertEqual(stars[-1], {"v": 1, "query": "star", "batch": 2, "partial": "limit", "matches": 5000})
        self.assertEqual(len({line["id"] for line in stars[:-1]}), 5000)
        self.assertEqual(sum(line["query"] == "edge" for line in lines), FIRST + 3000)

    def test_csv_marks_the_batch(self):
        self.run_program(*self.replay("--max-matches", 5000, "--emit", "matches", "--out", "m.csv", "--out-format", "csv"))
        self.assertIn("1,,star,partial:limit,2,,,,", self.read("m.csv").splitlines())

    def test_counts_are_held_to_it_as_well(self):
        outcome = self.run_program(*self.replay("--max-matches", 5000))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.out, r"star +at least [0-9,]+ +at least 0")
        self.assertRegex(outcome.out, rf"edge +{FIRST + 3000:,} +0")

    def test_none_is_no_limit(self):
        self.assertEqual(self.run_program(*self.replay("--max-matches", 0)).code, 2)


class Interrupts(ExplodingBatch):
    def interrupt(self, *args):
        """Sends SIGINT while the hub is being matched. Returns the seconds until it is acknowledged and until the end, and all output."""
        process = subprocess.Popen([harness.PROGRAM, *self.replay("--progress", "always", *map(str, args))], cwd=self.dir,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "batch 2 is being matched" in line and "matches so far" in line:
                break
        self.assertIn("query star", line)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        said = ""
        acknowledged = None
        while acknowledged is None:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", said)
            said += line
            if "SIGINT" in line:
                acknowledged = time.monotonic() - start
        out, err = process.communicate(timeout=GENEROUS)
        return process.returncode, out, said + err, acknowledged, time.monotonic() - start

    def test_an_interrupt_is_heard_in_the_middle_of_a_batch(self):
        for emit in (["--emit", "matches", "--out", "m.jsonl"], ["--emit", "digest"]):
            with self.subTest(emit=emit):
                code, out, err, acknowledged, end = self.interrupt("--json", "--save-snapshot", "x", *emit)
                self.assertEqual(code, 130, err)
                told = json.loads(out)
                self.assertEqual((told["complete"], told["batches"], told["abandoned_batch"]), (False, 1, 2))
                self.assertEqual([(q["name"], q["new"], q["partial"]) for q in told["queries"]],
                                 [("star", 0, "stopped"), ("edge", FIRST, "stopped")])
                self.assertEqual(self.json("snapshot", "info", "x")["graph"]["edges"], FIRST)
                # It takes some milliseconds. A failure takes as long as the matching, which is days.
                self.assertLess(acknowledged, 10)
                self.assertLess(end, 20)
        self.assertEqual(self.lines("m.jsonl")[-2:], [{"v": 1, "query": "star", "partial": "stopped", "matches": 0},
                                                      {"v": 1, "query": "edge", "partial": "stopped", "matches": FIRST}])

    def test_the_same_counting(self):
        # No formula can count them.
        self.write("clique.tsv", "".join(f"+\t{a}\t{b}\n" for b in range(150) for a in range(b)))
        clique = "clique=" + ", ".join(f"(v{a})-->(v{b})" for b in range(8) for a in range(b))
        process = subprocess.Popen([harness.PROGRAM, "replay", "--updates", "clique.tsv", "--batch", "20000", "--query", clique, "--progress",
                                    "always"], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertIn("batch 1 is being matched", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=GENEROUS)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("abandoned batch 1", out)


if __name__ == "__main__":
    harness.main()
