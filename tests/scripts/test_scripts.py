"""scripts/check-includes refuses what breaks the order of folders. scripts/steps.sh never calls a failed or an empty run a success.
The demo never calls a ring found that was missed or late. A machine without CUDA gets one line about it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CheckIncludes(unittest.TestCase):
    """Each case plants one violation in a small copy of the house, which is clean without it."""

    CLEAN = {
        "include/deltamatch/id.hpp": "#pragma once\n",
        "include/deltamatch/engine.hpp": '#pragma once\n#include "deltamatch/id.hpp"\n',
        "src/base/types.hpp": '#pragma once\n#include "deltamatch/id.hpp"\n',
        "src/graph/store.hpp": '#pragma once\n#include <vector>\n#include "base/types.hpp"\n',
        "src/cli/help.hpp": "#pragma once\n",
        "src/plan/plan.cpp": '#include <fmt/format.h>\n#include "graph/store.hpp"\n',
        "src/match/matcher.hpp": '#pragma once\n#include "graph/store.hpp"\n',
        "src/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "ingest/stream.hpp"\n#include "match/matcher.hpp"\n',
        "ingest/stream.hpp": '#pragma once\n#include "deltamatch/id.hpp"\n',
        "gpu/cuda/memory.hpp": "#pragma once\n",
        "gpu/mirror/layout.hpp": '#pragma once\n#include "gpu/cuda/memory.hpp"\n',
        "src/engine/batch/standing_query.hpp": "#pragma once\n",
        "src/engine/storage/snapshot.cpp": '#include "graph/store.hpp"\n',
        "src/engine/engine.cpp": '#include "engine/batch/standing_query.hpp"\n',
        "ingest/codec/codec.hpp": '#pragma once\n#include "ingest/source/bytes.hpp"\n',
        "ingest/source/bytes.hpp": "#pragma once\n",
        "ingest/service/loop/commit.hpp": '#pragma once\n#include "ingest/codec/codec.hpp"\n',
        "ingest/service/state/log.cpp": '#include "deltamatch/id.hpp"\n',
        "src/cli/terminal/output.hpp": "#pragma once\n",
        "tests/support/oracle.cpp": '#include "deltamatch/id.hpp"\n',
        "bench/harness/matcher_comparison.hpp": '#pragma once\n#include "match/matcher.hpp"\n',
        "bench/programs/comparison_main.hpp": '#pragma once\n#include "bench/harness/matcher_comparison.hpp"\n',
    }
    VIOLATIONS = [
        ("src/graph/store.hpp", '#include "match/matcher.hpp"', "src/graph may not include src/match/matcher.hpp"),
        ("src/graph/store.hpp", '#include "../match/matcher.hpp"', "src/graph may not include src/match/matcher.hpp"),
        ("src/plan/plan.cpp", '#include "match/matcher.hpp"', "src/plan may not include src/match/matcher.hpp"),
        ("gpu/loops/kernel.cu", '#include "cli/help.hpp"', "gpu/loops may not include src/cli/help.hpp"),
        ("gpu/cuda/memory.hpp", '#include "gpu/mirror/layout.hpp"', "gpu/cuda may not include gpu/mirror/layout.hpp"),
        ("src/engine/storage/snapshot.cpp", '#include "engine/batch/standing_query.hpp"',
         "src/engine/storage may not include src/engine/batch/standing_query.hpp"),
        ("ingest/source/bytes.hpp", '#include "ingest/codec/codec.hpp"', "ingest/source may not include ingest/codec/codec.hpp"),
        ("ingest/service/state/log.cpp", '#include "ingest/service/loop/commit.hpp"',
         "ingest/service/state may not include ingest/service/loop/commit.hpp"),
        ("src/cli/terminal/output.hpp", '#include "cli/help.hpp"', "src/cli/terminal may not include src/cli/help.hpp"),
        ("src/match/matcher.hpp", '#include "ingest/stream.hpp"', "src/match may not include ingest/stream.hpp"),
        ("ingest/stream.hpp", '  #  include "base/types.hpp"', "ingest may not include src/base/types.hpp"),
        ("src/generate/payments.cpp", '#include "base/types.hpp"', "src/generate may not include src/base/types.hpp"),
        ("include/deltamatch/id.hpp", '#include "deltamatch/engine.hpp"', "include/deltamatch/id.hpp may not include"),
        ("include/deltamatch/extra.hpp", '#pragma once\n#include "deltamatch/id.hpp"', "only headers before it in RANKS"),
        ("include/deltamatch/id.hpp", '#include "base/types.hpp"', "include/deltamatch may not include src/base/types.hpp"),
        ("tests/support/oracle.cpp", '#include "match/matcher.hpp"', "tests/support may not include src/match/matcher.hpp"),
        ("src/base/types.hpp", "#include <tbb/parallel_for.h>", "neither oneTBB nor fmt"),
        ("src/base/types.hpp", "#include <fmt/format.h>", "neither oneTBB nor fmt"),
        ("src/engine/engine.cpp", "#include <nlohmann/json.hpp>", "core does without this library"),
        ("src/graph/store.hpp", "#include <cuda_runtime.h>", "CUDA stays in gpu"),
        ("src/graph/store.hpp", "#include <base/types.hpp>", "include it with quotes"),
        ("src/graph/store.hpp", '#include "graph/gone.hpp"', 'no file of the project is "graph/gone.hpp"'),
        ("src/extra/new.cpp", "", "lies in no folder"),
        ("bench/replay.cpp", "", "lies in no folder"),
        ("bench/harness/matcher_comparison.hpp", '#include "bench/programs/comparison_main.hpp"', "bench/harness may not include bench/programs/comparison_main.hpp"),
        ("src/graph/bare.hpp", "", "without #pragma once"),
        ("src/base/types.hpp", "// small, for GPUs", "only the options of the program may name a backend"),
        ("src/graph/store.hpp", "  __builtin_prefetch(row);", "call one of base/prefetch.hpp"),
    ]

    def check(self, files):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                path = pathlib.Path(directory, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return subprocess.run([ROOT / "scripts/check-includes", directory], capture_output=True, text=True, check=False)

    def test_clean_house(self):
        done = self.check(self.CLEAN)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_violations(self):
        for name, line, message in self.VIOLATIONS:
            with self.subTest(file=name, line=line):
                done = self.check({**self.CLEAN, name: self.CLEAN.get(name, "") + line + "\n"})
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(message, done.stdout)
                self.assertTrue(done.stdout.startswith(name + ":"), done.stdout)
                self.assertIn("\n1 violations in", done.stdout)

    def test_no_house_at_all(self):
        self.assertEqual(self.check({"README.md": ""}).returncode, 2)

    def test_this_repository(self):
        done = subprocess.run([ROOT / "scripts/check-includes"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Help(unittest.TestCase):
    def test_every_script_tells_how_it_is_used(self):
        names = [path.name for path in (ROOT / "scripts").iterdir() if path.suffix == "" and path.is_file()]
        names.remove("check-includes")  # a program of Python's, with Python's form
        self.assertGreater(len(names), 5)
        for name in names:
            done = subprocess.run([ROOT / "scripts" / name, "--help"], capture_output=True, text=True, timeout=20, check=False)
            with self.subTest(script=name):
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith(f"usage: scripts/{name} "), done.stdout)


class Package(unittest.TestCase):
    def run_script(self, *arguments):
        done = subprocess.run([ROOT / "scripts/package", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def test_wrong_usage_is_refused(self):
        for arguments in (("--nonsense",), ("--out",), ("--out", ""), ("",)):
            code, said = self.run_script(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertTrue(said.startswith("usage: scripts/package "), said)

    @unittest.skipUnless((ROOT / ".git").exists() and shutil.which("git"), "the sources are no clone")
    def test_an_archive_of_the_sources_says_its_commit(self):
        def git(*words):
            return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout
        self.assertIn(git("rev-parse", "HEAD"), git("archive", "HEAD", "REVISION"))

    def test_a_folder_without_a_build_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_script(folder), (1, f"scripts/package: {folder} is no configured build folder of the program; "
                                                          "name another, or none\n"))


class Steps(unittest.TestCase):
    PASSED = "echo '100% tests passed, 0 tests failed out of 7'"
    FAILED = "echo '50% tests passed, 1 tests failed out of 2'; exit 8"

    def run_steps(self, text):
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(ROOT / "scripts/steps.sh", directory)
            return subprocess.run(["bash", "-c", "set -euo pipefail\nsource ./steps.sh\n" + text], cwd=directory,
                                  capture_output=True, text=True, check=False)

    def test_ends_with_the_count_of_the_first_tests(self):
        done = self.run_steps(f'step test 1 bash -c "{self.PASSED}"\nstep more 1 bash -c "echo 100% tests passed, 0 of 2"\nfinish')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-2:],
                         ["more: 100% tests passed, 0 of 2", "100% tests passed, 0 tests failed out of 7"])

    def test_a_failure_ends_the_run_and_shows_the_log(self):
        done = self.run_steps(f'step test 1 bash -c "{self.FAILED}"\nstep later 1 true\nfinish')
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED, exit 8", done.stdout)
        self.assertIn("    50% tests passed", done.stdout)
        self.assertNotIn("later", done.stdout)

    def test_keep_going_still_fails(self):
        done = self.run_steps(f'keep_going=yes\nstep broken 1 false\nstep test 1 bash -c "{self.PASSED}"\nfinish')
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: broken", done.stdout)
        self.assertIn("out of 7", done.stdout)

    def test_no_tests_is_a_failure(self):
        done = self.run_steps("step build 1 true\nfinish")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "no tests ran"))

    def test_what_does_not_fit_is_left_out_by_name(self):
        done = self.run_steps(f'deadline=$((SECONDS + 30))\nstep test 1 bash -c "{self.PASSED}"\nstep long 900 false\nfinish')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("left out: long", done.stdout)

    def test_what_is_cut_off_is_left_out_unless_a_test_failed_before(self):
        cases = [("1/2 Test #1: a ... Passed", 0, "cut off after"), ("1/2 Test #1: a ...***Skipped", 0, "cut off after")]
        cases += [(f"1/2 Test #1: a ...***{failed}", 1, "FAILED, exit 124") for failed in ("Failed", "Timeout", "Exception: SegFault", "Not Run")]
        for line, code, said in cases:
            with self.subTest(line=line):
                done = self.run_steps(f'keep_going=yes\nstep test 1 bash -c "{self.PASSED}"\ndeadline=$((SECONDS - 58))\n'
                                      f'step long -60 bash -c "echo \'{line}\'; sleep 30"\nfinish')
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(said, done.stdout)
                self.assertIn("left out: long" if code == 0 else "failed: long", done.stdout)

    def test_what_needs_a_step_that_was_not_done_is_left_out(self):
        for build in "step build 900 true", "step build 1 false":
            with self.subTest(build=build):
                done = self.run_steps(f'keep_going=yes\ndeadline=$((SECONDS + 30))\nstep test 1 bash -c "{self.PASSED}"\n{build}\n'
                                      "after build step check 1 touch ran\nafter test step other 1 ls\nfinish")
                self.assertIn("check              left out: it needs build\n", done.stdout)
                self.assertRegex(done.stdout, r"left out: (build )?check\n")
                self.assertRegex(done.stdout, r"other +\d+ s")

    def test_a_step_can_be_left_out_for_a_reason(self):
        done = self.run_steps(f'step test 1 bash -c "{self.PASSED}"\nleave_out gpu "there is no nvcc"\nafter gpu step more 1 touch ran\nfinish')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("gpu                left out: there is no nvcc\nmore               left out: it needs gpu\nleft out: gpu more\n", done.stdout)

    def test_skipped_tests_are_named(self):
        log = r"100% tests passed, 0 tests failed out of 4\n\t  3 - t.All/Otc.Rows/a  # GetParam() = a (Skipped)" \
              r"\n\t  4 - t.All/Otc.Rows/b  # GetParam() = b (Skipped)\n\t  5 - slow.darpa (Skipped)\n"
        done = self.run_steps(f"step test 1 printf '{log.replace('%', '%%')}'\nfinish")
        self.assertIn("skipped: slow.darpa (1), t.All/Otc.Rows (2)\n", done.stdout)


class Configure(unittest.TestCase):
    def test_without_a_cuda_compiler_one_line_says_so(self):
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(["cmake", "-S", ROOT, "-B", directory, "-DDELTAMATCH_GPU=ON", "-DDELTAMATCH_TESTS=OFF"], check=False,
                                  capture_output=True, text=True, env={**os.environ, "CUDACXX": "/bin/false"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        output = (done.stdout + done.stderr).replace(directory, "")
        told = [line for line in output.splitlines() if any(word in line.lower() for word in ("cuda", "gpu", "nvcc"))]
        self.assertEqual(told, ["--   GPU: off (no CUDA compiler found; run scripts/setup --cuda, put nvcc on the PATH or set CUDACXX)"])


    def configure(self, preset):
        """Where only what `scripts/setup --build` installs is found."""
        with tempfile.TemporaryDirectory() as directory:
            lacking = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("GTest", "rapidcheck", "benchmark", "OpenSSL", "Python3")]
            return subprocess.run(["cmake", "--preset", preset, "-B", directory, *lacking], cwd=ROOT, check=False, capture_output=True, text=True)

    def test_the_libraries_for_building_suffice_to_install(self):
        done = self.configure("install")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(": core ingest program service\n", done.stdout)

    def test_a_library_for_tests_that_is_missing_is_named_with_the_remedy(self):
        done = self.configure("release")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        told = " ".join(done.stderr.split())
        self.assertIn("GTest is missing, which DELTAMATCH_TESTS takes. Install it with `scripts/setup`, or", told)


class RunTests(unittest.TestCase):
    """On a build of a few commands."""

    def run_tests(self, *commands):
        with tempfile.TemporaryDirectory() as directory:
            build = pathlib.Path(directory, "build", "tiny")
            build.mkdir(parents=True)
            pathlib.Path(directory, "scripts").mkdir()
            shutil.copy(ROOT / "scripts/run-tests", pathlib.Path(directory, "scripts"))
            (build / "CTestTestfile.cmake").write_text("".join(
                f'add_test(test{number} "bash" "-c" "{command}")\n' for number, command in enumerate(commands)))
            return subprocess.run([pathlib.Path(directory, "scripts/run-tests"), "tiny"], capture_output=True, text=True, check=False)

    def test_what_passes_passes(self):
        done = self.run_tests("true", "true")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("100% tests passed, 0 tests failed out of 2\n", done.stdout)
        self.assertNotIn("once more", done.stdout)

    def test_what_fails_twice_fails(self):
        done = self.run_tests("true", "false")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("once more, by themselves: test1\n", done.stdout)
        self.assertNotIn("100% tests passed", done.stdout)

    def test_what_passes_by_itself_is_named(self):
        done = self.run_tests("true", "true", "mkdir twice 2>/dev/null && exit 3; true")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "100% tests passed, 0 tests failed out of 3; only by themselves passed: test2")

    def test_when_much_fails_it_fails_at_once(self):
        done = self.run_tests(*["false"] * 11)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("once more", done.stdout)


class DemoDigest(unittest.TestCase):
    """The demo fails unless what was planted is found, and nothing else."""

    TRUTH = ("name,pattern,kind,misses,keys,counted,closes,recalled\n"
             "ring-1,ring,planted,,tx-1 tx-2 tx-3,,3000000,4000000\n"
             "ring-2,ring,planted,,tx-4 tx-5 tx-6,,6000000,\n"
             "ring-too_slow-1,ring,decoy,too_slow,tx-7 tx-8 tx-9,,9000000,\n")

    def run_digest(self, *alerts, path=True, query="ring", truth=""):
        """Alerts (sign, keys), each of which has the number of its last key as its seconds. `path`: the edges are one path."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            edges = [[{"source": f"acct-{key}", "target": f"acct-{key + 1}", "key": f"tx-{key}", "time": key * 1000000,
                       "attributes": {"amount": f"{key * 1000}.50"}} for key in keys] for _, keys in alerts]
            (folder / "alerts.jsonl").write_text("".join(
                json.dumps({"query": query if len(keys) < 3 else "ring", "sign": sign, "time": keys[-1] * 1000000,
                            "edges": [payments] if path else payments}) + "\n"
                for (sign, keys), payments in zip(alerts, edges)))
            (folder / "planted.csv").write_text(self.TRUTH + truth)
            seconds = {step: 1 for step in ("apply", "estimate", "cache", "match", "settle", "total")}
            (folder / "report.json").write_text(json.dumps({"updates": 4, "batches": 4, "seconds": seconds}))
            return subprocess.run([sys.executable, "-B", ROOT / "scripts" / "demo_digest.py", folder], capture_output=True, text=True,
                                  check=False)

    FIRST, SECOND, SLOW = (1, 2, 3), (4, 5, 6), (7, 8, 9)

    def test_the_first_smurfing_is_shown_with_its_count(self):
        done = self.run_digest(("+", self.FIRST), ("-", self.FIRST), ("+", self.SECOND), ("+", (11,)), path=False, query="smurfing",
                               truth="smurfing-1,smurfing,planted,,tx-11,tx-20 tx-21,11000000,\n")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the first smurfing, planted as smurfing-1, with 2 payments that count:\n", done.stdout)
        self.assertIn("  1970-01-01 00:00:11  acct-11  acct-12  11,000.50  tx-11\n", done.stdout)

    def test_of_a_pattern_that_is_not_planted_matches_are_counted(self):
        done = self.run_digest(("+", self.FIRST), ("-", self.FIRST), ("+", self.SECOND), ("+", (11,)), ("-", (12,)), query="other")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("other                      -       1                  -        -              -          1\n", done.stdout)
        self.assertIn("found = planted: 2 of 2; wrongly reported: 0, beside 1 decoys; vanished by a charge-back: 1", done.stdout)

    def test_all_found(self):
        done = self.run_digest(("+", self.FIRST), ("-", self.FIRST), ("+", self.SECOND))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("found = planted: 2 of 2; wrongly reported: 0, beside 1 decoys; vanished by a charge-back: 1", done.stdout)
        self.assertIn("pattern              planted   found   wrongly reported   decoys   charged back   vanished\n"
                      "ring                       2       2                  0        1              1          1\n", done.stdout)
        self.assertIn("the first ring, planted as ring-1:\n"
                      "  when                 from    to        amount  key\n"
                      "  1970-01-01 00:00:01  acct-1  acct-2  1,000.50  tx-1\n"
                      "  1970-01-01 00:00:02  acct-2  acct-3  2,000.50  tx-2\n"
                      "  1970-01-01 00:00:03  acct-3  acct-4  3,000.50  tx-3\n", done.stdout)

    def test_what_is_wrong_is_named(self):
        first, second, slow = self.FIRST, self.SECOND, self.SLOW
        for alerts, says in [
            ([("+", second)], "missed (+): ring-1, payments tx-1 tx-2 tx-3"),
            ([("+", first), ("+", second)], "missed (-): ring-1, payments tx-1 tx-2 tx-3"),
            ([("+", first), ("-", first), ("+", second), ("+", slow)], "ring tx-7 tx-8 tx-9: a decoy, too_slow"),
            ([("+", first), ("-", first), ("+", second), ("+", (1, 2, 5))], "ring tx-1 tx-2 tx-5: not planted"),
            ([("+", first), ("-", first), ("+", second), ("+", second)], "ring tx-4 tx-5 tx-6: reported twice"),
            ([("+", first), ("-", first), ("+", second), ("-", second)], "ring tx-4 tx-5 tx-6: nothing was charged back"),
            ([("+", first), ("-", first), ("+", (6, 5, 4))], "ring tx-6 tx-5 tx-4: it closed at 1970-01-01 00:00:06"),
        ]:
            with self.subTest(says=says):
                done = self.run_digest(*alerts)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(says, done.stdout)


class BenchTables(unittest.TestCase):
    """The benchmark scripts, with programs that answer at once."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def write_program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/usr/bin/env python3\nimport json, pathlib, sys\n" + text)
        path.chmod(0o755)

    def run_python(self, *args):
        return subprocess.run([sys.executable, "-B", *map(str, args)], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.folder}/path:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "bench/papers")})

    def plot(self, gnuplot):
        self.write_program("path/gnuplot", gnuplot)
        return self.run_python("-c", "import pathlib\nfrom harness import script, tables\n"
                                     "def body():\n"
                                     "    out = tables.Writer(pathlib.Path('out'))\n"
                                     "    out.add('Title', 'text')\n"
                                     "    out.plot('name', 'Title', [['x', 'y'], [1, 2]], [], 'DATA')\n"
                                     "    print(out.write('Page'))\n"
                                     "script.main(body)\n")

    def test_a_plot_is_drawn(self):
        done = self.plot("pathlib.Path('name.png').write_text('drawn')\n")
        self.assertEqual((done.returncode, done.stdout), (0, "out/tables.md, 1 plots\n"), done.stderr)
        self.assertIn("![Title](name.png)", (self.folder / "out/tables.md").read_text())

    def test_a_plot_that_is_empty_is_refused_once_the_tables_are_written(self):
        for ends in ("", "sys.exit('line 7: no points')\n"):
            with self.subTest(ends=ends):
                done = self.plot("pathlib.Path('name.png').write_text('')\n" + ends)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("out/name.gp: gnuplot draws nothing, exit " + ("1: line 7: no points" if ends else "0"), done.stderr)
                self.assertFalse((self.folder / "out/name.png").exists())
                self.assertNotIn("name.png", (self.folder / "out/tables.md").read_text())

    def test_prose_is_wrapped_and_tables_and_code_are_not(self):
        (self.folder / "page.md").write_text("\n\n".join(("w " * 60, "- " + "w " * 60 + "\n- a", "| " + "w " * 60 + "|\n|---|", "    " + "w " * 60)))
        done = self.run_python("-c", "import pathlib\nfrom harness import tables\nprint(tables.wrapped(pathlib.Path('page.md').read_text()))")
        self.assertEqual([len(line) for line in done.stdout.splitlines()], [99, 19, 0, 99, 23, 3, 0, 123, 5, 0, 124], done.stderr)

    def test_techniques_without_a_time_of_a_graph_are_drawn_without_it(self):
        if shutil.which("gnuplot") is None:
            self.skipTest("gnuplot is missing")
        one = {"labels": 1, "vertices": 4, "shape": "dense", "matches": 1}
        records = [{**one, "graph": "a", "seconds": {"x": 1, "y": 2}}, {**one, "graph": "b", "seconds": {"x": None, "y": 2}}]
        done = self.run_python("-c", f"import pathlib, static_sets_report\nfrom harness import tables\nout = tables.Writer(pathlib.Path('out'))\n"
                                     f"static_sets_report.techniques({records}, out)\nout.write('Page')\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater((self.folder / "out/techniques.png").stat().st_size, 0)
        self.assertEqual((self.folder / "out/techniques.dat").read_text().splitlines()[0], '"way"\t"a"')
        self.assertIn("| way | a | b |", (self.folder / "out/tables.md").read_text())

    def test_filtering_is_compared_on_the_backend_that_is_asked_for(self):
        self.write_program("build/bin/deltamatch", "pathlib.Path('told').open('a').write(sys.argv[sys.argv.index('--backend') + 1] + ' ')\n"
                                                   "print(json.dumps({'queries': [{'name': 'q_1', 'matches': 3, 'seconds': 0.01}]}))\n")
        (self.folder / "queries").mkdir()
        (self.folder / "queries/q_1.graph").write_text("t 2 1\nv 0 A\nv 1 A\ne 0 1\n")
        for options, expected in ([], "cpu"), (["--backend", "gpu"], "gpu"):
            done = self.run_python(ROOT / "bench/programs/filter_rule.py", "g.graph=queries", "--build", "build", "--repeat", "1", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(set((self.folder / "told").read_text().split()), {expected})
            (self.folder / "told").unlink()
        self.assertEqual(self.run_python(ROOT / "bench/programs/filter_rule.py", "g.graph=queries", "--backend", "tpu").returncode, 2)

    def test_mining_columns_are_named_by_what_ran(self):
        for kernels, threads, heads in [(0, [1, 2], "1 thread | 2 threads"), (3, [16], "GPU"), (3, [1, 16], "GPU, 1 thread | GPU, 16 threads"),
                                        (1, [16], "16 threads or GPU")]:
            with self.subTest(heads=heads):
                records = [{"graph": "g", "what": "motifs", "k": k, "counts": {"clique": 1}, "seconds": {str(n): 1.0 for n in threads},
                            "kernel_seconds": {str(n): 0.5 for n in threads} if k - 3 < kernels else {}} for k in (3, 4, 5)]
                done = self.run_python("-c", "import argparse, mining_sizes\n"
                                             f"print(' | '.join(mining_sizes.rows_of(argparse.Namespace(threads={threads}), {records})[0]))")
                self.assertIn(f"| counted | {heads} | ", done.stdout, done.stderr)


class Results(unittest.TestCase):
    """A figure names its command, machine and commit, and a list says what each raw file is."""

    RESULTS = ROOT / "bench/results"
    COMMIT = r"\b[0-9a-f]{7,12}\b"

    def test_every_raw_file_is_listed(self):
        raw = self.RESULTS / "raw"
        listed = re.findall(r"\]\(([^)#]+)\)", (raw / "README.md").read_text(encoding="utf-8"))
        files = [str(path.relative_to(raw)) for path in raw.rglob("*") if path.suffix in (".json", ".jsonl", ".md")]
        self.assertEqual([name for name in sorted(files) if name not in listed and name != "README.md"], [])

    def test_raw_lines_begin_with_date_commit_and_machine(self):
        for path in self.RESULTS.glob("raw/**/*.jsonl"):
            with self.subTest(file=path.name):
                first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
                self.assertEqual(first["kind"], "run")
                self.assertTrue(first["date"] and first["commit"] and first["cpu"] and first["cores"])

    def test_tables_begin_with_their_command(self):
        for path in self.RESULTS.glob("raw/**/tables.md"):
            with self.subTest(file=str(path)):
                self.assertRegex(path.read_text(encoding="utf-8")[:200], r"\n    bench/[\w/]+\.py ")

    def test_every_page_names_a_commit_and_a_machine(self):
        for path in self.RESULTS.glob("*.md"):
            if path.name != "README.md":
                with self.subTest(page=path.name):
                    text = path.read_text(encoding="utf-8")
                    self.assertRegex(text, self.COMMIT)
                    self.assertRegex(text, "AMD EPYC|H200")
                    self.assertRegex(text, "(?m)^    [a-zA-Z]|`bench/")


if __name__ == "__main__":
    unittest.main()
