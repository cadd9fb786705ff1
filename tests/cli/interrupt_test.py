"""SIGINT and SIGTERM. While the start graph is read they end the run at once, without an answer and without touching a file. During
matching or mining the answer is partial and says so. In a stream it covers complete batches."""

import json
import pathlib
import signal
import subprocess
import time

import harness

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
EDGE = "e=(a)--(b)"


def before_the_graph(number):
    return f"deltamatch: stopped by {number.name} before the graph was read, so there is no answer\n"


class Interrupt(harness.CliTest):
    def started(self, *args):
        """Starts the command and waits until it catches both signals."""
        process = subprocess.Popen([harness.PROGRAM, *map(str, args)], cwd=self.dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        for _ in range(1000):
            caught = int(pathlib.Path(f"/proc/{process.pid}/status").read_text().split("SigCgt:")[1].split()[0], 16)
            if all(caught >> (number - 1) & 1 for number in SIGNALS):
                return process
            time.sleep(0.01)
        self.fail("the signals are not caught")

    def write_on(self, process, text):
        try:
            process.stdin.write(text.encode())
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended


class WhileReading(Interrupt):
    def test_no_part_of_a_graph_is_taken_for_the_whole(self):
        path = "".join(f"{v} {v + 1}\n" for v in range(40000))
        rest = "".join(f"{v} {v + 2}\n" for v in range(40000))
        self.write("s.txt", "1 9\n")
        kept = ["--out", "kept"]
        for args in (["motifs", "-k", 3, "--method", "extend"], ["cliques"], ["cliques", "-k", 2, "--emit", "subgraphs", *kept],
                     ["quasi-cliques", "-k", 3, "--density", 0.5, "--json"], ["match", "--query", EDGE],
                     ["match", "--query", EDGE, "--emit", "matches", *kept],
                     ["replay", "--query", EDGE, "--updates", "s.txt", "--emit", "matches", *kept, "--batches", "b", "--save-snapshot", "x"]):
            with self.subTest(args=args):
                for name in ("kept", "b", "x"):
                    self.write(name, "of the last run\n")
                process = self.started(*args, "--graph", "-", "--undirected", "--threads", 1)
                self.write_on(process, path)
                time.sleep(0.3)  # some of it is loaded, and the program waits for more
                process.send_signal(signal.SIGINT)
                time.sleep(0.1)
                self.write_on(process, rest)
                out, err = process.communicate(timeout=60)
                self.assertEqual((process.returncode, out.decode(), err.decode()), (130, "", before_the_graph(signal.SIGINT)))
                for name in ("kept", "b", "x"):
                    self.assertEqual(self.read(name), "of the last run\n")

    def test_input_that_does_not_come_is_not_waited_for(self):
        for args in (["match", "--graph", "-", "--query", EDGE], ["cliques", "--graph", "-"], ["replay", "--updates", "-", "--query", EDGE]):
            for number, code in SIGNALS.items():
                with self.subTest(args=args, signal=number.name):
                    process = self.started(*args)
                    process.send_signal(number)
                    self.assertEqual(process.wait(10), code)
                    self.assertEqual(process.communicate(), (b"", before_the_graph(number).encode()))


class InAStream(Interrupt):
    def test_the_snapshot_is_that_of_the_batches_that_were_finished(self):
        for number, code in SIGNALS.items():
            with self.subTest(signal=number.name):
                process = self.started("replay", "--updates", "-", "--query", EDGE, "--batch", 1, "--json", "--save-snapshot", "x",
                                       "--progress", "always")
                self.write_on(process, "".join(f"+\t{v}\t{v + 1}\n" for v in range(20000)))
                process.stderr.readline()  # progress is shown: batches are being processed
                process.send_signal(number)
                self.write_on(process, "+\t1\t0\n" * 2)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, code, err)
                told = json.loads(out)
                self.assertIs(told["complete"], False)
                self.assertLess(told["updates"], 20002)
                self.assertEqual(self.json("snapshot", "info", "x")["graph"]["edges"], told["updates"])


class WhileMatching(Interrupt):
    def setUp(self):
        super().setUp()
        self.write("big.txt", "".join(f"{a} {b}\n" for a in range(400) for b in range(a)))

    def interrupt(self, *args, command="match", number=signal.SIGINT):
        """Sends the signal during matching. Returns what was printed on both outputs, and the seconds until the end."""
        wait = 0.3
        while True:
            process = self.started(command, "--graph", "big.txt", "--undirected", *args)
            time.sleep(wait)
            self.assertIsNone(process.poll())
            start = time.monotonic()
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            seconds = time.monotonic() - start
            self.assertEqual(process.returncode, SIGNALS[number], err)
            if err.decode() != before_the_graph(number):
                return out.decode(), err.decode(), seconds
            wait *= 2

    def test_an_interrupt_is_kept(self):
        # A single anchor would take minutes.
        heavy = ["--query", "q=(a)--(b)--(c)--(d)--(e)--(f)--(a),(a)--(c)--(e)--(a)", "--mode", "homomorphism", "--induced"]
        for args in [[*heavy], [*heavy, "--filter", "none"], [*heavy, "--limit", 10**12], [*heavy, "--emit", "digest"],
                     ["--query", "c=(a)--(b)--(c)--(d)--(e)--(f)--(g)--(a)"], [*heavy, "--sample", 10**12]]:
            with self.subTest(args=args):
                out, err, seconds = self.interrupt(*args, "--threads", 1, "--json")
                (query,) = json.loads(out)["queries"]
                self.assertEqual((query["complete"], query["partial"]), (False, "stopped"))
                self.assertIn("stopped by an interrupt", err)
                self.assertLess(seconds, 1)

    def test_sigterm_prints_what_sigint_does(self):
        heavy = "q=(a)--(b)--(c)--(d)--(e)--(f)--(a),(a)--(c)--(e)--(a)"
        out, err, _ = self.interrupt("--query", heavy, "--mode", "homomorphism", "--induced", "--json", number=signal.SIGTERM)
        (query,) = json.loads(out)["queries"]
        self.assertEqual((query["complete"], query["partial"]), (False, "stopped"))
        for command in (["motifs", "-k", 6, "--method", "extend"], ["quasi-cliques", "-k", 8, "--density", 0.5]):
            with self.subTest(command=command):
                out, err, _ = self.interrupt(*command[1:], "--json", command=command[0], number=signal.SIGTERM)
                self.assertEqual((json.loads(out)["complete"], json.loads(out)["partial"]), (False, "stopped"))
                self.assertIn("stopped by SIGTERM, so the answer is partial", err)

    def test_an_interrupt_leaves_no_query_out_and_begins_none(self):
        heavy = "q=(a)--(b)--(c)--(d)--(e)--(f)--(a),(a)--(c)--(e)--(a)"
        for more in (["--emit", "matches", "--out", "m.jsonl"], ["--emit", "digest"], ["--sample", 10**12], []):
            with self.subTest(more=more):
                out, err, seconds = self.interrupt("--mode", "homomorphism", "--induced", "--query", heavy, "--query", "second=(a)--(b)",
                                                   "--query", "third=(a)--(b)--(c)", "--json", *more)
                queries = json.loads(out)["queries"]
                self.assertEqual([(q["name"], q["complete"], q["partial"]) for q in queries],
                                 [(name, False, "stopped") for name in ("q", "second", "third")])
                self.assertEqual([q["seconds"] for q in queries[1:]], [0, 0])  # if the engine were asked, it would take some microseconds
                self.assertEqual(err.count("stopped by an interrupt"), 3)
                self.assertLess(seconds, 1)
                if "matches" in more:
                    marks = [line for line in self.lines("m.jsonl") if "partial" in line]
                    self.assertEqual([(m["query"], m["partial"]) for m in marks], [(name, "stopped") for name in ("q", "second", "third")])


if __name__ == "__main__":
    harness.main()
