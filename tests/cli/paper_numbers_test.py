"""Does what docs/guide/files.md says of the numbers of a paper: edges that are held back, times of updates, temporal patterns."""

import json
import os
import pathlib
import random
import re
import subprocess

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guide/files.md"


def commands(title):
    """The commands below a heading of the page."""
    section = PAGE.read_text().split(f"### {title}\n")[1].split("\n##")[0]
    return re.findall(r"(?m)^    (.*)$", section)


class PaperNumbers(harness.CliTest):
    def setUp(self):
        super().setUp()
        (self.dir / "bin").mkdir()
        (self.dir / "bin/deltamatch").symlink_to(harness.PROGRAM)
        draw = random.Random(1)
        self.edges = sorted({tuple(sorted(draw.sample(range(60), 2))) for _ in range(500)})
        self.held_back = len(self.edges) // 10
        self.write("graph.txt", "# Undirected graph\n# FromNodeId\tToNodeId\n" + "".join(f"{a}\t{b}\n" for a, b in self.edges))
        self.write("Q/6/q1.pattern", "(a)--(b)--(c)--(a)")

    def shell(self, *lines):
        script = "\n".join(lines)
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=False, cwd=self.dir, timeout=60,
                              env={**os.environ, "PATH": f"{self.dir}/bin:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def houses(self, graph):
        query = re.search(r"'(house=.*?)'", "\n".join(commands("Hold edges back")))[1]
        return self.json("match", "--graph", graph, "--undirected", "--query", query)["queries"][0]["matches"]

    def test_edges_are_held_back_at_random_and_in_the_same_way(self):
        *split, replay = commands("Hold edges back")
        self.shell("set +o pipefail", *split)
        stream, initial = self.read("stream"), self.read("initial")
        edges = [tuple(map(int, line.split())) for line in (initial + stream).splitlines()]
        self.assertEqual(sorted(edges), self.edges)
        held = edges[-self.held_back:]
        self.assertEqual(len(stream.splitlines()), self.held_back)
        self.assertLess(sum(a for a, _ in held) / self.held_back, 1.5 * sum(a for a, _ in self.edges) / len(self.edges))
        self.shell("set +o pipefail", *split)
        self.assertEqual(self.read("stream"), stream)

        new = self.houses("graph.txt") - self.houses("initial")
        self.assertGreater(new, 0)
        row = self.shell(replay + " --csv").splitlines()[1].split(",")
        self.assertEqual(row[:3], ["house", str(new), "0"])
        self.shell("sed 's/^/- /' stream >deletions")
        row = self.shell(replay + " --updates deletions --csv").splitlines()[1].split(",")
        self.assertEqual(row[:3], ["house", str(new), str(new)])

    def test_orders_of_a_stream_are_compared_as_the_page_says(self):
        self.write("graph.txt", self.read("graph.txt") + "".join(f"{b}\t{a}\n" for a, b in self.edges))
        _, _, house, whole, *lines, table = commands("Compare orders of a stream")
        *split_and_replay, fixed, rounds = lines
        counts = self.shell(house, whole).splitlines()
        self.assertIn("threads", counts[0])
        self.assertEqual([row.split(",")[0] for row in counts[1:]], ["triangle", "house"])
        both = self.shell("set +o pipefail", house, *split_and_replay).splitlines()
        self.assertEqual(len(both), 4)
        planner, own = (row.split(",")[:2] for row in (both[1], both[3]))
        self.assertEqual(planner, own)
        self.assertGreater(int(own[1]), 0)
        seconds = self.shell("set +o pipefail", "exec 2>&1", house, *split_and_replay[:-2], fixed, rounds).splitlines()
        self.assertEqual(len([float(line) for line in seconds]), 6)
        self.shell(table)
        header, *rows = self.read("orders.csv").splitlines()
        self.assertEqual(header, "batch,query,new,planner_seconds,own_seconds")
        self.assertEqual(sum(int(row.split(",")[2]) for row in rows), int(own[1]))

    def test_the_page_makes_a_graph(self):
        generate, take, house, whole, *_ = commands("Compare orders of a stream")
        self.shell(generate.replace("30000", "300 --max-degree 100").replace("200000", "2000"), take)
        self.assertEqual(len(self.read("graph.txt").splitlines()), 2000)
        self.assertEqual(len(self.shell(house, whole).splitlines()), 3)

    def test_the_time_of_an_update_is_that_of_the_steps(self):
        self.shell("set +o pipefail", *commands("Hold edges back")[:-1])
        replay, each = commands("Get the time of an update")
        self.shell(replay)
        report = json.loads(self.read("report.json"))
        self.assertEqual((report["updates"], report["threads"]), (self.held_back, 1))
        self.assertLessEqual(report["queries"][0]["seconds"], report["seconds"]["match"])
        steps = re.findall(r"\.(\w+)", re.search(r"\| (.*)\)", each)[1])
        told = sum(report["seconds"][step] for step in steps)
        others = sum(report["seconds"][step] for step in ("load", "other"))
        self.assertAlmostEqual(told + others, report["seconds"]["total"], places=4)

    def test_the_version_to_cite_is_that_of_the_program(self):
        version = self.ok("--version").out.split()[-1]
        self.assertIn(f"\nversion: {version}\n", (ROOT / "CITATION.cff").read_text())
        self.assertIn(f" version = {{{version}}},\n", (ROOT / "docs/references.md").read_text())

    def test_within_is_strict(self):
        self.write("s.csv", "source,target,time\n1,2,100\n2,3,3700\n")
        for within, found in (("3600s", 0), ("3601s", 1), ("3600000001us", 1)):
            query = f"pair=(a)-[t1]->(b)-[t2]->(c) WHERE t1.time < t2.time WITHIN {within}"
            (told,) = self.json("replay", "--updates", "s.csv", "--time-unit", "s", "--edges", "events", "--query", query)["queries"]
            self.assertEqual(told["new"], found, within)


if __name__ == "__main__":
    harness.main()
