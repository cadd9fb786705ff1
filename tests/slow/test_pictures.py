"""Pictures of matches, opened with the programs that they are for: Graphviz, networkx and a browser."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

import harness

try:
    import networkx
except ImportError:
    networkx = None

RING = "config/patterns/ring.pattern"
ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = ["</script><script>document.title='owned'</script>", "\"onload=\"document.title='owned'", "<img src=x onerror=\"document.title='owned'\">"]
CHROMIUM = shutil.which("chromium")


def needs(present, name):
    return unittest.skipUnless(present, f"{name} is missing (scripts/setup --dev installs it)")


class Opened(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "payments", "--updates", "p.csv", "--truth", "t.csv", "--records", 20000, "--planted", 12, "--accounts", 2000)

    def draw(self, name, *args):
        done = self.run_program("replay", "--updates", "p.csv", "--edges", "keyed", "--attributes", "amount:decimal(2)", "--query",
                                ROOT / "config/patterns", "--emit", "matches", "--out", name, "--json", *args)
        self.assertEqual(done.code, 0, done)
        return {query["name"]: query for query in json.loads(done.out)["queries"]}

    @needs(shutil.which("dot"), "graphviz")
    def test_graphviz_draws_the_clusters(self):
        told = self.draw("m.dot")
        svg = subprocess.run(["dot", "-Tsvg", "m.dot"], cwd=self.dir, capture_output=True, timeout=300, check=False)
        self.assertEqual((svg.returncode, svg.stderr), (0, b""))
        root = xml.fromstring(svg.stdout)
        clusters = [group for group in root.iter("{http://www.w3.org/2000/svg}g") if group.get("class") == "cluster"]
        self.assertEqual(len(clusters), sum(query["new"] + query["removed"] for query in told.values()))

    @needs(shutil.which("dot"), "graphviz")
    def test_graphviz_shows_hostile_ids_as_they_are(self):
        ids = [*HOSTILE, "a&lt;b\\N\"", "\\"]
        self.write("h.jsonl", "".join(json.dumps({"source": ids[i], "target": ids[(i + 1) % len(ids)]}) + "\n" for i in range(len(ids))))
        self.ok("match", "--graph", "h.jsonl", "--query", "e=(a)-->(b)", "--emit", "matches", "--out", "h.dot")
        svg = subprocess.run(["dot", "-Tsvg", "h.dot"], cwd=self.dir, capture_output=True, timeout=60, check=True)
        shown = {text.text for text in xml.fromstring(svg.stdout).iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual(set(ids), shown)

    @needs(networkx, "networkx")
    def test_networkx_reads_types_and_counts(self):
        told = self.draw("m.graphml")
        graph = networkx.read_graphml(self.dir / "m.graphml", force_multigraph=True)
        self.assertTrue(graph.is_directed())
        self.assertGreater(graph.number_of_nodes(), 50)
        for _, _, data in graph.edges(data=True):
            self.assertIsInstance(data.get("amount", 0.0), float)
            self.assertIsInstance(data["new"], int)
        rings = sum(data["new"] for _, _, data in graph.edges(data=True) if data["queries"] == "unpaid_refund")
        self.assertEqual(rings, told["unpaid_refund"]["new"], "the pattern has one edge, so each match has one of its own")

    @needs(networkx, "networkx")
    def test_networkx_reads_parallel_edges_and_loops(self):
        self.write("s.csv", "op,edge,source,target,label\n+,1,a,a,T\n+,2,a,b,T\n+,3,a,b,T\n")
        self.ok("replay", "--updates", "s.csv", "--edges", "keyed", "--self-loops", "keep", "--mode", "homomorphism", "--query", "e=(x)-->(y)", "--emit",
                "matches", "--out", "m.graphml")
        graph = networkx.read_graphml(self.dir / "m.graphml", force_multigraph=True)
        self.assertEqual(sorted((graph.nodes[u]["label"], graph.nodes[v]["label"], data["key"]) for u, v, data in graph.edges(data=True)),
                         [("a", "a", "1"), ("a", "b", "2"), ("a", "b", "3")])

    def browse(self, name, script=""):
        """The page as the browser has it in the end. `script` runs in it."""
        page = self.dir / name
        if script:
            text = page.read_text(encoding="utf-8")
            (self.dir / "driven.html").write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
            page = self.dir / "driven.html"
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run([CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=5000",
                                   "--dump-dom", page.as_uri()], capture_output=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace")[-2000:])
        return done.stdout.decode()

    @needs(CHROMIUM, "chromium")
    def test_a_browser_lists_filters_and_draws(self):
        told = self.draw("m.html")
        ring, total = told["ring"]["new"] + told["ring"]["removed"], sum(query["new"] + query["removed"] for query in told.values())
        dom = self.browse("m.html")
        self.assertIn(f"{total} of {total} drawn matches", dom)
        self.assertEqual(dom.count("<svg"), total, "all side by side")
        self.assertRegex(dom, r"<rect[^>]*></rect>", "amounts stand before the lines")
        self.assertRegex(dom, r'<small class="edge">20\d\d-[\d-]+T[\d:.]+Z \u00b7 \d+\.\d\d</small>', "times and amounts of edges")
        dom = self.browse("m.html", "document.querySelector('#grid button').click();")
        self.assertEqual(dom.count("<svg"), 1)
        self.assertRegex(dom, r"<text[^>]*>amount \d+\.\d\d</text>")
        choose = "const q = document.getElementById('query'); q.value = [...q.options].find((o) => o.text === 'ring').value;"
        dom = self.browse("m.html", choose + "q.dispatchEvent(new Event('input'));")
        self.assertIn(f"{ring} of {total} drawn matches", dom)
        dom = self.browse("m.html", "const s = document.getElementById('sign'); s.value = '-'; s.dispatchEvent(new Event('input'));")
        self.assertIn(f"{sum(query['removed'] for query in told.values())} of {total} drawn matches", dom)
        self.assertTrue(all(words.endswith("gone") for words in re.findall(r'class="(sign \w+)"', dom)))

    @needs(CHROMIUM, "chromium")
    def test_a_browser_runs_nothing_that_an_id_holds(self):
        self.write("h.jsonl", "".join(json.dumps({"source": HOSTILE[i], "target": HOSTILE[(i + 1) % 3], "label": HOSTILE[i]}) + "\n" for i in range(3)))
        self.ok("match", "--graph", "h.jsonl", "--query", "q=(a)-->(b)-->(c)-->(a)", "--emit", "matches", "--out", "h.html")
        dom = self.browse("h.html")
        self.assertIn("<title>deltamatch: matches</title>", dom)
        self.assertIn("1 of 1 drawn matches", dom)
        self.assertNotIn("<img", dom.split("<body>", 1)[1].split('<script type="application/json"', 1)[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
