"""Whatever ends a replay, the requested output for the stream up to there is written, and marked as incomplete. Readers of a pipe
see each batch when it is done. Input that does not come delays neither a time-out nor a signal."""

import gzip
import json
import os
import resource
import signal
import subprocess
import time

import harness
from harness import PROGRAM

EDGE = "e=(a)-->(b)"
GOOD = "".join(f"+\t{v}\t{v + 1}\n" for v in range(10))
HEARD = 10  # seconds; on a machine that is not busy, it takes less than one
NO_SPACE = "No space left on device"


class Ending(harness.CliTest):
    def outputs(self, *args, batch=3):
        return ["replay", "--query", EDGE, "--batch", batch, "--json", "--emit", "matches", "--out", "m.jsonl", "--batches", "b.jsonl",
                "--save-snapshot", "x.dms", *args]

    def check_outputs(self, outcome, edges, mark="stopped"):
        """Checks that all outputs cover the first `edges` records."""
        told = json.loads(outcome.out)
        self.assertIs(told["complete"], False, outcome)
        (query,) = told["queries"]
        self.assertEqual((query["new"], query.get("partial")), (edges, mark))
        self.assertEqual(self.json("snapshot", "info", "x.dms")["graph"]["edges"], edges)
        self.ok("snapshot", "verify", "x.dms")
        self.assertEqual(sum(line["inserted"] for line in self.lines("b.jsonl")), edges)
        *matches, last = self.lines("m.jsonl") if mark else [*self.lines("m.jsonl"), None]
        self.assertEqual(len(matches), edges)
        if mark:
            self.assertEqual(last, {"v": 1, "query": "e", "partial": mark, "matches": edges})
        return told


class Failures(Ending):
    def test_a_bad_record(self):
        self.write("s.tsv", GOOD + "+\t1\n" + GOOD)
        outcome = self.run_program(*self.outputs("--updates", "s.tsv"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertRegex(outcome.err, r"\Adeltamatch: s.tsv:11: wrong_arity: .*\n\Z")
        self.assertEqual(self.check_outputs(outcome, 10)["batches"], 4)

    def test_a_bad_record_in_the_table_and_in_csv(self):
        self.write("s.tsv", GOOD + "+\t1\n")
        outcome = self.run_program("replay", "--updates", "s.tsv", "--query", EDGE, "--emit", "matches", "--out", "m.csv")
        self.assertTrue(outcome.out.startswith("INCOMPLETE: the figures cover the stream up to the error\n"), outcome)
        self.assertRegex(outcome.out, r"\ne +at least 10 +at least 0 ")
        self.assertEqual(self.read("m.csv").splitlines()[-1], "1,,e,partial:stopped,0,,,,")

    def test_a_record_that_the_graph_refuses(self):
        self.write("s.csv", "source,target,source_label\n1,2,A\n2,3,\n1,4,B\n5,6,\n")
        outcome = self.run_program(*self.outputs("--updates", "s.csv", batch=1))
        self.assertEqual(outcome.code, 1, outcome)
        self.check_outputs(outcome, 2)

    def test_an_archive_that_is_cut(self):
        self.write("s.tsv.gz", gzip.compress("".join(f"+\t{v}\t{v * 7919 % 100003}\n" for v in range(1, 50000)).encode())[:-2000])
        outcome = self.run_program(*self.outputs("--updates", "s.tsv.gz", batch=1000))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("s.tsv.gz: the archive is truncated", outcome.err)
        self.check_outputs(outcome, json.loads(outcome.out)["queries"][0]["new"])

    def test_a_stream_that_ends_within_a_cut(self):
        self.write("s.tsv", GOOD)
        self.write("cuts", "4\n3\n9\n")
        outcome = self.run_program(*[arg for arg in self.outputs("--updates", "s.tsv", "--cuts", "cuts") if arg not in ("--batch", 3)])
        self.assertEqual(outcome.code, 1, outcome)
        self.check_outputs(outcome, 7)

    def test_too_much_that_is_refused(self):
        self.write("s.tsv", GOOD + "+\t1\n" * 11)
        outcome = self.run_program(*self.outputs("--updates", "s.tsv", "--on-error", "skip"))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("more than the share of 0.5 that --max-refused allows", outcome.err)
        self.check_outputs(outcome, 10, mark=None)  # the stream was read to its end

    def test_a_snapshot_whose_disk_is_full_is_told_beside_the_error(self):
        self.write("s.tsv", GOOD + "+\t1\n")
        outcome = self.run_program("replay", "--query", EDGE, "--updates", "s.tsv", "--json", "--save-snapshot", "x.dms",
                                   before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIs(json.loads(outcome.out)["complete"], False)
        snapshot, record = outcome.err.splitlines()
        self.assertIn("x.dms", snapshot)
        self.assertIn("s.tsv:11: wrong_arity", record)


class FullDisks(Ending):
    def on_full(self, *args, stdin=""):
        """Runs with standard output on a full disk."""
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, *map(str, args)], stdout=full, stderr=subprocess.PIPE, input=stdin.encode(), cwd=self.dir,
                                  check=False, timeout=60)
        return harness.Outcome(args, done.returncode, b"", done.stderr.decode())

    def check_told(self, outcome, name, remedy="space"):
        self.assertEqual(outcome.code, 1, outcome)
        (line,) = [line for line in outcome.err.splitlines() if NO_SPACE in line]
        self.assertTrue(line.startswith(f"deltamatch: {name}: "), outcome)
        self.assertIn(remedy, line.partition("; ")[2], outcome)

    def test_a_file_of_a_replay(self):
        self.write("s.tsv", GOOD)
        for option in ("--batches", "--out"):
            with self.subTest(option):
                others = {"--batches": "b.jsonl", "--out": "m.jsonl", option: "/dev/full"}
                outcome = self.run_program("replay", "--updates", "s.tsv", "--query", EDGE, "--batch", 3, "--json", "--emit", "matches",
                                           "--save-snapshot", "x.dms", *[word for pair in others.items() for word in pair])
                self.check_told(outcome, "/dev/full")
                told = json.loads(outcome.out)
                self.assertIs(told["complete"], False)
                self.assertLess(told["updates"], 10)  # it ends at the first batch that cannot be written
                self.assertEqual(self.json("snapshot", "info", "x.dms")["graph"]["edges"], told["graph"]["edges"])

    def test_standard_output_of_a_replay(self):
        self.write("s.tsv", GOOD)
        for args in ([], ["--json"], ["--batches", "-"], ["--emit", "matches"], ["--emit", "matches", "--out-format", "csv"]):
            with self.subTest(args):
                (self.dir / "x.dms").unlink(missing_ok=True)
                outcome = self.on_full("replay", "--updates", "s.tsv", "--query", EDGE, "--save-snapshot", "x.dms", *args)
                self.check_told(outcome, "standard output" if "--emit" not in args else "stdout")
                if "csv" not in args:  # its header cannot be written, so nothing has begun
                    self.assertTrue((self.dir / "x.dms").exists())

    def test_dead_letters(self):
        self.write("s.tsv", GOOD + "+\t1\n")
        outcome = self.run_program("replay", "--updates", "s.tsv", "--query", EDGE, "--on-error", "dead-letter", "--dead-letters",
                                   "/dev/full")
        self.check_told(outcome, "/dev/full")
        self.assertTrue(outcome.out.startswith("INCOMPLETE"), outcome)

    def test_every_command(self):
        self.write("g.txt", "1 2\n2 3\n3 1\n")
        self.ok("replay", "--updates", "g.txt", "--query", EDGE, "--save-snapshot", "x.dms")
        graph = ["--graph", "g.txt"]
        dense = ["quasi-cliques", *graph, "-k", 3, "--density", 0.5]
        for args in (["match", *graph, "--query", EDGE], ["match", *graph, "--query", EDGE, "--json"],
                     ["match", *graph, "--query", EDGE, "--emit", "matches"], ["motifs", *graph, "-k", 3], ["cliques", *graph],
                     ["cliques", *graph, "--emit", "subgraphs", "-k", 2], dense, [*dense, "--json"],
                     ["explain", *graph, "--query", EDGE], ["convert", "g.txt", "-", "--to", "jsonl"],
                     ["convert", "g.txt", "-", "--to", "binary"], ["generate", "payments", "--records", 10, "--planted", 0, "--updates", "-"],
                     ["snapshot", "info", "x.dms"], ["snapshot", "export", "x.dms"], ["snapshot", "verify", "x.dms"], ["--help"],
                     ["--version"], ["replay", "--help"]):
            with self.subTest(args):
                outcome = self.on_full(*args)
                self.assertEqual(outcome.code, 1, outcome)
                self.assertIn(NO_SPACE + "; ", outcome.err)
        for args in (["match", *graph, "--query", EDGE, "--emit", "matches", "--out"], ["convert", "--to", "jsonl", "g.txt"],
                     ["cliques", *graph, "--emit", "subgraphs", "-k", 2, "--out"], [*dense, "--emit", "subgraphs", "--out"],
                     ["generate", "payments", "--records", 10, "--planted", 0, "--updates"], ["snapshot", "export", "x.dms", "--out"],
                     ["generate", "rmat", "--scale", 6, "--edge-factor", 2, "--graph"]):
            with self.subTest(args):
                outcome = self.run_program(*args, "/dev/full")
                self.assertEqual(outcome.code, 1, outcome)
                self.assertIn("/dev/full: ", outcome.err)
                self.assertIn(NO_SPACE + "; ", outcome.err)


class Pipes(Ending):
    def started(self, *args, stdout=subprocess.PIPE, updates="-"):
        process = subprocess.Popen([PROGRAM, "replay", "--updates", updates, "--query", EDGE, *map(str, args)], cwd=self.dir,
                                   stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def feed(self, process, text):
        process.stdin.write(text.encode())
        process.stdin.flush()

    def waited_for(self, what):
        for _ in range(100 * HEARD):
            if what():
                return
            time.sleep(0.01)
        self.fail("it does not come")

    def size(self, name):
        return os.path.getsize(self.dir / name) if (self.dir / name).exists() else 0

    def ended(self, process):
        """Expects an end within a second, while the input stays open. Returns what was printed."""
        start = time.monotonic()
        process.wait(HEARD)
        with process.stdout, process.stderr:
            out, err = process.stdout.read().decode(), process.stderr.read().decode()
        process.stdin.close()
        return harness.Outcome([], process.returncode, out.encode(), err), time.monotonic() - start


class Live(Pipes):
    def test_each_batch_is_seen_when_it_is_done(self):
        for args, name in ((["--batches", "-"], None), (["--emit", "matches"], None), (["--batches", "b.jsonl"], "b.jsonl"),
                           (["--emit", "matches", "--out", "m.jsonl"], "m.jsonl"), (["--emit", "matches", "--out", "m.csv"], "m.csv")):
            with self.subTest(args):
                process = self.started(*args, "--batch", 1)
                seen = 0
                for v in range(3):
                    self.feed(process, f"+\t{1000 + v}\t{1001 + v}\n")
                    if name:
                        self.waited_for(lambda: self.size(name) > seen)
                        seen = self.size(name)
                    else:
                        self.assertEqual(json.loads(process.stdout.readline())["batch"], v + 1)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0)


class Idle(Pipes):
    def outputs_of_pipe(self, *args, batch=1):
        return [*self.outputs(*args, batch=batch)[3:]]

    def test_a_signal_is_heard(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number.name):
                process = self.started(*self.outputs_of_pipe())
                self.feed(process, GOOD)
                self.waited_for(lambda: self.size("b.jsonl") and self.read("b.jsonl").count("\n") == 10)
                process.send_signal(number)
                outcome, _ = self.ended(process)
                self.assertEqual(outcome.code, code, outcome)
                self.assertEqual(self.check_outputs(outcome, 10)["updates"], 10)
                for name in ("b.jsonl", "m.jsonl", "x.dms"):
                    (self.dir / name).unlink()

    def test_a_timeout_is_heard(self):
        process = self.started(*self.outputs_of_pipe("--timeout", "1s"))
        start = time.monotonic()
        self.feed(process, GOOD)
        outcome, _ = self.ended(process)
        self.assertGreater(time.monotonic() - start, 0.9)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("stopped by --timeout after 10 batches", outcome.err)
        self.check_outputs(outcome, 10, "timeout")

    def test_what_was_read_of_a_batch_is_one_and_a_torn_record_is_none(self):
        for batch, text in ((8192, GOOD + "+\t10\t1"), (4, GOOD), (8192, GOOD + "+\t10\t11")):
            with self.subTest(batch=batch, text=text[-6:]):
                process = self.started(*self.outputs_of_pipe("--timeout", "1s", batch=batch))
                self.feed(process, text)
                outcome, _ = self.ended(process)
                self.assertEqual(outcome.code, 1, outcome)
                told = self.check_outputs(outcome, 10, "timeout")
                self.assertEqual(told["updates"], 10)
                self.assertNotIn("abandoned_batch", told)

    def test_what_is_cut_short_by_it_is_no_fault_of_the_input(self):
        packed = gzip.compress(GOOD.encode())
        array = '[{"source":1,"target":2},\n{"source":2,"target":3},\n'
        for text, args, edges in ((packed[:-4], [], 10), (array.encode(), [], 2), (b"t 3 3\nv 0 A\nv 1 A\ne 0 1\n", ["--query", "f=(a)--(b)"], 1)):
            with self.subTest(text[:6]):
                process = self.started("--timeout", "1s", "--json", *args) if not args else subprocess.Popen(
                    [PROGRAM, "replay", "--updates", "-", "--timeout", "1s", "--json", *args], cwd=self.dir, stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.addCleanup(process.kill)
                process.stdin.write(text)
                process.stdin.flush()
                outcome, _ = self.ended(process)
                self.assertRegex(outcome.err, r"\Adeltamatch: stopped by --timeout after 1 batch, [^\n]*\n\Z")
                self.assertEqual(json.loads(outcome.out)["queries"][0]["new"], edges)

    def test_no_part_of_a_cut_is_a_batch(self):
        self.write("cuts", "4\n9\n")
        process = self.started("--cuts", "cuts", "--timeout", "1s", "--json")
        self.feed(process, GOOD)
        outcome, _ = self.ended(process)
        self.assertEqual((outcome.code, json.loads(outcome.out)["updates"]), (1, 4), outcome)

    def test_a_fifo_and_input_that_never_begins(self):
        os.mkfifo(self.dir / "fifo")
        self.write("g.txt", "1 2\n")
        silence = "deltamatch: stopped by --timeout before the graph was read, so there is no answer; "
        for args, updates in ((["--timeout", "200ms"], "-"), (["--timeout", "200ms"], "fifo"),
                              (["--timeout", "200ms", "--graph", "-"], "g.txt")):
            with self.subTest(args=args, updates=updates):
                outcome, seconds = self.ended(self.started(*args, updates=updates))
                self.assertEqual((outcome.code, outcome.out), (1, ""), outcome)
                self.assertTrue(outcome.err.startswith(silence), outcome)
                self.assertLess(seconds, HEARD)
        writer = os.open(self.dir / "fifo", os.O_RDWR)
        self.addCleanup(os.close, writer)
        os.write(writer, GOOD.encode())
        outcome, _ = self.ended(self.started("--timeout", "1s", "--json", updates="fifo"))
        self.assertEqual(json.loads(outcome.out)["updates"], 10, outcome)

    def test_a_last_batch_that_explodes_is_abandoned(self):
        star = "star=(h)-->(a), (h)-->(b), (h)-->(c), (h)-->(d), (h)-->(e)"
        process = self.started("--query", star, "--timeout", "1s", "--json", "--emit", "digest")
        self.feed(process, "".join(f"+\t0\t{v}\n" for v in range(1, 3001)))
        outcome, _ = self.ended(process)
        told = json.loads(outcome.out)
        self.assertEqual((outcome.code, told["batches"], told["abandoned_batch"], told["graph"]["edges"]), (1, 0, 1, 0), outcome)

    def test_the_longest_timeout_is_none(self):
        self.write("s.tsv", GOOD)
        self.ok("replay", "--updates", "s.tsv", "--query", EDGE, "--timeout", "106751991d")


if __name__ == "__main__":
    harness.main()
