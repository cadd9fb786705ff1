"""Static matching as a user runs it: induced matches, streamed listings, partial answers, estimates, and graphs that contradict
their headers."""

import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import time

import binary_matches
import harness

SQUARE = "square=(a)--(b)--(c)--(d)--(a)"
PATH = "path=(a)--(b)--(c)"


def clique(size):
    return "".join(f"{a} {b}\n" for a in range(size) for b in range(a))


def small_quarantine():
    """An environment in which AddressSanitizer keeps little freed memory, if the program is built with it."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"}


class Static(harness.CliTest):
    def counts(self, *args):
        return {q["name"]: q["matches"] for q in self.json("match", *args)["queries"]}

    def partial(self, *args, code=1):
        outcome = self.run_program("match", *args)
        self.assertEqual(outcome.code, code, outcome)
        return outcome


class Filtered(Static):
    def test_every_filter_gives_the_same_answer_and_reports_its_steps(self):
        # Two paths A-B-C. The B of a third one leads to no C.
        self.write("g.graph", "t 8 5\n" + "".join(f"v {v} {label}\n" for v, label in enumerate([0, 1, 2, 0, 1, 2, 0, 1]))
                   + "e 0 1\ne 1 2\ne 3 4\ne 4 5\ne 6 7\n")
        args = ["--graph", "g.graph", "--undirected", "--query", "path=(a:0)--(b:1)--(c:2)"]
        candidates = {"none": None, "label": [3, 3, 2], "degree": [3, 2, 2], "refine": [2, 2, 2]}
        for how, left in candidates.items():
            query = self.json("match", *args, "--filter", how)["queries"][0]
            self.assertEqual(query["matches"], 2, how)
            if left is None:
                self.assertNotIn("filter", query)
                continue
            self.assertTrue(query["filter"]["used"])
            self.assertEqual(query["filter"]["steps"][-1]["candidates"], left, how)
            self.assertIn("candidates:", self.ok("match", *args, "--filter", how).out)
        self.assertEqual(self.counts(*args), {"path": 2})
        for without, steps in {"degree": {"label", "refine", "unite"}, "refine,unite": {"label", "degree"},
                               "unite": {"label", "degree", "refine"}}.items():
            query = self.json("match", *args, "--filter", "refine", "--filter-without", without)["queries"][0]
            self.assertEqual(query["matches"], 2, without)
            self.assertEqual({step["step"] for step in query["filter"]["steps"]}, steps)
            self.assertEqual(query["filter"]["steps"][-1]["candidates"], [2, 2, 2] if "refine" in steps else [3, 2, 2])
        for wrong in ("label", "", "degree,", "degree refine"):
            self.fails(2, "match", *args, "--filter-without", wrong, says="choose from degree, refine and unite")
        self.fails(2, "match", *args, "--filter", "none", "--filter-without", "unite", says="--filter none takes no steps")
        self.fails(2, "match", *args, "--sample", 10, "--filter-without", "unite", says="an estimate does not filter candidates")
        self.fails(2, "explain", *args, "--filter-without", "unite", says="add --whole")

    def test_a_query_without_candidates_has_no_match(self):
        self.write("g.graph", "t 2 1\nv 0 0\nv 1 1\ne 0 1\n")
        query = self.json("match", "--graph", "g.graph", "--undirected", "--query", "p=(a:0)--(b:0)", "--filter", "refine")["queries"][0]
        self.assertEqual(query["matches"], 0)
        self.assertFalse(query["filter"]["used"])


class Induced(Static):
    def test_no_other_edge_between_the_vertices(self):
        # A square with one diagonal, and one without.
        self.write("g.txt", "1 2\n2 3\n3 4\n4 1\n1 3\n5 6\n6 7\n7 8\n8 5\n")
        args = ["--graph", "g.txt", "--undirected", "--query", SQUARE, "--query", PATH]
        self.assertEqual(self.counts(*args), {"square": 2, "path": 12})
        self.assertEqual(self.counts(*args, "--induced"), {"square": 1, "path": 6})
        self.assertEqual(self.counts(*args, "--induced", "--count", "embeddings"), {"square": 8, "path": 12})

    def test_listings_are_those_of_the_counts_and_keep_their_ids(self):
        self.write("g.txt", "1 2\n2 3\n3 4\n4 1\n1 3\n5 6\n6 7\n7 8\n8 5\n")
        args = ["match", "--graph", "g.txt", "--undirected", "--query", PATH, "--emit", "matches", "--out"]
        self.ok(*args, "all.jsonl")
        self.ok(*args, "induced.jsonl", "--induced")
        rows = {row["id"]: row for row in self.lines("all.jsonl")}
        induced = self.lines("induced.jsonl")
        self.assertEqual(len(induced), 6)
        for row in induced:
            self.assertEqual(rows[row["id"]], row)
            self.assertNotIn({row["bindings"]["a"], row["bindings"]["c"]}, [{1, 3}, {1, 2}, {2, 3}, {3, 4}, {1, 4}])

    def test_both_directions_and_all_labels_count(self):
        self.write("g.csv", "source,target,label\na,b,x\nb,c,x\nc,a,y\nd,e,x\ne,f,x\ne,d,x\ng,h,x\nh,i,x\n")
        query = ["--query", "q=(u)-[:x]->(v)-[:x]->(w)"]
        self.assertEqual(self.counts("--graph", "g.csv", *query), {"q": 3})
        self.assertEqual(self.counts("--graph", "g.csv", *query, "--induced"), {"q": 1})  # g h i only

    def test_a_wildcard_takes_one_of_parallel_edges(self):
        self.write("g.csv", "source,target,label\na,b,x\na,b,y\nc,d,x\n")
        self.assertEqual(self.counts("--graph", "g.csv", "--query", "q=(u)-->(v)"), {"q": 3})
        self.assertEqual(self.counts("--graph", "g.csv", "--query", "q=(u)-->(v)", "--induced"), {"q": 1})
        self.assertEqual(self.counts("--graph", "g.csv", "--query", "q=(u)-[:x]->(v), (u)-[:y]->(v)", "--induced"), {"q": 1})

    def test_in_the_other_modes(self):
        self.write("g.txt", "1 2\n2 3\n3 1\n4 5\n")
        args = ["--graph", "g.txt", "--undirected", "--query", PATH, "--mode", "homomorphism"]
        # There and back over each of four edges, in both directions. The six paths within the triangle leave an edge out.
        self.assertEqual(self.counts(*args), {"path": 14})
        self.assertEqual(self.counts(*args, "--induced"), {"path": 8})
        self.assertEqual(self.counts("--graph", "g.txt", "--undirected", "--query", PATH, "--mode", "edge-distinct", "--induced"),
                         {"path": 0})


class Listings(Static):
    def setUp(self):
        super().setUp()
        self.write("g.csv", "source,target,label,source_label,time\nx,1,\"a,b\",A,1\n1,\"y\"\"y\",\"a,b\",,2\n-7,x,k,,3\n")
        self.args = ["match", "--graph", "g.csv", "--query", "edge=(a)-->(b)", "--query", "none=(a:No)-->(b)", "--emit", "matches"]

    def test_three_formats_say_the_same(self):
        # With several threads, any may write its matches first. If matching takes long, candidates have another order.
        args = [*self.args, "--threads", 1, "--filter", "none"]
        for name in ("m.jsonl", "m.csv", "m.dmm"):
            self.ok(*args, "--out", name)
        self.ok(*args, "--out", "m.other", "--out-format", "binary")
        rows = self.lines("m.jsonl")
        self.assertEqual(len(rows), 3)
        matches, ends = binary_matches.read((self.dir / "m.dmm").read_bytes())
        self.assertEqual(matches, rows)
        self.assertEqual(ends, [("edge", 3, None), ("none", 0, None)])
        self.assertEqual((self.dir / "m.other").read_bytes(), (self.dir / "m.dmm").read_bytes())
        with open(self.dir / "m.csv", newline="", encoding="utf-8") as file:
            told = list(csv.DictReader(file))
        self.assertEqual([(row["id"], json.loads(row["bindings"]), json.loads(row["edges"])) for row in told],
                         [(row["id"], row["bindings"], row["edges"]) for row in rows])

    def test_binary_holds_what_a_stream_says(self):
        self.write("s.tsv", "+\ta\tb\tx\t5\n+\tb\tc\ty\t6\n-\ta\tb\tx\t7\n")
        args = ["replay", "--updates", "s.tsv", "--batch", 1, "--query", "w=(p)-->(q)-->(r)", "--emit", "matches", "--out"]
        self.ok(*args, "m.jsonl")
        self.ok(*args, "m.dmm")
        matches, ends = binary_matches.read((self.dir / "m.dmm").read_bytes())
        self.assertEqual([row["sign"] for row in matches], ["+", "-"])
        self.assertEqual((matches, ends), (self.lines("m.jsonl"), []))

    def test_a_torn_binary_file_is_noticed(self):
        self.ok(*self.args, "--out", "m.dmm")
        data = (self.dir / "m.dmm").read_bytes()
        for cut in (4, 8, 20, len(data) - 1):
            with self.assertRaises(ValueError):
                binary_matches.read(data[:cut])

    def test_every_format_marks_a_partial_answer(self):
        args = [*self.args[1:], "--limit", 2, "--out"]
        self.partial(*args, "m.jsonl")
        self.assertEqual(self.lines("m.jsonl")[-1], {"v": 1, "query": "edge", "partial": "limit", "matches": 2})
        self.partial(*args, "m.csv")
        last = list(csv.reader(io.StringIO(self.read("m.csv"))))[-1]
        self.assertEqual(last, ["1", "", "edge", "partial:limit", "0", "", "", "", ""])
        self.partial(*args, "m.dmm")
        matches, ends = binary_matches.read((self.dir / "m.dmm").read_bytes())
        self.assertEqual((len(matches), ends), (2, [("edge", 2, "limit"), ("none", 0, None)]))

    def test_a_slow_reader_slows_matching_down(self):
        """24 million matches, 5 GB, go into a pipe that is hardly read. Neither memory nor disk holds the rest."""
        self.write("clique.txt", clique(120))
        command = [harness.PROGRAM, "match", "--graph", "clique.txt", "--undirected", "--query", SQUARE, "--emit", "matches",
                   "--threads", "2"]
        empty = self.dir / "tmp"
        empty.mkdir()
        with subprocess.Popen(command, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, "TMPDIR": str(empty), **small_quarantine()}) as process:
            first = process.stdout.readline()
            self.assertEqual(json.loads(first)["query"], "square")
            time.sleep(1)
            self.assertIsNone(process.poll())
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            peak = int(status.split("VmHWM:")[1].split()[0])
            process.kill()
        self.assertLess(peak, 200 * 1024, "KiB")
        self.assertEqual(list(empty.iterdir()), [])

    def test_matches_are_written_while_matching_goes_on(self):
        self.write("clique.txt", clique(120))
        command = [harness.PROGRAM, "match", "--graph", "clique.txt", "--undirected", "--query", SQUARE, "--emit", "matches",
                   "--out", "m.jsonl", "--timeout", "20s"]
        with subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            for _ in range(100):
                time.sleep(0.05)
                if (self.dir / "m.jsonl").exists() and (self.dir / "m.jsonl").stat().st_size > 1 << 20:
                    break
            running = process.poll() is None
            process.send_signal(signal.SIGINT)
            code = process.wait(10)
        self.assertTrue(running)
        self.assertEqual(code, 130)
        last = (self.dir / "m.jsonl").read_text().splitlines()[-1]
        self.assertEqual(json.loads(last)["partial"], "stopped")


class Kept(Static):
    def test_a_file_is_kept_until_there_are_matches_to_write(self):
        self.write("good.txt", "1 2\n2 3\n")
        self.write("bad.txt", "1 2\nx y\n")
        for command, code, *args in (("match", 78, "--graph", "good.txt", "--undirected", "--query", "e=(a)-->(b)"),
                                     ("match", 1, "--graph", "bad.txt", "--query", "e=(a)--(b)"),
                                     ("match", 78, "--graph", "good.txt", "--query", "e=(a)--(b)", "--mode", "homomorphism", "--count", "subgraphs"),
                                     ("replay", 78, "--updates", "good.txt", "--undirected", "--query", "e=(a)-->(b)"),
                                     ("replay", 1, "--graph", "bad.txt", "--updates", "good.txt", "--query", "e=(a)--(b)")):
            with self.subTest(command=command, args=args):
                self.write("kept.jsonl", "of the last run\n")
                self.fails(code, command, *args, "--emit", "matches", "--out", "kept.jsonl")
                self.assertEqual(self.read("kept.jsonl"), "of the last run\n")

    def test_a_file_that_cannot_be_written_is_told_before_the_graph_is_read(self):
        self.write("bad.txt", "x y z w v\n")
        for command in ("match", "cliques"):
            more = ["--emit", "matches", "--query", "e=(a)--(b)"] if command == "match" else ["-k", "3", "--emit", "subgraphs"]
            for out, why in (("no/such/folder.csv", "No such file or directory"), (".", "Is a directory")):
                with self.subTest(command=command, out=out):
                    self.fails(1, command, "--graph", "bad.txt", *more, "--out", out, says=f"{out}: cannot be written: {why}; check the path")


class CutShort(Static):
    def setUp(self):
        super().setUp()
        self.write("big.txt", clique(400))

    def test_time_out_is_kept(self):
        # Sums, walks and listings. Each would take minutes.
        house = "house=(a)--(b)--(c)--(d)--(a)--(e)--(b)"
        for args in [["--query", house], ["--query", house, "--induced"], ["--query", "p=(a)--(b)--(c)--(d)--(e)", "--mode", "edge-distinct"],
                     ["--query", house, "--emit", "matches", "--out", "/dev/null"], ["--query", house, "--emit", "digest"],
                     ["--query", house, "--sample", 10**12]]:
            for threads in (1, 2):
                with self.subTest(args=args, threads=threads):
                    outcome = self.partial("--graph", "big.txt", "--undirected", *args, "--timeout", "300ms", "--threads", threads,
                                           "--json")
                    told = json.loads(outcome.out)
                    (query,) = told["queries"]
                    self.assertEqual((query["complete"], query["partial"]), (False, "timeout"))
                    # It takes milliseconds. The rest of the time is for busy machines.
                    self.assertLess(told["seconds"]["match"], 0.3 + 0.2)
                    self.assertIn("stopped by --timeout", outcome.err)

    def test_what_is_counted_by_then_is_there(self):
        whole = 400 * 399 * 398 * 397 // 8
        for threads in (1, 2):
            for time_out in ("20ms", "100ms", "200ms"):
                outcome = self.run_program("match", "--graph", "big.txt", "--undirected", "--query", SQUARE, "--timeout", time_out,
                                           "--threads", threads, "--json")
                (query,) = json.loads(outcome.out)["queries"]
                self.assertLessEqual(query["matches"], whole)
                if query.get("complete", True):
                    self.assertEqual(query["matches"], whole)

    def test_a_part_is_counted(self):
        """The time-out grows until something is found. On any machine, the first portion takes a small share of the whole."""
        house = "house=(a)--(b)--(c)--(d)--(a)--(e)--(b)"
        whole = 400 * 399 * 398 * 397 * 396 // 2
        for more in ([], ["--emit", "matches", "--out", "m.dmm"]):
            for threads in (1, 2):
                matches, milliseconds = 0, 10
                while matches == 0:
                    self.assertLess(milliseconds, 20_000)
                    milliseconds *= 2
                    outcome = self.partial("--graph", "big.txt", "--undirected", "--query", house, "--timeout", f"{milliseconds}ms",
                                           "--threads", threads, "--json", *more)
                    (query,) = json.loads(outcome.out)["queries"]
                    self.assertEqual(query["partial"], "timeout")
                    matches = query["matches"]
                self.assertLess(matches, whole)
                if more:
                    found, ends = binary_matches.read((self.dir / "m.dmm").read_bytes())
                    self.assertEqual((len(found), ends), (matches, [("house", matches, "timeout")]))

    def test_progress(self):
        house = "house=(a)--(b)--(c)--(d)--(a)--(e)--(b)"
        outcome = self.partial("--graph", "big.txt", "--undirected", "--query", house, "--timeout", "2s", "--progress", "always")
        # A number of matches is there only if it is up to date.
        self.assertRegex(outcome.err, r"(?m)^([\d,]+ matches of house, [\d,]+/s|matches of house), \d+%, .* left$")
        self.assertNotIn(" left", self.partial("--graph", "big.txt", "--undirected", "--query", house, "--timeout", "1s").err)


class Estimates(Static):
    def test_interval(self):
        self.write("g.txt", clique(40) + "".join(f"{i} {i + 100}\n" for i in range(40)))
        args = ["match", "--graph", "g.txt", "--undirected", "--query", PATH, "--sample", 20000]
        (query,) = self.untimed(self.json(*args)["queries"])
        self.assertEqual(list(query), ["name", "estimate", "low", "high", "confidence", "replicates", "walks", "hits"])
        truth = 40 * 40 * 39 // 2
        self.assertLess(abs(query["estimate"] - truth), truth / 20)
        self.assertTrue(query["low"] < query["estimate"] < query["high"])
        self.assertGreaterEqual(query["walks"], 20000)
        for threads in (1, 2):
            self.assertEqual(self.untimed(self.json(*args, "--threads", threads)["queries"]), [query])
        self.assertNotEqual(self.untimed(self.json(*args, "--seed", 2)["queries"]), [query])
        self.assertRegex(self.ok(*args).out, r"(?m)^path +about [\d,]+ \([\d,]+ to [\d,]+\) ")

    def test_large_queries_are_planned_soon(self):
        self.write("g.txt", clique(60))
        large = "large=" + ",".join(f"(v{a})--(v{b})" for a in range(31) for b in range(a)) + ",(v0)--(w)"
        start = time.monotonic()
        (query,) = self.json("match", "--graph", "g.txt", "--undirected", "--query", large, "--sample", 30)["queries"]
        self.assertLess(time.monotonic() - start, 3)  # planning sums, which walks do not use, would take longer
        self.assertEqual(query["walks"], 30)

    def test_what_cannot_match_is_exactly_0(self):
        for graph in ("", "1 2\n"):
            self.write("g.txt", graph)
            args = ["match", "--graph", "g.txt", "--query", harness.TRIANGLE, "--sample", 100]
            (query,) = self.json(*args)["queries"]
            self.assertEqual([query[key] for key in ("estimate", "low", "high", "walks", "hits")], [0, 0, 0, 0, 0])
            self.assertRegex(self.ok(*args).out, r"(?m)^triangle +0 \(exactly: nothing in the graph can match\)")

    def test_no_hit_says_nothing(self):
        self.write("g.txt", "1 2\n2 3\n3 4\n")
        args = ["match", "--graph", "g.txt", "--query", harness.TRIANGLE, "--sample", 100]
        (query,) = self.json(*args)["queries"]
        self.assertEqual((query["estimate"], query["low"], query["high"], query["hits"]), (0, None, None, 0))
        self.assertIn("unknown: none of 120 walks found one", self.ok(*args).out)

    def test_few_walks_have_no_interval(self):
        self.write("g.txt", "1 2\n2 3\n3 4\n4 1\n")
        args = ["match", "--graph", "g.txt", "--undirected", "--query", PATH, "--sample"]
        (query,) = self.json(*args, 1)["queries"]
        self.assertEqual((query["estimate"], query["low"], query["high"], query["walks"]), (4, None, None, 30))
        self.assertIn("about 4 (too few walks for an interval: 30)", self.ok(*args, 1).out)
        (query,) = self.json(*args, 300)["queries"]
        self.assertEqual((query["low"], query["high"]), (4, 4))

    def test_options_that_do_not_fit(self):
        self.write("g.txt", "1 2\n")
        base = ["match", "--graph", "g.txt", "--query", PATH]
        self.fails(2, *base, "--sample", 10, "--limit", 3, says="--sample: an estimate lists no matches; leave --limit out")
        self.fails(2, *base, "--sample", 10, "--emit", "digest", says="leave --emit out")
        self.fails(2, *base, "--seed", 10, says="--seed: no walks are drawn")
        self.fails(2, *base, "--sample", 0, says="--sample")


class BadGraphs(Static):
    def refuses(self, name, content, says, *args):
        self.write(name, content)
        self.fails(1, "match", "--graph", name, "--query", "t=(a)--(b)--(c)--(a)", "--undirected", *args, says=says)

    def test_a_header_must_be_true(self):
        body = "v 0 A\nv 1 A\nv 2 A\ne 0 1\ne 1 2\ne 2 0\n"
        self.refuses("g.graph", "t 3 4\n" + body, "deltamatch: g.graph: the header says 4 edges, but 3 follow; correct the header")
        self.refuses("g.graph", "t 4 3\n" + body, "the header says 4 vertices, but 3 follow")
        self.refuses("g.graph", "t 0 4\n" + body, "the header says 4 vertices, but 3 follow")
        self.refuses("g.jlg", "3,2,u,x\n1,2\n2,3\n3,1\n", "deltamatch: g.jlg: the header says 2 edges, but 3 follow")
        for content in ("t 3 3\n" + body, "t 0 3\n" + body, body, "# c\nt 3 3\n" + body, "t 3 3\ne 0 1\ne 1 2\ne 2 0\n"):
            self.write("g.graph", content)
            self.assertEqual(self.counts("--graph", "g.graph", "--query", "t=(a)--(b)--(c)--(a)"), {"t": 1})
        self.write("g.graph", "t 3 4\n" + body)
        self.assertEqual(self.counts("--graph", "g.graph", "--query", "t=(a)--(b)--(c)--(a)", "--on-error", "skip"), {"t": 1})

    def test_a_header_must_be_read(self):
        body = "v 0 A\nv 1 A\nv 2 A\ne 0 1\ne 1 2\ne 2 0\n"
        for header in ("t 3 x", "t x y", "t 3", "t", "t 3 -3", "t -3 3", "t 3.0 3", "t 18446744073709551616 3", "t 3 18446744073709551615"):
            self.refuses("g.graph", header + "\n" + body, ["deltamatch: g.graph:1: ", "header", "; correct the record"])
            result = self.json("match", "--graph", "g.graph", "--query", "t=(a)--(b)--(c)--(a)", "--on-error", "dead-letter",
                               "--dead-letters", "letters")
            self.assertEqual((result["queries"][0]["matches"], sum(result["ignored"].values())), (1, 1))
            self.assertEqual([letter["record"] for letter in self.lines("letters")], [header])
        self.refuses("g.graph", "t 3 3\n" + body + "t 3 3\n", "g.graph:8: malformed: there is a second header")
        for args in ([], ["--format", "jlg"]):
            self.refuses("g.jlg", "3,-3,u,g\n1,2\n2,3\n3,1\n", "g.jlg:1: malformed: the header's `-3` is negative", *args)

    def test_a_vertex_that_is_told_twice(self):
        conflict = "label_conflict: vertex `1` has another label already"
        self.refuses("g.graph", "v 1 A\nv 2 B\nv 1 C\ne 1 2\n", "g.graph:3: " + conflict)
        self.refuses("g.graph", "v 1 A\nv 2 B\ne 1 2\nv 1 C\n", "g.graph:4: " + conflict)
        self.refuses("g.jsonl", '{"vertex":1,"label":"A"}\n{"source":1,"source_label":"C","target":2}\n',
                     "g.jsonl:2: label_conflict: edge from `1` to `2` gives a vertex another label than it has")
        self.write("labels", "1 A\n2 B\n")
        self.refuses("g.graph", "v 1 C\nv 2 B\ne 1 2\n", "g.graph:1: " + conflict, "--labels", "labels")
        query = ["--undirected", "--query", "q=(a:A)--(b:B)"]
        for same in ("v 1 A\nv 2 B\nv 1 A\nv 1\ne 1 2\n", "v 1\nv 1 A\nv 2 B\ne 1 2\n", "v 1 C\n-v 1\nv 1 A\nv 2 B\ne 1 2\n"):
            self.write("g.graph", same)
            self.assertEqual(self.counts("--graph", "g.graph", *query), {"q": 1}, same)
        # A stream may give a vertex another label.
        self.write("s.graph", "v 1 C\nv 1 A\nv 2 B\ne 1 2\n")
        self.assertEqual(self.json("replay", "--updates", "s.graph", *query)["queries"][0]["new"], 1)

    def test_a_vertex_out_of_range(self):
        self.refuses("g.graph", "t 3 2\nv 0 A\nv 1 A\nv 2 A\ne 0 1\ne 1 3\n",
                     "deltamatch: g.graph:6: bad_id: vertex 3 is out of range: the header says 3 vertices, 0 to 2")
        self.refuses("g.graph", "t 2 1\nv 0 A\nv 2 A\ne 0 2\n", "g.graph:3: bad_id: vertex 2 is out of range")
        self.refuses("g.jlg", "3,2,u,x\n1,2\n0,3\n", "g.jlg:3: bad_id: vertex 0 is out of range: the header says 3 vertices, 1 to 3")

    def test_a_stream_is_no_whole_graph(self):
        self.write("s.graph", "t 2 9\nv 0 A\nv 1 A\ne 0 1\ne 1 7\n")
        result = self.json("replay", "--updates", "s.graph", "--query", "e=(a)--(b)")
        self.assertEqual(result["queries"][0]["new"], 2)

    def test_a_line_that_does_not_parse(self):
        self.refuses("g.txt", "1 2\n2 x\n", "deltamatch: g.txt:2: bad_id: target `x` is not an integer (--ids string, in a configuration ids: string, keeps it as text); correct the record")
        self.refuses("g.graph", "v 0 A\nedge 0 1\n", "deltamatch: g.graph:2: malformed: ")

    def test_an_unreadable_file(self):
        self.fails(1, "match", "--graph", "gone.txt", "--query", PATH, says="deltamatch: gone.txt: cannot be opened: ")
        self.fails(1, "match", "--graph", ".", "--query", PATH, says="deltamatch: .: is a directory; name a file")
        self.write("closed.txt", "1 2\n")
        (self.dir / "closed.txt").chmod(0)
        self.fails(1, "match", "--graph", "closed.txt", "--query", PATH, before=harness.heed_permissions,
                   says="closed.txt: cannot be opened: Permission denied")

    def test_nothing_to_find_is_a_correct_zero(self):
        self.write("g.txt", "1 2\n2 3\n")
        self.write("empty.txt", "")
        self.write("empty.graph", "t 0 0\n")
        larger = "p=" + "--".join(f"(v{i})" for i in range(9))
        for extra in ([], ["--induced"], ["--emit", "digest"], ["--mode", "edge-distinct"]):
            self.assertEqual(self.counts("--graph", "g.txt", "--undirected", "--query", larger, *extra), {"p": 0})
            self.assertEqual(self.counts("--graph", "g.txt", "--undirected", "--query", "q=(a:No)-[:never]-(b)", *extra), {"q": 0})
            for name in ("empty.txt", "empty.graph"):
                self.assertEqual(self.counts("--graph", name, "--undirected", "--query", PATH, *extra), {"path": 0})

    def test_a_disconnected_query(self):
        self.write("g.txt", "1 2\n")
        self.fails(78, "match", "--graph", "g.txt", "--query", "q=(a)-->(b), (c)-->(d)",
                   says=["deltamatch: --query q:1:12: the query is disconnected: no edge joins the vertices {a,b} and {c,d}", "join them"])


if __name__ == "__main__":
    harness.main()
