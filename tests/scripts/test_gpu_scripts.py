"""gpu_bench compares what it measures; scripts/gpu_tests.py survives hangs and crashes; bench/plot.py reads what gpu_bench writes.

usage: test_gpu_scripts.py GPU_BENCH
"""

import itertools
import json
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERIES = ROOT / "bench" / "queries" / "gpu"
BENCH = None


def bench(*arguments, batch="64"):
    """(exit code, lines) of a small run."""
    done = subprocess.run([BENCH, "--graph", "rmat", "--scale", "10", "--edges", "4000", "--batches", "2", "--batch", batch, "--threads", "2",
                           *arguments], capture_output=True, text=True, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


class GpuBench(unittest.TestCase):
    def test_policies_agree(self):
        code, lines = bench("--queries", QUERIES / "plain" / "q3-strip.graph", "--policies", "cpu,cpu-1", batch="16,64")
        results = [line for line in lines if line["kind"] == "bench"]
        self.assertEqual((code, lines[-1]["failures"]), (0, 0))
        self.assertEqual([(line["policy"], line["batch"]) for line in results], [("cpu", 16), ("cpu-1", 16), ("cpu", 64), ("cpu-1", 64)])
        for line in results:
            self.assertTrue(line["agrees"])
            self.assertEqual(line["batches"], 2)
            self.assertGreater(line["median"]["total"], 0)
        self.assertEqual(results[2]["new"], results[3]["new"])
        self.assertGreater(int(results[2]["new"]), 0)

    def test_other_counts_are_a_failure(self):
        code, lines = bench("--queries", QUERIES / "plain" / "q1-house.graph", "--policies", "cpu,cpu-1", "--corrupt", "cpu-1")
        self.assertEqual((code, lines[-1]["failures"]), (1, 3))
        self.assertEqual([line["policy"] for line in lines if line["kind"] == "mismatch"], ["cpu-1"] * 3)
        self.assertEqual([line["agrees"] for line in lines if line["kind"] == "bench"], [True, False])

    def test_a_stream_gives_the_same_counts_every_time(self):
        query = QUERIES / "labelled" / "q1-house.graph"
        runs = [bench("--queries", f"{query},{query}", "--labels", "3")[1] for _ in range(2)]
        counts = [(line["new"], line["removed"]) for lines in runs for line in lines if line["kind"] == "bench"]
        self.assertEqual(len(counts), 4)
        self.assertEqual(len(set(counts)), 1)

    def test_unknown_policies_are_refused(self):
        self.assertEqual(bench("--queries", QUERIES / "plain", "--policies", "cheapest")[0], 1)

    def test_motifs_are_all_there_are(self):
        for size, number in ((3, 2), (4, 6), (5, 21)):
            shapes = set()
            files = sorted((QUERIES / f"motifs{size}").glob("*.graph"))
            for file in files:
                edges = [tuple(map(int, line.split()[1:])) for line in file.read_text().splitlines() if line.startswith("e")]
                shapes.add(min(tuple(sorted(tuple(sorted((p[a], p[b]))) for a, b in edges)) for p in itertools.permutations(range(size))))
            self.assertEqual((len(files), len(shapes)), (number, number))


class GpuTests(unittest.TestCase):
    """Against a program that speaks as gtest does: of its tests one passes, one fails, one hangs, one crashes, one is skipped."""

    PROGRAM = """#!/usr/bin/env python3
import os, sys, time
names = ["Good", "Bad", "Hangs", "Crashes", "Skips", "Last"]
if "--gtest_list_tests" in sys.argv:
    print("Suite.\\n" + "\\n".join("  " + name for name in names))
    sys.exit()
wanted = sys.argv[1].split("=")[1].split(":")
bad = False
for name in names:
    if "Suite." + name not in wanted: continue
    print(f"[ RUN      ] Suite.{name}", flush=True)
    if name == "Hangs": time.sleep(60)
    if name == "Crashes": os.abort()
    bad |= name == "Bad"
    state = {"Bad": "[  FAILED  ]", "Skips": "[  SKIPPED ]"}.get(name, "[       OK ]")
    print(f"{state} Suite.{name} (0 ms)", flush=True)
sys.exit(bad)
"""

    def test_every_test_is_run_and_told(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "tests")
            program.write_text(self.PROGRAM)
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            out = pathlib.Path(folder, "out.jsonl")
            done = subprocess.run([sys.executable, ROOT / "scripts/gpu_tests.py", program, "*", "2", out, pathlib.Path(folder, "log")],
                                  capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual({line["test"]: line["state"] for line in lines[:-1]},
                         {"Suite.Bad": "failed", "Suite.Hangs": "hung", "Suite.Crashes": "crashed with -6"})
        self.assertEqual((lines[-1]["tests"], lines[-1]["failed"], lines[-1]["skipped"]), (6, 3, 1))


class Plot(unittest.TestCase):
    def test_tables_come_from_results(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results.jsonl")
            bench("--queries", QUERIES / "plain" / "q3-strip.graph", "--policies", "cpu,cpu-1", "--out", results, batch="16,32,64")
            with results.open("a") as file:
                file.write('{"kind": "ben')
            subprocess.run([sys.executable, ROOT / "bench/plot.py", results, "--out", pathlib.Path(folder, "plots")], check=True,
                           capture_output=True)
            text = pathlib.Path(folder, "plots", "tables.md").read_text()
        self.assertIn("| query | cpu-1 | cpu |", text)
        self.assertIn("Batch size (ms, median): rmat-10, q3-strip", text)
        self.assertIn("results.jsonl:10: not readable", text)

    def test_nothing_is_a_failure(self):
        done = subprocess.run([sys.executable, ROOT / "bench/plot.py", "/dev/null"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    BENCH = sys.argv.pop()
    unittest.main()
