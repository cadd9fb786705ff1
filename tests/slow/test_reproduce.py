"""bench/reproduce.py prints a table that was checked, and refuses what it cannot check."""

import os
import pathlib
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
        self.assertEqual(len(rows), 18)
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
        self.assertIn("there is no email-Enron.txt", done.stderr)
        self.assertEqual(reproduce("horses").returncode, 2)

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
