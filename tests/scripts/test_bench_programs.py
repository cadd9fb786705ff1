"""Programs of bench/programs that nothing else runs: each works on a small graph, and refuses answers that differ.

usage: test_bench_programs.py BENCH_UPDATE_PATH DELTAMATCH
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UPDATE_PATH = None
BUILD = None

# A program that miscounts the first query of a replay.
MISCOUNTS = """#!{python}
import json, subprocess, sys
done = subprocess.run([{program!r}, *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
if sys.argv[1] == "replay":
    report = json.loads(done.stdout)
    report["queries"][0]["new"] += 1
    done.stdout = json.dumps(report)
print(done.stdout, end="")
sys.exit(done.returncode)
"""


class UpdatePath(unittest.TestCase):
    def test_every_model_and_number_of_threads(self):
        for model in ("simple", "keyed", "events"):
            for threads in (1, 3):
                with self.subTest(model=model, threads=threads):
                    done = subprocess.run([UPDATE_PATH, "--graph", "rmat", "--scale", "8", "--edges", model, "--batch", "100", "--threads", str(threads),
                                           "--insertions", "0.5", "--repeat", "2"], capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), "it counts the edges after every half")
                    first, _, *rows, last = done.stdout.splitlines()
                    self.assertEqual(first, f"256 vertices, 1280 edges to start with, 1280 inserted and deleted, {model}, batches of 100, {threads} threads")
                    self.assertEqual([row.split("  ")[0] for row in rows], ["insert, median", "insert, best", "delete, median", "delete, best"])
                    for row in rows:
                        self.assertGreater(int(re.fullmatch(r".* (\d+) ns", row)[1]), 0, row)
                    self.assertGreater(float(re.fullmatch(r"(\S+) bytes an edge", last)[1]), 0)


class Scripts(unittest.TestCase):
    GROWTH = "growth.py --vertices 100,200 --max-degree 20 --updates 100 --batch 16 --repeat 2"
    MANY_QUERIES = "many_queries.py --vertices 1200 --edges 5000 --labels 4 --few 2 --many 5 --batch 50 --repeat 2"

    def setUp(self):
        if not (BUILD / "bin" / "bench_count").exists():
            self.skipTest("the benchmarks are not built")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, words, build):
        name, *arguments = words.split()
        return subprocess.run([sys.executable, "-B", ROOT / "bench" / "programs" / name, *arguments, "--build", build, "--results",
                               self.folder / "results.json"], capture_output=True, text=True, check=False)

    def measured(self, words):
        """The rows of the table without the heading, and what the results file says was measured."""
        done = self.run_script(words, BUILD)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [re.split("  +", row) for row in done.stdout.splitlines()[1:]], json.loads((self.folder / "results.json").read_text())["measured"]

    def test_growth(self):
        rows, measured = self.measured(self.GROWTH)
        self.assertEqual([row[:2] for row in rows], [[query, size] for query in ("4-cycle", "house", "triangle") for size in ("100", "200")])
        self.assertEqual([row[-1] for row in rows[::2]], ["1.00x"] * 3, "the smallest beside itself")
        self.assertEqual({(of["updates"], of["edges"] // of["vertices"]) for of in measured}, {(200, 5)})
        self.assertGreater(sum(of["new"] + of["removed"] for of in measured), 0)

    def test_many_queries(self):
        rows, measured = self.measured(self.MANY_QUERIES)
        self.assertEqual([row[0] for row in rows], ["2", "5", "ratio"])
        self.assertEqual(list(measured), ["2", "5"])
        self.assertGreater(measured["2"]["matches"], 0)
        self.assertGreater(measured["5"]["matches"], measured["2"]["matches"])

    def test_other_counts_are_refused(self):
        binaries = self.folder / "bin"
        binaries.mkdir()
        (binaries / "bench_count").symlink_to(BUILD / "bin" / "bench_count")
        (binaries / "deltamatch").write_text(MISCOUNTS.format(python=sys.executable, program=str(BUILD / "bin" / "deltamatch")))
        (binaries / "deltamatch").chmod(0o755)
        for words in (self.GROWTH, self.MANY_QUERIES):
            with self.subTest(words):
                done = self.run_script(words, self.folder)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("the number of embeddings by bench_count", done.stderr)
                self.assertFalse((self.folder / "results.json").exists())


if __name__ == "__main__":
    UPDATE_PATH, BUILD = sys.argv[1], pathlib.Path(sys.argv[2]).resolve().parents[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
