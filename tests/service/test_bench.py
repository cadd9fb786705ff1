"""The programs that put load on the service (bench/programs) work. Their figures here are of runs that are too short to mean anything."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from harness import main, ROOT

BUILD = os.environ.get("DELTAMATCH_BUILD", str(ROOT / "build" / "release"))


@unittest.skipUnless((pathlib.Path(BUILD) / "bin" / "service_load").exists(), "service_load is not built")
class Programs(unittest.TestCase):
    def told(self, program, *arguments):
        """What it printed, by part. Several of a part are a list."""
        done = subprocess.run([sys.executable, "-B", ROOT / "bench" / "programs" / program, "--build", BUILD, *map(str, arguments)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        parts = {}
        for line in done.stdout.splitlines():
            figures = json.loads(line)
            self.assertTrue(figures["machine"])
            parts.setdefault(figures["part"], []).append(figures)
        return parts

    def test_service_load(self):
        count = 60_000
        parts = self.told("service_load.py", "--updates", count, "--warm-up", 2, "--latency-seconds", 3, "--call-seconds", 1, "--overload", 3)
        self.assertEqual(list(parts), ["throughput", "latency", "file, json", "file, binary", "rest", "overload"])
        for part in ("throughput", "file, json", "file, binary"):
            (figures,) = parts[part]
            self.assertEqual(figures["updates"], count)
            self.assertGreater(figures["updates_per_second"], 0, part)
        self.assertGreater(parts["throughput"][0]["steps"]["match"], 0)
        (latency,) = parts["latency"]
        self.assertEqual(latency["rate"], 50_000)
        self.assertGreater(latency["alerts"], 0)
        self.assertGreater(latency["p50_ms"], 0)
        (rest,) = parts["rest"]
        for rates in (rest["without"], rest["with_calls"]):
            self.assertEqual(len(rates), 3)
            self.assertGreater(min(rates), 0)
        self.assertLess(rest["processor_ms_per_call"], 1000)
        samples = parts["overload"][0]["samples"]
        self.assertGreater(min(sample["rss_mib"] for sample in samples), 0)

    def test_page_load(self):
        parts = self.told("page_load.py", "--updates", 60_000, "--rounds", 1, "--pages", 3, "--calls", 5, "--slow", 1, "--alerts", "many")
        self.assertEqual([run["pages"] for run in parts["run"]], [0, 0, 3])
        for run in parts["run"]:
            for key in ("updates_per_second", "seconds", "cpu_seconds", "alerts"):
                self.assertGreater(run[key], 0, (key, run))
        self.assertGreater(parts["run"][2]["calls"], 0)
        self.assertGreater(parts["run"][2]["alerts_per_page"], 0)
        (pages,) = parts["pages"]
        self.assertEqual((pages["rounds"], pages["pages"]), (1, 3))
        for figures in (pages["without"], pages["with_pages"]):
            self.assertGreater(figures["updates_per_second"], 0)
        self.assertEqual(len(pages["rate_lost_in_rounds"]), 1)


if __name__ == "__main__":
    main()
