"""bench/reproduce.py prints a table that was checked, and refuses what it cannot check."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["DELTAMATCH_PROGRAM"]).resolve().parents[1]


def reproduce(*args):
    return subprocess.run([sys.executable, ROOT / "bench" / "reproduce.py", "--build", BUILD, *args], capture_output=True, text=True, timeout=500, check=False)


@unittest.skipUnless((BUILD / "bin" / "bench_count").exists(), "the benchmarks are not built")
class Reproduce(unittest.TestCase):
    def test_small_inputs_give_a_table_and_progress(self):
        done = reproduce("--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line for line in done.stdout.splitlines() if line.startswith(("insertions: ", "deletions: "))]
        self.assertEqual(len(rows), 36)
        self.assertEqual(sum(", all steps " in row for row in rows), 18)
        self.assertTrue(all(" embeddings" in row for row in rows))
        self.assertRegex(done.stderr, r"\[10/10\] deletions: \S+, run 1 of 1, about \d+ s left")
        self.assertRegex(done.stdout, r"Revision [0-9a-f]{7}")

    def test_published_counts_are_found_again(self):
        done = reproduce("insertions", "--repeat", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("56,690,500 embeddings", done.stdout)

    def test_what_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = reproduce("houses", "--data", folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no email-Enron in", done.stderr)
        self.assertIn("get https://snap.stanford.edu/data/email-Enron.txt.gz", done.stderr)
        self.assertEqual(reproduce("horses").returncode, 2)

    def test_tools_that_are_missing_are_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "source", "bench")
            copy.mkdir(parents=True)
            shutil.copy(ROOT / "bench/reproduce.py", copy)
            shutil.copytree(ROOT / "bench/harness", copy / "harness")
            done = subprocess.run([sys.executable, copy / "reproduce.py", "--quick"], capture_output=True, text=True, env={"PATH": folder}, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "reproduce.py: cmake, ninja, c++ missing, which building takes; run scripts/setup, then this again\n")

    def test_any_graph_file_is_taken_and_another_graph_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            graph = pathlib.Path(folder, "nets", "email-enron.jlg")
            graph.parent.mkdir()
            graph.write_text("3,3,u,enron\n1,2\n2,3\n3,1\n")
            for data in (folder, graph):
                done = reproduce("houses", "--repeat", "1", "--data", data)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"houses: 0 instead of 5,677,082,981; is {graph} another graph?", done.stderr)

    def test_a_wrong_program_is_found_out(self):
        with tempfile.TemporaryDirectory() as folder:
            binaries = pathlib.Path(folder, "bin")
            binaries.mkdir()
            (binaries / "bench_count").symlink_to(BUILD / "bin" / "bench_count")
            liar = binaries / "deltamatch"
            liar.write_text(f"#!/bin/sh\n'{BUILD}/bin/deltamatch' \"$@\" | sed 's/\"new\":\\([1-9]\\)/\"new\":1\\1/'\n")
            liar.chmod(0o755)
            done = subprocess.run([sys.executable, ROOT / "bench" / "reproduce.py", "--build", folder, "--quick", "insertions"], capture_output=True,
                                  text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the number of embeddings by bench_count", done.stderr)


if __name__ == "__main__":
    unittest.main()
