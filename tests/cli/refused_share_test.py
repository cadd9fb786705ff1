"""Exit codes are true. A run that refused most of an input does not end with 0. It says what was refused, at which place and why."""

import json

import harness
from harness import TRIANGLE

EDGE = "e=(a)-->(b)"
MOSTLY_BAD = "1 2\nx 3\n2 y\n3 4 5\n"  # 3 of 4


class RefusedShare(harness.CliTest):
    def run_on(self, content, *args, name="s.txt", code=0):
        self.write(name, content)
        outcome = self.run_program("replay", "--updates", name, "--query", EDGE, "--on-error", "skip", *args)
        self.assertEqual(outcome.code, code, outcome)
        return outcome

    def test_more_than_half_refused_ends_with_1_and_the_first_record_of_each_reason(self):
        for policy in (["--on-error", "skip"], ["--on-error", "dead-letter", "--dead-letters", "d.jsonl"]):
            self.write("s.txt", MOSTLY_BAD)
            outcome = self.run_program("replay", "--updates", "s.txt", "--query", EDGE, *policy)
            self.assertEqual(outcome.code, 1, outcome)
            self.assertEqual(outcome.out.splitlines()[0], "refused  3 of 4 records: wrong_arity 1, bad_id 2")
            self.assertRegex(outcome.out, r"\ne +1 +0 ")  # the readable records were matched
            verdict, *firsts = outcome.err.splitlines()
            self.assertEqual(verdict, "deltamatch: s.txt: 3 of 4 records are refused, more than the share of 0.5 that --max-refused "
                             "allows; correct how they are read, or raise --max-refused")
            self.assertEqual(len(firsts), 2)
            self.assertRegex(firsts[0], r"^deltamatch: s.txt:2: bad_id: source `x` is not an integer .* \(the first of 2\); "
                             "say what ids are")
            self.assertRegex(firsts[1], r"^deltamatch: s.txt:4: wrong_arity: 3 fields instead of 2; say what the columns are")

    def test_in_json_too(self):
        outcome = self.run_on(MOSTLY_BAD, "--json", code=1)
        (warning,) = json.loads(outcome.out)["warnings"]
        self.assertEqual((warning["code"], warning["where"], warning["count"]), ("refused", "s.txt:2", 3))
        self.assertIn("3 of 4 records refused: wrong_arity 1, bad_id 2; the first: source `x`", warning["what"])

    def test_however_few_they_are(self):
        outcome = self.run_on("1 x\n", "--format", "snap", code=1)
        self.assertIn("deltamatch: s.txt: 1 of 1 record is refused", outcome.err)

    def test_half_is_not_more_than_half(self):
        self.assertEqual(self.run_on("1 2\nx 3\n2 y\n3 4\n").err, "")

    def test_the_share_can_be_set(self):
        self.assertEqual(self.run_on(MOSTLY_BAD, "--max-refused", "0.75").err, "")
        self.assertEqual(self.run_on(MOSTLY_BAD, "--max-refused", "1").err, "")
        self.assertIn("more than the share of 0.7 ", self.run_on(MOSTLY_BAD, "--max-refused", "0.7", code=1).err)
        self.assertIn("more than the share of 0 ", self.run_on("1 2\n2 3\n3 4\nx 1\n", "--max-refused", "0", code=1).err)
        self.assertEqual(self.run_on("1 2\n2 3\n", "--max-refused", "0").err, "")
        for wrong in ("1.5", "-1", "half"):
            self.fails(2, "replay", "--updates", "s.txt", "--query", EDGE, "--max-refused", wrong, says="--max-refused")

    def test_each_input_is_judged_for_itself(self):
        self.write("good.txt", "".join(f"{i} {i + 1}\n" for i in range(100)))
        self.write("bad.txt", "a b\n1 2\nc d\n")
        args = ["--query", EDGE, "--on-error", "skip", "--format", "snap"]
        outcome = self.run_program("replay", "--updates", "good.txt", "--updates", "bad.txt", *args)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("deltamatch: bad.txt: 2 of 3 records are refused", outcome.err)
        self.assertNotIn("good.txt", outcome.err)
        self.assertTrue(outcome.out.startswith("refused  2 of 103 records: bad_id 2\n"), outcome)

    def test_comments_blank_lines_and_headers_are_no_records(self):
        self.assertEqual(self.run_on("# one\n\n# two\n# three\n1 2\n").err, "")
        self.run_on("source,target\n\n\nx\n", name="s.csv", code=1)

    def test_what_the_graph_refuses_counts(self):
        stream = "source,target,source_label\n1,2,A\n1,3,B\n1,4,B\n"
        outcome = self.run_on(stream, name="s.csv", code=1)
        self.assertIn("deltamatch: s.csv:3: label_conflict: edge from `1` to `3`", outcome.err)
        self.assertIn("(the first of 2); state the labels of each vertex once", outcome.err)
        outcome = self.run_on("1 2\n2 3\n3 4\n", "--window", "1h", code=1)
        self.assertIn("deltamatch: s.txt:1: missing_time", outcome.err)

    def test_every_command_that_reads_records(self):
        self.write("g.txt", MOSTLY_BAD)
        skip = ["--on-error", "skip"]
        for args in (["match", "--graph", "g.txt", "--query", TRIANGLE], ["explain", "--graph", "g.txt", "--query", TRIANGLE],
                     ["motifs", "--graph", "g.txt", "-k", 3], ["cliques", "--graph", "g.txt"],
                     ["quasi-cliques", "--graph", "g.txt", "-k", 3, "--density", "0.9"],
                     ["convert", "g.txt", "g.dmu", "--to", "binary"], ["convert", "g.txt", "g.dmg", "--to", "graph"]):
            with self.subTest(args[0]):
                outcome = self.run_program(*args, *skip)
                self.assertEqual(outcome.code, 1, outcome)
                self.assertIn("deltamatch: g.txt: 3 of 4 records are refused", outcome.err)
                self.assertIn("deltamatch: g.txt:2: bad_id: ", outcome.err)
                self.assertNotEqual(outcome.out, "")
                if args[0] in ("match", "motifs", "cliques", "quasi-cliques"):
                    self.assertTrue(outcome.out.startswith("refused  3 of 4 records: "), outcome)
                self.assertEqual(self.run_program(*args, *skip, "--max-refused", 1).code, 0)
        self.assertIn("1 updates written, 3 records refused: wrong_arity 1, bad_id 2\n",
                      self.run_program("convert", "g.txt", "g.dmu", "--to", "binary", *skip).out)
        self.assertTrue((self.dir / "g.dmg").exists())

    def test_results_are_written_all_the_same(self):
        self.run_on(MOSTLY_BAD, "--emit", "matches", "--out", "m.jsonl", "--batches", "b.jsonl", "--save-snapshot", "s.dms", code=1)
        self.assertEqual((len(self.lines("m.jsonl")), len(self.lines("b.jsonl"))), (1, 1))
        self.assertEqual(self.json("snapshot", "info", "s.dms")["graph"]["edges"], 1)

    def test_the_first_line_counts_refused_records_even_if_they_are_few(self):
        outcome = self.run_on("1 2\n2 3\n3 4\nx 1\n")
        self.assertTrue(outcome.out.startswith("refused  1 of 4 records: bad_id 1\n"), outcome)
        self.assertNotIn("ignored", outcome.out)
        self.assertFalse(self.run_on("1 2\n1 2\n").out.startswith("refused"))

    def test_labels_and_start_graph_are_inputs_too(self):
        self.write("labels.csv", "vertex,label\nx\ny\n1,A\n")
        self.write("s.txt", "1 2\n")
        outcome = self.run_program("replay", "--labels", "labels.csv", "--updates", "s.txt", "--query", EDGE, "--on-error", "skip")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("deltamatch: labels.csv: 2 of 3 records are refused", outcome.err)


if __name__ == "__main__":
    harness.main()
