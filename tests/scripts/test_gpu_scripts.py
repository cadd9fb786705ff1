"""gpu_bench compares what it measures; scripts/gpu_tests.py survives hangs and crashes; bench/papers/plot.py reads what gpu_bench writes.

usage: test_gpu_scripts.py GPU_BENCH DELTAMATCH [TEST_GPU_MATCH]
"""

import gzip
import itertools
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERIES = ROOT / "bench" / "queries" / "gpu"
BENCH = None
PROGRAM = None
GPU_MATCH = None  # where there is one


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
            self.assertIs(line["agrees"], True)
            self.assertEqual((line["batches"], line["compared"]), (2, 3), "and the batch that warms up")
            self.assertGreater(line["median"]["total"], 0)
        self.assertEqual(results[2]["new"], results[3]["new"])
        self.assertGreater(int(results[2]["new"]), 0)

    def test_other_counts_are_a_failure(self):
        code, lines = bench("--queries", QUERIES / "plain" / "q1-house.graph", "--policies", "cpu,cpu-1", "--corrupt", "cpu-1")
        self.assertEqual((code, lines[-1]["failures"]), (1, 3))
        self.assertEqual([line["policy"] for line in lines if line["kind"] == "mismatch"], ["cpu-1"] * 3)
        self.assertEqual([line["agrees"] for line in lines if line["kind"] == "bench"], [True, False])

    def test_what_runs_alone_agrees_with_nobody(self):
        query = QUERIES / "plain" / "q1-house.graph"
        for more in ((), ("--whole",)):
            code, lines = bench("--queries", query, "--policies", "cpu", *more)
            results = [line for line in lines if line["kind"] in ("bench", "whole")]
            self.assertEqual((code, [line["agrees"] for line in results]), (0, [None]), more)

    def test_caches_are_held_to_what_is_looked_up(self):
        budgets = (4096, 16384, 1 << 20)
        done = subprocess.run([pathlib.Path(BENCH).parents[1] / "bin" / "bench_caching", "--graph", "rmat", "--scale", "10", "--edges", "4000",
                               "--batches", "3", "--warmup", "2", "--batch", "64", "--queries", QUERIES / "plain" / "q1-house.graph",
                               "--policies", "truth,degree,random-walk", "--budgets", ",".join(map(str, budgets)), "--walks", "65536",
                               "--threads", "2"], capture_output=True, text=True, check=True)
        found = {(line["policy"], line["budget"]): line for line in map(json.loads, done.stdout.splitlines()) if line["kind"] == "caching"}
        self.assertEqual(len(found), 9)
        other = subprocess.run([pathlib.Path(BENCH).parents[1] / "bin" / "bench_caching", "--queries", QUERIES / "plain" / "q1-house.graph",
                                "--policies", "k_hop"], capture_output=True, text=True, check=False)
        self.assertEqual(other.returncode, 1)
        self.assertIn("'k_hop' is not offered; take none, degree, k-hop, random-walk or truth", other.stderr)
        self.assertEqual(len({line["look_ups"] for line in found.values()}), 1, "the batches are the same")
        for (policy, budget), line in found.items():
            self.assertLessEqual(line["cached_bytes"], budget)
            self.assertLessEqual(line["bus_saved"], found["truth", budget]["bus_saved"] + 0.01, f"{policy} knows no more than all")
        for budget in budgets[:2]:
            self.assertTrue(0.1 < found["random-walk", budget]["bus_saved"] < 1, budget)
            self.assertGreaterEqual(found["random-walk", budget]["bus_saved"], found["degree", budget]["bus_saved"] - 0.05)
        # All fits but what the batch itself brings.
        self.assertGreater(min(found[policy, budgets[2]]["hits"] for policy in ("truth", "degree")), 0.95)

    def test_what_is_looked_up_ahead_is_told_and_changes_no_count(self):
        query = QUERIES / "plain" / "q3-strip.graph"
        runs = [[line for line in bench("--queries", query, "--policies", "cpu,cpu-1", *more)[1] if line["kind"] == "bench"]
                for more in ((), ("--ahead",))]
        self.assertEqual([(line["ahead"], line["median"]["anticipate"] > 0) for lines in runs for line in lines],
                         [(False, False)] * 2 + [(True, True)] * 2)
        self.assertEqual(*([(line["new"], line["removed"]) for line in lines] for lines in runs))
        for line in runs[1]:
            parts = sum(line["mean"][step] for step in ("apply", "estimate", "cache", "match", "settle"))
            self.assertAlmostEqual(line["mean"]["total"], parts, msg="what runs beside the steps is no part of them")

    def test_a_stream_gives_the_same_counts_every_time(self):
        query = QUERIES / "labelled" / "q1-house.graph"
        runs = [bench("--queries", f"{query},{query}", "--labels", "3")[1] for _ in range(2)]
        counts = [(line["new"], line["removed"]) for lines in runs for line in lines if line["kind"] == "bench"]
        self.assertEqual(len(counts), 4)
        self.assertEqual(len(set(counts)), 1)

    def test_whole_graphs_agree_and_make_tables(self):
        queries = f"{QUERIES / 'plain' / 'q1-house.graph'},{QUERIES / 'whole' / 'w1-diamond.graph'}"
        code, lines = bench("--whole", "--queries", queries, "--policies", "cpu,cpu-1")
        results = [line for line in lines if line["kind"] == "whole"]
        self.assertEqual((code, lines[-1]["failures"], lines[-1]["skipped"]), (0, 0, 0))
        self.assertEqual([(line["query"], line["policy"], line["agrees"]) for line in results],
                         [(query, policy, agrees) for policy, agrees in (("cpu", None), ("cpu-1", True))
                          for query in ("q1-house", "w1-diamond")])
        self.assertEqual([line["matches"] for line in results[:2]], [line["matches"] for line in results[2:]])
        self.assertGreater(int(results[1]["matches"]), 0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "results.jsonl")
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            subprocess.run([sys.executable, ROOT / "bench/papers/plot.py", path, "--out", folder], check=True, capture_output=True)
            tables = pathlib.Path(folder, "tables.md").read_text(encoding="utf-8")
        self.assertIn("Counts of a whole graph (s)", tables)
        self.assertNotIn("nothing was compared with", tables, "the first is confirmed by the second")
        self.assertIn(results[1]["matches"], tables)
        code, lines = bench("--whole", "--queries", queries, "--policies", "cpu,cpu-1", "--corrupt", "cpu-1")
        self.assertEqual((code, lines[-1]["failures"]), (1, 2))

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


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


class GpuTests(unittest.TestCase):
    """The program under test prints what gtest prints. One of its tests each passes, fails, hangs, crashes or is skipped. Two more pass
    by themselves: beside others one hangs and one fails."""

    PROGRAM = """#!/usr/bin/env python3
import os, sys, time
names = ["Good", "Shy", "Moody", "Bad", "Hangs", "Crashes", "Skips", "Last"]
if "--gtest_list_tests" in sys.argv:
    print("Suite.\\n" + "\\n".join("  " + name for name in names))
    sys.exit()
wanted = sys.argv[1].split("=")[1].split(":")
bad = False
for name in names:
    if "Suite." + name not in wanted: continue
    print(f"[ RUN      ] Suite.{name}", flush=True)
    if name == "Hangs" or name == "Shy" and len(wanted) > 1: time.sleep(600)
    if name == "Crashes": os.abort()
    states = {"Bad": "[  FAILED  ]", "Skips": "[  SKIPPED ]", "Moody": "[       OK ]" if len(wanted) == 1 else "[  FAILED  ]"}
    state = states.get(name, "[       OK ]")
    bad |= "FAILED" in state
    print(f"{state} Suite.{name} (0 ms)", flush=True)
sys.exit(bad)
"""

    ALWAYS = {"Suite.Bad": "failed", "Suite.Moody": "failed", "Suite.Hangs": "hung", "Suite.Crashes": "crashed with -6"}

    def run_tests(self, *jobs):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "tests")
            program.write_text(self.PROGRAM)
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            out = pathlib.Path(folder, "out.jsonl")
            done = subprocess.run([sys.executable, ROOT / "scripts/gpu_tests.py", program, "*", "2", out, pathlib.Path(folder, "log"), *jobs],
                                  capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(done.returncode, 1, done.stderr)
        self.closing = done.stdout.splitlines()[-1]
        return {line["test"]: line["state"] for line in lines[:-1]}, lines[-1]

    def test_every_test_is_run_and_told(self):
        failures, sums = self.run_tests()
        self.assertEqual(failures, self.ALWAYS | {"Suite.Shy": "hung"})
        self.assertEqual((sums["tests"], sums["failed"], sums["skipped"]), (8, 5, 1))
        self.assertRegex(self.closing, r"^tests: 8 tests, 5 failed, 1 skipped, .* s$")

    def test_what_is_ended_beside_others_is_run_by_itself(self):
        failures, sums = self.run_tests("2")
        self.assertEqual(failures, self.ALWAYS, "who says that something is wrong is believed")
        self.assertEqual((sums["tests"], sums["failed"], sums["skipped"], sums["passed_alone"]), (8, 4, 1, ["Suite.Shy"]))
        self.assertEqual(self.closing, "tests: ended beside others and passed by themselves: Suite.Shy")


    def test_what_is_cut_off_tells_what_is_known(self):
        """It is ended as timeout does it, by a signal to the whole group, once a test has passed and the next one hangs."""
        with tempfile.TemporaryDirectory() as folder:
            program, out, log = (pathlib.Path(folder, name) for name in ("tests", "out.jsonl", "log"))
            write_program(program, self.PROGRAM)
            running = subprocess.Popen(["bash", "-c", '"$@"; exit $?', "bash", sys.executable, ROOT / "scripts/gpu_tests.py", program, "*", "600", out, log],
                                       stdout=subprocess.PIPE, text=True, start_new_session=True)
            while not (log.exists() and "RUN      ] Suite.Shy" in log.read_text()):
                self.assertIsNone(running.poll(), "it has ended by itself")
                time.sleep(0.01)
            os.killpg(running.pid, signal.SIGTERM)
            running.communicate()
            lines = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertNotEqual(running.returncode, 0)
        self.assertEqual((lines[-1]["tests"], lines[-1]["failed"]), (8, 0))
        self.assertEqual(lines[-1]["not_told"], [f"Suite.{name}" for name in ("Shy", "Moody", "Bad", "Hangs", "Crashes", "Skips", "Last")])


class RunStatic(unittest.TestCase):
    """scripts/gpu-run on a bundle whose program takes the CPU for a GPU, and perhaps tells something else there."""

    def run_static(self, of_gpu):
        with tempfile.TemporaryDirectory() as folder:
            bundle, data = pathlib.Path(folder, "bundle"), pathlib.Path(folder, "data", "snap-static")
            (bundle / "bin").mkdir(parents=True)
            data.mkdir(parents=True)
            program = bundle / "bin" / "deltamatch"
            program.write_text(f'#!/usr/bin/env bash\nif [[ " $* " == *" gpu "* ]]; then {PROGRAM} "${{@/#gpu/cpu}}" | {of_gpu}; '
                               f'else {PROGRAM} "$@"; fi\n')
            program.chmod(0o755)
            edges = [(u, v) for u in range(30) for v in range(u) if (7 * u + 5 * v) % 4 == 0]
            text = "".join(f"{u + 1},{v + 1}\n" for u, v in edges)
            for name in ("email-enron", "ca-condmat-cc1"):
                (data / f"{name}.jlg").write_text(f"30,{len(edges)},u,{name}\n{text}")
            out = pathlib.Path(folder, "out.jsonl")
            done = subprocess.run([ROOT / "scripts/gpu-run", "--only", "static", bundle, out], capture_output=True, text=True,
                                  check=False, env={**os.environ, "DELTAMATCH_DATA": str(data.parent)})
            return done.returncode, [json.loads(line) for line in out.read_text().splitlines()]

    def test_what_was_measured_is_in_the_results(self):
        code, lines = self.run_static("cat")
        self.assertEqual(code, 0, lines)
        names = ["static-email-enron", "mining-email-enron", "mining-ca-condmat"]
        self.assertEqual([(line["kind"], line["name"]) for line in lines[1:]], [(kind, name) for name in names for kind in ("command", "static")])
        self.assertEqual(lines[1]["command"].split()[:2], ["bench/programs/static.py", "snap-static/email-enron.jlg"])
        house = next(query for query in lines[2]["measured"]["queries"] if query["query"] == "house")
        self.assertIn("GPU", house["seconds"])

    def test_another_count_is_a_failure(self):
        code, lines = self.run_static(r"""sed -E 's/"(matches|count)":[0-9]+/"\1":1/g'""")
        self.assertEqual(code, 1)
        self.assertEqual({line["kind"] for line in lines[1:]}, {"command", "failure"})


class GpuRun(unittest.TestCase):
    """scripts/gpu-run with tools that only print what the real ones would."""

    TOOL = """#!/usr/bin/env bash
tool=$2
test=${@: -1}
[ "$DELTAMATCH_BRIEF_TESTS" = 1 ] || exit 1
case $test in *Hangs*) sleep 60 ;; *Races*) echo "========= ERROR: Race"; exit 9 ;; *Bad*) echo "[  FAILED  ]"; exit 1 ;; esac
case $test in *Crowded*) [ -e "$0.$tool" ] || { touch "$0.$tool"; exit 1; } ;; esac
case $test in *Elsewhere*) echo "[  PASSED  ] 1 test."; echo "Error: Target application terminated before first instrumented API call"; exit 1 ;; esac
case $test in *Skips*) echo "[  SKIPPED ] $test" ;; *Silent*) exit 0 ;; esac
case $tool in racecheck) echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" ;;
              *) echo "========= ERROR SUMMARY: 0 errors" ;; esac
"""
    TESTS = """#!/usr/bin/env bash
[[ $* == *OfNothing* ]] || printf 'Suite.\n  Test\n'
"""
    TROUBLED = TESTS.replace("  Test", "  Test\\n  Other\\n  Hangs\\n  Races\\n  Bad\\n  Skips\\n  Silent\\n  Elsewhere")
    CROWDED = TESTS.replace("  Test", "  Test\\n  Crowded")
    NCU = """#!/usr/bin/env bash
[ "$1" != --query-metrics ] || exit 0
echo '"ID","gpu__time_duration.sum"'
echo '"","ns"'
echo '"0","1000"'
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bundle = self.folder / "bundle"
        (self.bundle / "bin").mkdir(parents=True)
        (self.folder / "tools").mkdir()
        write_program(self.folder / "tools" / "compute-sanitizer", self.TOOL)
        write_program(self.folder / "tools" / "ncu", self.NCU)

    def run_it(self, *args):
        out = self.folder / "out.jsonl"
        path = f"{self.folder / 'tools'}:{os.environ['PATH']}"
        done = subprocess.run([ROOT / "scripts/gpu-run", *args, self.bundle, out], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": path})
        return done.returncode, [json.loads(line) for line in out.read_text().splitlines()]

    def test_every_tool_runs_every_test(self):
        for name in ("test_gpu", "test_gpu_match"):
            write_program(self.bundle / "bin" / name, self.TESTS)
        code, lines = self.run_it("--only", "sanitize")
        self.assertEqual(code, 0, lines)
        told = [(line["program"], line["tool"], line["tests"], line["clean"]) for line in lines[1:]]
        self.assertEqual(told, [(name, tool, 1, 1) for name in ("test_gpu", "test_gpu_match") for tool in ("memcheck", "synccheck", "racecheck")])
        code, lines = self.run_it("--only", "sanitize", "--tools", "racecheck", "--match-filter", "*.Test:A.OfNothing")
        self.assertEqual((code, [line["tool"] for line in lines[-3:] if line["kind"] == "sanitize"]), (1, ["racecheck"] * 2))
        self.assertIn("test_gpu_match has no test A.OfNothing", [line.get("output") for line in lines])

    def test_what_a_tool_finds_is_a_failure(self):
        for name in ("test_gpu", "test_gpu_match"):
            write_program(self.bundle / "bin" / name, self.TROUBLED)
        code, lines = self.run_it("--only", "sanitize", "--tools", "racecheck", "--tests", "2", "--jobs", "4")
        self.assertEqual(code, 1)
        for line in lines[1:]:
            self.assertEqual((line["tests"], line["clean"], line["skipped"], line["without_calls"]), (8, 2, 1, 1))
            self.assertEqual({fate: line[fate] for fate in ("errors", "failed", "not_ended", "not_begun")},
                             {"errors": ["Suite.Races"], "failed": ["Suite.Bad", "Suite.Silent"], "not_ended": ["Suite.Hangs"], "not_begun": []})
        code, lines = self.run_it("--only", "sanitize", "--tools", "racecheck", "--tests", "60", "--limit", "1")
        self.assertTrue(lines[-1]["not_begun"])

    def test_what_fails_beside_others_runs_once_more_by_itself(self):
        for name in ("test_gpu", "test_gpu_match"):
            write_program(self.bundle / "bin" / name, self.CROWDED)
        code, lines = self.run_it("--only", "sanitize", "--tools", "racecheck", "--jobs", "4")
        self.assertEqual((code, [line["clean"] for line in lines[1:]]), (0, [2, 2]))
        code, lines = self.run_it("--only", "sanitize", "--tools", "synccheck")
        self.assertEqual((code, lines[-2]["failed"]), (1, ["Suite.Crowded"]))

    def test_every_profile_tells_its_command(self):
        write_program(self.bundle / "bin" / "gpu_bench", "")
        code, lines = self.run_it("--only", "profile", "--profile-queries", "q1-house,q6-two-cliques", "--profile-graph",
                                  "--graph grid --memory 1M", "--profile-policies", "none,resident")
        self.assertEqual(code, 0, lines)
        self.assertEqual([line["command"] for line in lines[1:]],
                         [f"bin/gpu_bench --graph grid --memory 1M --batch 4096 --batches 3 --policies {policy} --queries "
                          f"bench/queries/gpu/plain/{query}.graph" for query in ("q1-house", "q6-two-cliques")
                          for policy in ("none", "resident")])
        self.assertEqual({(line["launches"], line["graph"]) for line in lines[1:]}, {(1, "--graph grid --memory 1M")})

    def test_benchmarks_tell_their_command_and_the_heading_the_commit(self):
        (self.bundle / "bin" / "gpu_bench").symlink_to(BENCH)
        write_program(self.bundle / "bin" / "look_up", "")
        (self.bundle / "commit").write_text("0123abc-dirty\n")
        benchmarks = self.folder / "set"
        options = f"--graph grid --vertices 400 --batch 16 --queries {QUERIES}/plain/q3-strip.graph --policies cpu"
        benchmarks.write_text(f"small: {options}\n")
        code, lines = self.run_it("--only", "bench", "--set", benchmarks)
        self.assertEqual((code, lines[0]["commit"]), (0, "0123abc-dirty"))
        self.assertEqual([line["command"] for line in lines if line["kind"] == "command"],
                         [f"gpu_bench {options.replace(f'{ROOT}/', '')}", "look_up"])
        self.assertEqual([line["kind"] for line in lines], ["run", "command", "graph", "load", "bench", "end", "command"])
        self.assertEqual(self.run_it("--only", "none", "--commit", "other")[1][-1]["commit"], "other")

    @unittest.skipUnless(shutil.which("patchelf"), "patchelf is missing")
    def test_a_bundle_tells_its_commit(self):
        def git(*args):
            return subprocess.run(["git", "-C", ROOT, *args], capture_output=True, text=True, check=False).stdout.strip()
        made = self.folder / "made"
        for _ in range(2):  # what is a bundle is made anew
            subprocess.run([ROOT / "scripts/gpu-bundle", pathlib.Path(PROGRAM).parents[1], made], check=True, capture_output=True)
        expected = (git("rev-parse", "HEAD") or "unknown") + ("-dirty" if git("status", "--porcelain") else "")
        self.assertEqual((made / "commit").read_text().strip(), expected)

    def test_a_bundle_replaces_nothing_else(self):
        kept = self.folder / "kept"
        kept.mkdir()
        (kept / "precious").touch()
        for build, folder, message in ((pathlib.Path(PROGRAM).parents[1], kept, "is there and no bundle"),
                                       (self.folder / "nowhere", kept, "is no build folder")):
            done = subprocess.run([ROOT / "scripts/gpu-bundle", build, folder], check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
            self.assertTrue((kept / "precious").exists())

    def test_what_it_does_not_know_is_refused(self):
        for words, message in ((("--only", "bogus"), "no section bogus"), (("--set", "nowhere"), "no set of benchmarks nowhere"),
                               (("--limit", "x"), "'x' is no number"), (("--jobs", "0"), "'0' is no number")):
            done = subprocess.run([ROOT / "scripts/gpu-run", *words, self.bundle, self.folder / "out"], check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / "out").exists())

    def test_sets_name_queries_that_are_there(self):
        write_program(self.bundle / "bin" / "gpu_bench", """#!/usr/bin/env bash
queries='' out=''
while [ $# -gt 0 ]; do case $1 in --queries) queries=$2 ;; --out) out=$2 ;; esac; shift; done
[ -n "$queries" ] || exit 1
for query in ${queries//,/ }; do [ -e "$query" ] || exit 1; done
echo '{"kind":"bench"}' | tee -a "$out"
""")
        write_program(self.bundle / "bin" / "look_up", "")
        for name, count in (("quick", 3), ("full", 20), ("devices", 1)):
            (self.folder / "out.jsonl").unlink(missing_ok=True)
            code, lines = self.run_it("--only", "bench", "--set", name)
            self.assertEqual(code, 0, lines)
            names = [line["name"] for line in lines if line["kind"] == "command" and line["name"] != "look_up"]
            self.assertGreaterEqual(len(names), count)
            self.assertEqual(len(set(names)), len(names))
            self.assertEqual(len([line for line in lines if line["kind"] == "bench"]), len(names))
        code, lines = self.run_it("--only", "bench", "--bench", "nonesuch")
        self.assertEqual((code, [line["name"] for line in lines if line["kind"] == "failure"]), (1, ["nonesuch"]))


class RealStreams(unittest.TestCase):
    """The helper of the tests on real streams, with a program that tells what it was given."""

    CASE = """import streams
class Case(streams.StreamTest):
    def test_one(self):
        for command in ("replay", "match", "motifs"):
            print(command, self.program(command, "a")["args"])
streams.main()
"""

    def run_case(self, backend, **environment):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            write_program(program, "#!/usr/bin/env python3\nimport json, sys\n"
                                   f"print(json.dumps({{'args': sys.argv[1:], **{backend}}}))\n")
            path = f"{ROOT / 'tests/slow'}:{ROOT / 'tests/cli'}"
            done = subprocess.run([sys.executable, "-B", "-c", self.CASE], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": path, "DELTAMATCH_PROGRAM": str(program), **environment})
        return done.returncode, done.stdout.splitlines()

    def test_options_are_added_to_what_matches(self):
        code, lines = self.run_case({}, DELTAMATCH_MATCH_OPTIONS="--gpu-memory '1 M'")
        more = ["--gpu-memory", "1 M"]
        self.assertEqual((code, lines), (0, [f"replay {['replay', 'a', '--json', *more]}", f"match {['match', 'a', '--json', *more]}",
                                             "motifs ['motifs', 'a', '--json']"]))

    def test_the_backend_is_asked_for(self):
        self.assertEqual(self.run_case({"backend": "gpu"}, DELTAMATCH_NEEDS_GPU="1")[0], 0)
        self.assertEqual(self.run_case({}, DELTAMATCH_NEEDS_GPU="1")[0], 1)
        self.assertEqual(self.run_case({})[0], 0)


def make_bundle(folder, text):
    """A bundle with this program as its deltamatch."""
    bundle = pathlib.Path(folder, "bundle")
    (bundle / "bin").mkdir(parents=True)
    write_program(bundle / "bin" / "deltamatch", text)
    return bundle


class Streams(unittest.TestCase):
    """bench/programs/streams.py through scripts/gpu-run, with a program that takes the CPU for a GPU and tells so, or not, or other counts."""

    def run_streams(self, change, place=None):
        """place: of the data, from a folder with the checkout in `repository`; where it is None, it is told by the environment."""
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, place or "data")
            root = pathlib.Path(folder, "repository")
            root.mkdir()
            for name in ("bench", "scripts"):
                (root / name).symlink_to(ROOT / name)
            environment = {name: value for name, value in os.environ.items() if name != "DELTAMATCH_DATA"}
            if place is None:
                environment["DELTAMATCH_DATA"] = str(data)
            bundle = make_bundle(folder, f"""#!/usr/bin/env python3
import json, subprocess, sys
words, gpu = sys.argv[1:], "--gpu-policy" in sys.argv
if gpu: words = words[:words.index("--gpu-policy")]
told = json.loads(subprocess.run([{str(PROGRAM)!r}, *words], capture_output=True, check=True).stdout)
if gpu: told |= {{"backend": "gpu", "cache": {{"hits": 3, "misses": 1}}}}
{change}
print(json.dumps(told))
""")
            for name in ("sx-mathoverflow/sx-mathoverflow-a2q", "sx-mathoverflow/sx-mathoverflow-c2q", "sx-mathoverflow/sx-mathoverflow-c2a",
                         "email-eu-core-temporal/email-Eu-core-temporal"):
                (data / name).parent.mkdir(parents=True, exist_ok=True)
                edges = "".join(f"{u} {v} {60 * u + v}\n" for u in range(12) for v in range(u))
                (data / f"{name}.txt.gz").write_bytes(gzip.compress(edges.encode()))
            out = pathlib.Path(folder, "out.jsonl")
            done = subprocess.run([root / "scripts/gpu-run", "--only", "streams", bundle, out], capture_output=True, text=True,
                                  check=False, env=environment)
            subprocess.run([sys.executable, ROOT / "bench/papers/plot.py", out, "--out", folder], check=False, capture_output=True)
            tables = pathlib.Path(folder, "tables.md")
            return done.returncode, [json.loads(line) for line in out.read_text().splitlines()], tables.read_text() if tables.exists() else ""

    def test_every_way_is_timed_and_stands_in_the_tables(self):
        code, lines, tables = self.run_streams("")
        self.assertEqual((code, [line["kind"] for line in lines]), (0, ["run", "command", "streams"]), lines)
        self.assertEqual(lines[1]["command"], f"bench/programs/streams.py --threads {len(os.sched_getaffinity(0))}")
        rows = lines[2]["measured"]
        self.assertEqual(len(rows), 6)
        for row in rows:
            self.assertEqual(list(row["ways"]), ["cpu", "resident", "random-walk", "none"])
            self.assertGreater(row["new"], 0)
        self.assertIn("## Runs\n\n- out.jsonl: ", tables)
        self.assertIn("| stream | query | batches |", tables)
        self.assertIn(f"| email-eu-core | house | {rows[4]['batches']} | {rows[4]['new']} | 0 | none |", tables)

    def test_data_are_found_beside_the_checkout_and_in_it(self):
        for place in ("shared/data", "repository/shared/data"):
            code, lines, _ = self.run_streams("", place)
            self.assertEqual((code, [line["kind"] for line in lines]), (0, ["run", "command", "streams"]), place)

    def test_what_ran_on_the_cpu_or_counts_otherwise_is_a_failure(self):
        for change in ('told.pop("backend", None)', 'told["queries"][0]["new"] += gpu'):
            code, lines, _ = self.run_streams(change)
            self.assertEqual((code, [line["kind"] for line in lines]), (1, ["run", "command", "failure"]), change)


class Papers(unittest.TestCase):
    """Tables of the static papers through scripts/gpu-run, with a program that takes the CPU for a GPU, and perhaps counts otherwise there."""

    def run_papers(self, change):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data")
            bundle = make_bundle(folder, f"""#!/usr/bin/env python3
import json, subprocess, sys
words, gpu = " ".join(sys.argv[1:]), " --backend gpu" in " ".join(sys.argv)
done = subprocess.run([{str(PROGRAM)!r}, *words.replace(" --backend gpu", "").split()], stdout=subprocess.PIPE, check=False)
told = json.loads(done.stdout)
if gpu: told |= {{"backend": "gpu", "kernel_seconds": 0.25, "cache": {{"kernel_seconds": 0.25}}}}
{change}
print(json.dumps(told))
sys.exit(done.returncode)
""")
            graphs = data / "snap-static"
            graphs.mkdir(parents=True)
            count = 20
            edges = sorted({(max(u, v), min(u, v)) for u in range(count) for v in ((u + 1) % count, (u + 2) % count, (7 * u + 3) % count) if u != v})
            rows = f"{count},{len(edges)},u,email-enron\n" + "".join(f"{u + 1},{v + 1}\n" for u, v in edges)
            (graphs / "email-enron.jlg").write_bytes(gzip.compress(rows.encode()))
            out = pathlib.Path(folder, "out.jsonl")
            (bundle / "commit").write_text("0123456789abcdef-dirty\n")
            done = subprocess.run([ROOT / "scripts/gpu-run", "--only", "papers", "--bench", "sizes", bundle, out], capture_output=True,
                                  text=True, check=False, env={**os.environ, "DELTAMATCH_DATA": str(data)})
            tables = pathlib.Path(f"{out}.logs", "sizes", "tables.md")
            return done.returncode, [json.loads(line) for line in out.read_text().splitlines()], tables.read_text() if tables.exists() else ""

    def test_every_way_stands_in_the_tables(self):
        code, lines, tables = self.run_papers("")
        self.assertEqual((code, [(line["kind"], line["name"]) for line in lines[1:]]),
                         (0, [("command", "papers-sizes"), ("paper", "sizes")]), lines)
        self.assertIn("| queries | backend gpu | backend cpu |", tables)
        self.assertRegex(tables, r"(?m)^Revision 0123456 with changes\b.*\.$")
        self.assertRegex(tables, r"(?s)## Time of kernels.*\| email-enron \|.*\| 250 \(250\) \|")

    def test_another_count_is_a_failure(self):
        code, lines, _ = self.run_papers('if gpu and "queries" in told: told["queries"][0]["matches"] += 1')
        self.assertEqual((code, [line["exit"] == 0 for line in lines if line["kind"] == "paper"]), (1, [False]), lines)


class Pages(unittest.TestCase):
    """Every script of bench/ that writes a page, on a small graph."""

    SCRIPTS = {"papers/static_sets.py": "rmat:6:4:2 --vertices 3 --queries 2",
               "papers/mining_sizes.py": "rmat:5:2 --what cliques --threads 1",
               "programs/graph_file.py": "--vertices 1500 --edges-per-vertex 2 --labels 2",
               "programs/filter_rule.py": "{folder}/g.graph={folder}/q --timeout 5",
               "programs/rings.py": "--vertices 60 --degrees 1.5 --timeout 2",
               "programs/time_rings.py": "{folder}/edges.txt",
               "programs/path_rings.py": "{folder}/edges.txt"}

    def test_a_page_tells_revision_compiler_and_processor(self):
        pages = [path.name for path in (ROOT / "bench").glob("p*/*.py") if "script.conditions(" in path.read_text()]
        self.assertEqual(len(pages), len(self.SCRIPTS), pages)
        git = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
        for script, words in self.SCRIPTS.items():
            with self.subTest(script=script), tempfile.TemporaryDirectory() as folder:
                results = pathlib.Path(folder, "results.json")
                edges = [f"e {u} {v}\n" for v in range(12) for u in range(v)]
                pathlib.Path(folder, "g.graph").write_text(f"t 12 {len(edges)}\n" + "".join(f"v {v} {v % 3}\n" for v in range(12)) + "".join(edges))
                pathlib.Path(folder, "edges.txt").write_text("".join(f"{i * i % 7} {i % 5} {1000 + 50 * i}\n" for i in range(60)))
                pathlib.Path(folder, "q").mkdir()
                for number, label in enumerate("012"):
                    pathlib.Path(folder, "q", f"wedge_{number}.graph").write_text(f"t 3 2\nv 0 0\nv 1 1\nv 2 {label}\ne 0 1\ne 1 2\n")
                done = subprocess.run([sys.executable, "-B", ROOT / "bench" / script, *words.format(folder=folder).split(), "--repeat", "1", "--build",
                                       pathlib.Path(PROGRAM).parents[1], "--out", folder, "--results", results], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                told = json.loads(results.read_text())
                self.assertEqual(told["commit"]["id"], git)
                compiler = f"{pathlib.Path(told['compiler']['path']).name} {told['compiler']['version']}"
                self.assertRegex(compiler, r"^\S+ \d+\.")
                revision = "Revision " + (git[:7] or "unknown") + (" with changes" if told["commit"]["changed"] else "")
                line = ", ".join(filter(None, [revision, compiler, told["machine"]["processor"]])) + "."
                self.assertIn(f"\n\n{line}\n", pathlib.Path(folder, "tables.md").read_text())


class Plot(unittest.TestCase):
    def test_tables_come_from_results(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results.jsonl")
            bench("--queries", QUERIES / "plain" / "q3-strip.graph", "--policies", "cpu,cpu-1", "--out", results, batch="16,32,64")
            with results.open("a") as file:
                file.write('{"kind": "ben')
            subprocess.run([sys.executable, ROOT / "bench/papers/plot.py", results, "--out", pathlib.Path(folder, "plots")], check=True,
                           capture_output=True)
            text = pathlib.Path(folder, "plots", "tables.md").read_text()
        self.assertIn("| query | cpu-1 | cpu |", text)
        self.assertIn("Batch size (ms, mean): rmat-10, q3-strip", text)
        self.assertIn("results.jsonl:10: not readable", text)

    def test_the_distribution_of_accesses_and_what_settings_save(self):
        def steps_of(seconds):
            return dict.fromkeys(("apply", "estimate", "cache", "match", "settle", "total"), seconds)

        def line(policy, **more):
            steps = steps_of(0.002)
            return {"kind": "bench", "graph": "ldbc-10", "directed": False, "labels": 0, "query": "house", "policy": policy, "batch": 64,
                    "batches": 1, "agrees": True, "median": steps, "mean": steps, "totals": [0.002], "hits": 3, "misses": 1,
                    "copied_bytes": 2**20, "cached_bytes": 2**20, "memory": 2**20, **more}
        top = [{"share": share, "accesses": accesses, "coverage": 0.75, "bytes": bytes * 2**20}
               for share, accesses, bytes in ((0.01, 0.25, 1), (0.05, 0.5, 3), (0.2, 0.875, 9))]
        lines = [line("random-walk"), line("random-walk", coverage=0.75, top=top), line("random-walk", fresh=True, copied_bytes=2**22),
                 line("degree", coverage=0.5, top=top), line("random-walk", ahead=True, mean=steps_of(0.001)),
                 line("random-walk", reuse=False, mean=steps_of(0.004)), line("random-walk", walk_count="paper", mean=steps_of(0.008)),
                 line("random-walk", coverage=0.1, top=top, walk_count="paper")]
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results.jsonl")
            results.write_text("".join(json.dumps(one) + "\n" for one in lines))
            subprocess.run([sys.executable, ROOT / "bench/papers/plot.py", results, "--out", pathlib.Path(folder, "plots")], check=True,
                           capture_output=True)
            text = pathlib.Path(folder, "plots", "tables.md").read_text()
            data = pathlib.Path(folder, "plots", "accesses-ldbc-10-64.dat").read_text()
        self.assertIn("| query | 1 % | 5 % | 20 % |\n|---|---|---|---|\n| house | 25.0 | 50.0 | 87.5 |", text)
        self.assertIn("| query | policy | cache MiB | 1 % | 5 % | 5 % take MiB |", text)
        self.assertIn("| house | degree | 1 | 75.0 | 75.0 | 3 |\n| house | random-walk | 1 | 75.0 | 75.0 | 3 |", text)
        self.assertIn("| ldbc-10 | 64 | house | random-walk | 2 | 2 | 2 | 2 | 4 | 1 |", text)
        for setting, milliseconds in (("next batch looked up", 1), ("sets found anew", 4), ("walks paper", 8)):
            pairs = " | ".join(f"2 | {milliseconds}" for _ in range(4))
            self.assertIn(f"| ldbc-10 | 64 | house | random-walk | {setting} | {pairs} |", text)
        self.assertIn("| house | random-walk, walks paper | 1 | 75.0 | 75.0 | 3 |", text)
        self.assertIn("| query | random-walk |\n|---|---|\n| house | 2 |", text, "times are of what is done as ever")
        self.assertEqual(data.splitlines()[1:], ["1.0\t25.0", "5.0\t50.0", "20.0\t87.5"])

    def test_tests_and_counts_that_nothing_was_compared_with_are_told(self):
        whole = {"kind": "whole", "graph": "ldbc-10", "directed": False, "labels": 0, "part": 0, "seconds": 1.5}
        lines = [{"kind": "tests", "program": "test_gpu", "tests": 7, "failed": 0, "skipped": 1, "seconds": 3.5, "passed_alone": ["Suite.Shy"]},
                 {**whole, "query": "house", "policy": "none", "matches": "12", "agrees": None},
                 {**whole, "query": "house", "policy": "degree", "matches": "12", "agrees": None},
                 {**whole, "query": "prism", "policy": "none", "matches": "34", "agrees": None},
                 {**whole, "query": "prism", "policy": "degree", "agrees": None, "trouble": "out of time"}]
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results.jsonl")
            results.write_text("".join(json.dumps(line) + "\n" for line in lines))
            subprocess.run([sys.executable, ROOT / "bench/papers/plot.py", results, "--out", folder], check=True, capture_output=True)
            text = pathlib.Path(folder, "tables.md").read_text()
        self.assertIn("| test_gpu | 7 | 0 | 1 | 3.5 | Suite.Shy |", text)
        self.assertIn("## Counts that nothing was compared with\n\n- ldbc-10, prism, none\n\n", text)
        self.assertNotIn("What went wrong", text)

    def test_nothing_is_a_failure(self):
        done = subprocess.run([sys.executable, ROOT / "bench/papers/plot.py", "/dev/null"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)


class NcuSummary(unittest.TestCase):
    """Against a table as ncu prints it, with the program's own lines around."""

    CSV = """==PROF== Connected to process 1
{"kind":"graph"}
"ID","Process ID","Kernel Name","dram__bytes.sum","gpu__time_duration.sum","pcie__read_bytes.sum",\
"sm__warps_active.avg.pct_of_peak_sustained_active","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio","smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"
"","","","byte","ns","byte","%","warp","warp","warp"
"0","1","match_kernel","4,000,000","1000000","20,000,000","50","6","3","1"
==PROF== text between
"1","1","match_kernel","2000000","3000000","100000000","30","8","1","1"
"""

    def summary(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "ncu.csv")
            file.write_text(text)
            done = subprocess.run([sys.executable, ROOT / "scripts/ncu_summary.py", file, "policy=none"], capture_output=True, text=True,
                                  check=False)
        return done.returncode, json.loads(done.stdout)

    def test_launches_are_weighted_by_time(self):
        code, line = self.summary(self.CSV)
        self.assertEqual(code, 0)
        self.assertEqual((line["kind"], line["policy"], line["launches"], line["seconds"]), ("profile", "none", 2, 0.004))
        self.assertEqual((line["dram_gb_s"], line["pcie_read_gb_s"], line["occupancy_percent"]), (1.5, 30, 35))
        self.assertEqual(line["warps_percent"], {"long_scoreboard": 75, "no_instruction": 15, "selected": 10})
        self.assertEqual(line["missing"], ["pcie_write_gb_s", "issue_active_percent"])

    def test_no_launch_is_a_failure(self):
        code, line = self.summary("==ERROR== no permission\n" + "\n".join(self.CSV.splitlines()[:4]))
        self.assertEqual((code, line["trouble"]), (1, "no launch was profiled"))


if __name__ == "__main__":
    BENCH, PROGRAM, GPU_MATCH = (sys.argv[1:4] + [None])[:3]
    del sys.argv[1:4]
    unittest.main()
