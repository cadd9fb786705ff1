"""Graph files: convert writes them, and match reads a part of them, with the answers that the text gives."""

import gzip
import itertools
import json
import os
import random
import subprocess
import time

import harness
from harness import TRIANGLE

QUERIES = ["pair=(a:L1)-->(b:L2)", "path=(a:L1)-[:E1]->(b:L2)<--(c:L1)", "free=(a:L3)--(b)--(c:L4)", "wild=(a)-[:E0]->(b)-[:E0]->(a)",
           "sets=(a:L0|L1)--(b:L0|L1)--(c:L2)--(a)", "edge=(a:L1)-[:`odd \"label\"`]-(b)"]


class GraphFile(harness.CliTest):
    def graph(self, seed=1, vertices=150, edges=2500, labels=8):
        draw = random.Random(seed)
        ids = [v if v % 2 else f"v {v}" for v in range(vertices)]
        self.write("labels.jsonl", "".join(json.dumps({"vertex": v, "label": f"L{draw.randrange(labels)}"}) + "\n" for v in ids))
        records = []
        for i in range(edges):
            source, target = draw.sample(ids, 2)
            records.append(json.dumps({"source": source, "target": target, "label": draw.choice(["E0", "E1", 'odd "label"']),
                                       "time": 1_700_000_000_000_000 + i * 1_000_000}) + "\n")
        self.write("edges.jsonl", "".join(records))
        return ["--graph", "edges.jsonl", "--labels", "labels.jsonl"]

    def answers(self, *args):
        result = self.json("match", *args, "--emit", "digest")
        return result, [[q["name"], q["matches"], q["digest"]] for q in result["queries"]]

    def test_answers_are_those_of_the_text(self):
        text = self.graph()
        for direction, induced in itertools.product(["--directed", "--undirected"], [[], ["--induced"]]):
            self.ok("convert", "edges.jsonl", "g.dmg", "--to", "graph", "--labels", "labels.jsonl", direction)
            for query, mode in itertools.product(QUERIES, ["isomorphism", "edge-distinct", "homomorphism"]):
                if direction == "--undirected":
                    query = query.replace("->", "-").replace("<-", "-").replace("(b)-[:E0]-(a)", "(b)-[:E1]-(a)")
                how = ["--query", query, "--mode", mode, *induced]
                expected = self.answers(*text, direction, *how)[1]
                result, found = self.answers("--graph", "g.dmg", *how)
                self.assertEqual(found, expected, how)
                edges = result["graph_file"]["edges"]
                self.assertLessEqual(edges["loaded"], edges["all"])
                self.assertEqual(result["graph"]["edges"], edges["loaded"])

    def test_only_a_share_is_loaded_and_listed_with_its_ids(self):
        text = self.graph(vertices=3000, edges=60000, labels=30)
        self.assertRegex(self.ok("convert", "edges.jsonl", "g.dmg", "--to", "graph", "--labels", "labels.jsonl").out,
                         r"\A3,000 vertices and 59,\d\d\d edges written, 0 records refused\n\Z")
        result = self.json("match", "--graph", "g.dmg", "--query", QUERIES[0])
        share = result["graph_file"]
        self.assertLess(share["edges"]["loaded"], share["edges"]["all"] / 300)
        self.assertLess(share["vertices"]["loaded"], share["vertices"]["all"] / 10)
        self.assertLess(share["bytes"]["loaded"], share["bytes"]["all"])
        self.assertEqual(share["bytes"]["all"], os.path.getsize(self.dir / "g.dmg"))
        self.assertRegex(self.ok("match", "--graph", "g.dmg", "--query", QUERIES[0]).out,
                         r"\nloaded   [\d.]+ % of 3,000 vertices, [\d.]+ % of 59,\d\d\d edges, [\d.]+ % of [\d.]+ KiB\n")

        def listed(*args):
            self.ok("match", *args, "--query", QUERIES[0], "--emit", "matches", "--out", "found.jsonl")
            return sorted(self.read("found.jsonl").splitlines())

        found = listed("--graph", "g.dmg")
        self.assertGreater(len(found), 10)
        self.assertEqual(found, listed(*text))
        several = self.json("match", "--graph", "g.dmg", "--query", QUERIES[0], "--query", "other=(a:L5)-->(b:L6)")
        # The answer is the same. Labels also count what other queries had loaded, and filtering depends on the time.
        more, less = (sum(label["edges"] for label in told["queries"][0].pop("edge_labels")) for told in (several, result))
        for told in (several, result):
            told["queries"][0].pop("filter", None)
        self.assertEqual(self.untimed(several["queries"])[0], self.untimed(result["queries"])[0])
        self.assertEqual(less, result["graph"]["edges"])
        self.assertTrue(less < more <= several["graph"]["edges"])
        self.assertGreater(several["graph_file"]["edges"]["loaded"], share["edges"]["loaded"])

    def test_other_commands_load_all_of_it(self):
        text = self.graph()
        self.ok("convert", "edges.jsonl", "g.dmg", "--to", "graph", "--labels", "labels.jsonl", "--times")
        window = ["--window", "10m", "--updates", "more.jsonl", "--query", QUERIES[0], "--query", TRIANGLE, "--emit", "digest"]
        self.write("more.jsonl", json.dumps({"source": 1, "target": "v 2", "label": "E0", "time": 1_700_002_550_000_000}) + "\n")
        a, b = self.json("replay", *text, *window), self.json("replay", "--graph", "g.dmg", *window)
        self.assertEqual(self.untimed(a["queries"]), self.untimed(b["queries"]))
        self.assertGreater(sum(q["removed"] for q in a["queries"]), 0)
        self.assertEqual(a["graph"]["edges"], b["graph"]["edges"])
        window.remove("--window"), window.remove("10m")
        self.assertEqual(self.untimed(self.json("replay", *text, *window)["queries"]),
                         self.untimed(self.json("replay", "--graph", "g.dmg", *window)["queries"]))
        self.ok("convert", "edges.jsonl", "u.dmg", "--to", "graph", "--undirected")
        counts = [self.json("cliques", "-k", 3, "--graph", *graph) for graph in [["edges.jsonl", "--undirected"], ["u.dmg"]]]
        for count in counts:
            count.pop("seconds")
            count["graph"].pop("bytes", None)
            count.pop("ignored")
        self.assertEqual(*counts)
        self.ok("convert", "edges.jsonl", "timeless.dmg", "--to", "graph")
        self.fails(2, "replay", "--graph", "timeless.dmg", *window, "--window", "1h", says="have no times")

    def test_what_it_is_made_of(self):
        self.graph()
        self.ok("convert", "edges.jsonl", "a.dmg", "--to", "graph", "--labels", "labels.jsonl")
        self.ok("convert", "a.dmg", "b.dmg", "--to", "graph")
        self.assertEqual((self.dir / "a.dmg").read_bytes(), (self.dir / "b.dmg").read_bytes())
        self.ok("replay", "--graph", "edges.jsonl", "--labels", "labels.jsonl", "--updates", "/dev/null", "--query", TRIANGLE,
                "--save-snapshot", "s.dms")
        self.ok("convert", "s.dms", "c.dmg", "--to", "graph")
        self.assertEqual((self.dir / "a.dmg").read_bytes(), (self.dir / "c.dmg").read_bytes())
        self.write("start.graph", "t 3 2\nv 0 5\nv 1 6\nv 2 5\ne 0 1\ne 1 2\n")
        self.ok("convert", "start.graph", "t.dmg", "--to", "graph")
        result = self.json("match", "--graph", "t.dmg", "--query", "p=(a:5)--(b:6)--(c:5)")
        self.assertEqual(result["queries"][0]["matches"], 1)
        # Beside another input it is loaded like any graph.
        self.write("more.txt", "2 3\n")
        result = self.json("match", "--graph", "t.dmg", "--graph", "more.txt", "--undirected", "--query", "p=(a)--(b)--(c)--(d)")
        self.assertEqual((result["graph"]["edges"], result["queries"][0]["matches"]), (3, 1))
        self.assertNotIn("graph_file", result)

    def test_packed_or_in_the_place_of_a_stream(self):
        self.graph()
        self.ok("convert", "edges.jsonl", "g.dmg", "--to", "graph")
        sound = (self.dir / "g.dmg").read_bytes()
        self.write("g.dmg.gz", gzip.compress(sound))
        says = "is a graph file, not a stream of records; give it as the start graph: by its name, and not packed"
        query = ["--query", QUERIES[0]]
        self.fails(1, "match", "--graph", "g.dmg.gz", *query, says="g.dmg.gz: " + says)
        self.fails(1, "replay", "--updates", "g.dmg", *query, says="g.dmg: " + says)
        self.fails(1, "match", "--graph", "edges.jsonl", "--labels", "g.dmg", *query, says="g.dmg: " + says)
        self.fails(1, "convert", "g.dmg", "x.jsonl", "--to", "jsonl", says="g.dmg: " + says)
        self.ok("replay", "--updates", "edges.jsonl", *query, "--save-snapshot", "s.dms")
        self.fails(1, "match", "--graph", "s.dms", *query, says="s.dms: is a snapshot, not a stream of records; give it as the snapshot")

    def test_pipes_are_opened_once(self):
        os.mkfifo(self.dir / "pipe")
        for _ in range(20):
            with subprocess.Popen(["sh", "-c", "printf '1 2\\n2 3\\n1 3\\n' > pipe"], cwd=self.dir) as writer:
                time.sleep(0.01)  # it waits in open() for a reader
                result = self.json("match", "--graph", "pipe", "--undirected", "--query", "t=(a)--(b)--(c)--(a)")
            self.assertEqual((writer.returncode, result["queries"][0]["matches"]), (0, 1))

    def test_options_that_do_not_apply(self):
        self.graph()
        self.ok("convert", "edges.jsonl", "g.dmg", "--to", "graph")
        match = ["match", "--graph", "g.dmg", "--query", QUERIES[0]]
        for option, value in [("--format", "csv"), ("--columns", "source,target"), ("--envelope", "debezium"), ("--separator", "comma"),
                              ("--header", "yes"), ("--time-unit", "ms"), ("--time-format", "%Y"), ("--edge-label", "x"),
                              ("--ids", "string"), ("--on-error", "skip"), ("--max-record", 100)]:
            self.fails(2, *match, option, value, says=f"{option}: the graph file g.dmg holds no records that it could be about")
        self.write("more.txt", "1 2\n")
        self.ok(*match, "--graph", "more.txt", "--edge-label", "E0")
        self.fails(2, *match, "--graph", "more.txt", "--format", "snap", says="--format: the graph file g.dmg")
        replay = ["replay", "--graph", "g.dmg", "--updates", "more.txt", "--query", QUERIES[0]]
        self.fails(2, *replay, "--graph-columns", "source,target", says="--graph-columns: the graph file g.dmg")
        self.ok(*replay, "--columns", "source,target", "--ids", "integer")
        self.fails(2, "convert", "g.dmg", "x.dmg", "--to", "graph", "--times", says="--times: the edges of the graph file g.dmg have no times")
        self.ok("replay", "--updates", "edges.jsonl", "--query", QUERIES[0], "--save-snapshot", "s.dms")
        self.fails(2, "convert", "s.dms", "x.dmg", "--to", "graph", "--times", says="--times: the edges of the snapshot s.dms have no times")

    def test_bad_use_and_bad_files(self):
        self.graph()
        self.ok("convert", "edges.jsonl", "g.dmg", "--to", "graph")
        match = ["match", "--query", QUERIES[0], "--graph"]
        self.fails(2, *match, "g.dmg", "--undirected", says="holds a directed graph")
        self.fails(2, "convert", "edges.jsonl", "x", "--to", "binary", "--times", says="--times: this option is for graph files only")
        self.fails(2, "convert", "g.dmg", "g.dmg", "--to", "graph", says="this is also the file of INPUT")
        self.fails(2, "convert", "g.dmg", "-", "--to", "graph", says="cannot go to standard output")
        self.write("timeless.tsv", "1\t2\n")
        self.fails(1, "convert", "timeless.tsv", "x.dmg", "--to", "graph", "--times", says="missing_time")
        sound = (self.dir / "g.dmg").read_bytes()
        self.write("cut.dmg", sound[:-100])
        self.fails(1, *match, "cut.dmg", says="cut.dmg: the graph file is torn or damaged")
        self.write("bad.dmg", sound[:3000] + bytes([sound[3000] ^ 1]) + sound[3001:])
        match[2] = "any=(a)-->(b)"
        self.fails(1, *match, "bad.dmg", says="write it again with deltamatch convert --to graph")
        self.write("new.dmg", sound[:8] + b"\x02\0\0\0" + sound[12:])
        self.fails(1, *match, "new.dmg", says="version 2, while this program reads version 1")
        self.write("foreign.dmg", sound[:8] + b"\0\0\0\x01" + sound[12:])
        self.fails(1, *match, "foreign.dmg", says="another order of bytes")
        for name, content in [("empty.dmg", b""), ("short.dmg", sound[:5]), ("head.dmg", sound[:11])]:
            self.write(name, content)
            self.fails(1, *match, name, says=f"{name}: the graph file is torn or damaged (section end): the file is cut short")
        self.write("text.dmg", "1 2\n")
        self.fails(1, *match, "text.dmg", says="text.dmg: it is not a graph file; give a file of records a name that does not end in .dmg")
        self.assertEqual([name for name in os.listdir(self.dir) if "tmp" in name or name in ("x", "x.dmg")], [])


if __name__ == "__main__":
    harness.main()
