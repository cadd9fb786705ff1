"""Help, version, exit codes and the messages of wrong usage."""

import json
import os
import pathlib
import re
import resource
import subprocess

import harness
from harness import PROGRAM, TRIANGLE

COMMANDS = [["replay"], ["match"], ["motifs"], ["cliques"], ["quasi-cliques"], ["explain"], ["validate"], ["convert"],
            ["generate"], ["generate", "payments"], ["generate", "rmat"], ["generate", "chung-lu"], ["snapshot"],
            ["snapshot", "info"], ["snapshot", "verify"], ["snapshot", "export"]]


FORMATS = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/formats.md"


class Usage(harness.CliTest):
    def test_help_offers_the_formats_that_the_page_lists_and_takes_their_aliases(self):
        rows = re.findall(r"^\| `(\w+)`(?: \(`([\w-]+)`\))? \| (?:yes|no) \| (?!.*there are no files of them)",
                          FORMATS.read_text(), re.MULTILINE)
        self.assertGreater(len(rows), 7)
        offered = re.search(r"--format ([\w|]+)", self.ok("match", "--help").out).group(1).split("|")
        self.assertEqual(sorted(offered), sorted(name for name, _ in rows))
        self.write("empty", "")
        for name in [name for row in rows for name in row if name]:
            self.ok("match", "--graph", "empty", "--format", name, "--query", "e=(a)--(b)")

    def test_help_of_every_command(self):
        listed = self.ok("--help").out
        for command in COMMANDS:
            text = self.ok(*command, "--help").out
            self.assertIn("Usage: deltamatch " + " ".join(command), text)
            self.assertIn(command[0], listed)
            if command != ["generate"]:
                self.assertRegex(text, r"Examples?:\n  deltamatch")

    def test_help_has_at_most_100_columns(self):
        named = re.findall(r"^  ([a-z-]+) ", self.ok("--help").out.split("Subcommands:")[1], re.M)
        for command in [[]] + COMMANDS + [[name] for name in named]:
            text = self.ok(*command, "--help").out
            for line in text.splitlines():
                self.assertLessEqual(len(line), 100, f"{command}: {line}")
            self.assertNotIn("\n\n\n", text, command)

    def test_help_is_printed_without_a_command_and_by_a_command(self):
        everything = self.ok("--help").out
        self.assertIn("Usage: deltamatch [OPTIONS] SUBCOMMAND", everything)
        self.assertEqual(self.ok().out, everything)
        self.assertEqual(self.ok("help").out, everything)
        for command in COMMANDS + [["help"]]:
            self.assertEqual(self.ok("help", *command).out, self.ok(*command, "--help").out)

    def test_help_says_where_options_of_gpus_are_of_no_use(self):
        asked = self.run_program("match", "--graph", "absent", "--query", TRIANGLE, "--devices", "0")
        self.assertNotEqual(asked.code, 0)
        refused = "built without GPU support" in asked.err
        for command in ("match", "replay", "motifs"):
            text = self.ok(command, "--help").out
            self.assertIn("--gpu-memory", text)
            self.assertEqual("GPU (not in this build)" in text, refused)

    def test_help_names_only_what_there_is(self):
        commands = re.findall(r"^  ([a-z-]+) ", self.ok("--help").out.split("Subcommands:")[1], re.M)
        everywhere = ["replay", "match", "motifs", "cliques", "quasi-cliques", "explain", "validate", "convert", "generate",
                      "snapshot"]
        self.assertIn(commands, [everywhere + ["help"], everywhere + ["run", "test-sink", "help"]])  # the service is an option of the build

    def test_version(self):
        self.assertRegex(self.ok("--version").out, r"\Adeltamatch \d+\.\d+\.\d+\n\Z")

    def test_wrong_usage_is_exit_2(self):
        self.write("s.tsv", "1\t2\n")
        base = ["replay", "--updates", "s.tsv", "--query", TRIANGLE]
        for args, text in [
            (["help", "mtach"], "deltamatch: help: 'mtach' is not a command of deltamatch; did you mean match?"),
            (["help", "frob"], "help: 'frob' is not a command of deltamatch; see deltamatch --help"),
            (["help", "generate", "frob"], "help: 'frob' is not a command of deltamatch generate; see deltamatch generate --help"),
            (["help", "match", "--limit"], "help: '--limit' is not an option; see deltamatch help --help"),
            (["frob"], "command line: 'frob' is not known; see deltamatch --help"),
            (["replai"], "command line: 'replai' is not known; did you mean replay?; see deltamatch --help"),
            (["frob", "--query", TRIANGLE], "'frob' is not known"),
            (["--nonsense"], "'--nonsense' is not known"),
            (["snapshot", "frob"], "snapshot: 'frob' is not known; see deltamatch snapshot --help"),
            (["snapshot"], "subcommand is required"),
            (["replay"], "--query is required"),
            (["replay", "--query", TRIANGLE], "--updates is required"),
            (["match", "--query", TRIANGLE], "there is no graph"),
            (["match", "--grph", "s.tsv"], "match: '--grph' is not an option; did you mean --graph?; see deltamatch match --help"),
            (["replay", "--query", TRIANGLE, "--update", "s.tsv"], "replay: '--update' is not an option; did you mean --updates?"),
            (["snapshot", "info", "--jsn"], "snapshot info: '--jsn' is not an option; did you mean --json?"),
            (["match", "--graph", "", "--query", TRIANGLE], "deltamatch: --graph: the name is empty; name a file"),
            (["match", "--graph", "s.tsv", "--query", TRIANGLE, "--emit", "matches", "--out", ""], "--out: the name is empty"),
            (["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--save-snapshot", ""], "--save-snapshot: the name is empty"),
            (["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--cuts", ""], "--cuts: the name is empty"),
            (["convert", "s.tsv", "", "--to", "tsv"], "OUT: the name is empty"),
            (["snapshot", "info", ""], "FILE: the name is empty"),
            (["match", "--graph", "s.tsv", "--labels", "", "--query", TRIANGLE], "--labels: the name is empty"),
            (["replay", "--updates", "", "--query", TRIANGLE], "--updates: the name is empty"),
            (["cliques", "--graph", ""], "--graph: the name is empty"),
            (["convert", "", "x", "--to", "tsv"], "INPUT: the name is empty"),
            (base + ["--nonsense"], "replay: '--nonsense' is not an option; see deltamatch replay --help"),
            (["match", "--graph", "s.tsv", "--query", TRIANGLE, "--limt", "3"], "match: '--limt' is not an option; did you mean --limit?; see"),
            (["match", "stray", "--graph", "s.tsv", "--limt=3", "--query", TRIANGLE], "match: '--limt' is not an option; did you mean --limit?"),
            (["match", "stray", "more", "--graph", "s.tsv", "--query", TRIANGLE], "match: 'stray' is not expected; see deltamatch match"),
            (["match", "-3", "--graph", "s.tsv", "--query", TRIANGLE], "match: '-3' is not expected"),
            (base + ["--batch", "0"], "--batch: '0'"),
            (base + ["--batch", "-1"], "--batch: '-1'"),
            (base + ["--batch", "1e3"], "--batch: '1e3'"),
            (base + ["--batch", "99999999999999999999"], "--batch: '99999999999999999999' is not accepted; write a whole number from 1 to 18446744073709551615"),
            (base + ["--window", "24"], "--window: '24' is not a duration; write a whole number above 0 and its unit"),
            (base + ["--window", "0h"], "--window: '0h'"),
            (base + ["--window", "999999999999d"], "--window: '999999999999d' is more than 106751991d; write a whole number above 0"),
            (base + ["--threads", "0"], "--threads: '0'"),
            (base + ["--mode", "monomorphism"], "choose one of isomorphism|edge-distinct|homomorphism"),
            (base + ["--backend", "tpu"], "choose one of auto|cpu|gpu"),
            (base + ["--backend", "cpu", "--gpu-policy", "none"], "options of GPUs have no effect with it"),
            (base + ["--walks", "1023"], "--walks: '1023' is not accepted; write a number from 1024 to 4194304"),
            (base + ["--walks", "4194305"], "write a number from 1024 to 4194304"),
            (base + ["--walk-count", "some"], "choose one of even|fixed|paper|formula"),
            (base + ["--walk-count", "paper", "--walks", "2000"], "a number of walks is given, but paper and formula choose it"),
            (base + ["--gpu-policy", "degree", "--walks", "2000"], "options of walks are given, but this policy takes none"),
            (base + ["--gpu-policy", "resident", "--walk-count", "even"], "options of walks are given, but this policy takes none"),
            (base + ["--gpu-policy", "none", "--gpu-memory", "1M"], "memory for lists is given, but this policy keeps none"),
            (base + ["--directed", "--undirected"], "excludes"),
            (base + ["--out", "m.jsonl"], "add --emit matches"),
            (base + ["--emit", "matches", "--json"], "both go to standard output"),
            (base + ["--on-error", "dead-letter"], "--dead-letters"),
            (base + ["--dead-letters", "d.jsonl"], "--on-error dead-letter"),
            (base + ["--snapshot", "s", "--graph", "g"], "excludes"),
            (["replay", "--updates", "-", "--graph", "-", "--query", TRIANGLE], "standard input is named more than once"),
            (["explain", "--updates", "s.tsv", "--query", TRIANGLE], "add --analyze"),
            (["explain", "--analyze", "--query", TRIANGLE], "there is nothing to run"),
            (["snapshot", "info"], "FILE is required"),
            (["generate", "rmat"], "--graph is required"),
        ]:
            with self.subTest(args=args):
                self.assertEqual(self.fails(2, *args, says=text).err.count("\n"), 1)

    def test_wrong_usage_is_told_before_a_file_that_cannot_be_written(self):
        self.write("s.tsv", "1\t2\n")
        query = ["--query", TRIANGLE]
        match = ["match", *query, "--emit", "matches", "--out", "no/such/x"]
        replay = ["replay", *query, "--updates", "s.tsv", "--emit", "matches", "--out", "no/such/x"]
        mine = ["cliques", "-k", 3, "--emit", "subgraphs", "--out", "no/such/x"]
        twice = ["--on-error", "dead-letter", "--dead-letters", "no/such/x"]
        for args, text in [(match, "there is no graph"), (match + ["--graph", "s.tsv", "--sample", 10], "an estimate lists no matches"),
                           (match + ["--graph", "s.tsv", "--dead-letters", "d"], "it needs the other option of dead letters"),
                           (match + ["--graph", "s.tsv", *twice], "this is also the file of --out"),
                           (replay + ["--save-snapshot", "-"], "this cannot go to standard output"),
                           (replay + ["--dead-letters", "d"], "it needs the other option of dead letters"), (replay + twice, "this is also the file of --out"),
                           (replay + ["--save-snapshot", "s.tsv"], "this is also the file of --updates"),
                           (match + ["--graph", "-", "--graph", "-"], "standard input is named more than once"),
                           (mine + ["--graph", "-", "--graph", "-"], "standard input is named more than once"),
                           (replay + ["--updates", ""], "the name is empty"),
                           (replay + ["--updates", "t.tsv", "--cuts", "c"], "several streams to cut"),
                           (["convert", "s.tsv", "no/such/y", "--to", "graph", "--labels", "-", "--labels", "-"], "more than once"),
                           (mine, "name one with --graph"), (mine + ["--graph", "s.tsv", "--dead-letters", "d"], "it needs the other option of dead letters"),
                           (mine + ["--graph", "s.tsv", *twice], "this is also the file of --out")]:
            with self.subTest(args=args):
                self.fails(2, *args, says=text)

    def test_a_gpu_is_used_or_missed_with_a_remedy(self):
        self.write("s.tsv", "1\t2\n")
        outcome = self.run_program("replay", "--updates", "s.tsv", "--query", TRIANGLE, "--backend", "gpu")
        if outcome.code == 0:  # there is a GPU
            return
        missed = {1: "no CUDA device is found", 2: "built without GPU support"}
        self.assertIn(missed[outcome.code], outcome.err)
        self.assertIn("use --backend cpu", outcome.err)

    def test_backend_cpu_is_offered(self):
        self.write("s.tsv", "1\t2\n")
        for backend in ["auto", "cpu"]:
            self.json("replay", "--updates", "s.tsv", "--query", TRIANGLE, "--backend", backend)

    def test_nothing_is_written_over_another_file_of_the_command(self):
        files = {"s.tsv": "1\t2\n", "g.txt": "2 3\n", "l.csv": "vertex,label\n1,A\n", "q/e.pattern": "(a)-->(b)"}
        for name, content in files.items():
            self.write(name, content)
        self.ok("replay", "--updates", "s.tsv", "--query", "q", "--save-snapshot", "s.dms")
        files["s.dms"] = (self.dir / "s.dms").read_bytes()
        (self.dir / "soft").symlink_to("s.tsv")
        os.link(self.dir / "s.tsv", self.dir / "hard")
        (self.dir / "here").symlink_to(".")
        names = sorted(os.listdir(self.dir))
        replay = ["replay", "--updates", "s.tsv", "--query", "q", "--graph", "g.txt", "--labels", "l.csv"]
        matches = ["--emit", "matches", "--out"]
        letters = ["--on-error", "dead-letter", "--dead-letters"]
        match = ["match", "--graph", "g.txt", "--query", "q/e.pattern"]
        for args, one, other in [
            (replay + ["--batches", "s.tsv"], "--batches s.tsv", "--updates s.tsv"),
            (replay + ["--batches", "./here/s.tsv"], "--batches ./here/s.tsv", "--updates s.tsv"),
            (replay + ["--batches", "soft"], "--batches soft", "--updates s.tsv"),
            (replay + ["--batches", "hard"], "--batches hard", "--updates s.tsv"),
            (replay + [*matches, "g.txt"], "--out g.txt", "--graph g.txt"),
            (replay + [*matches, "q/e.pattern", "--out-format", "jsonl"], "--out q/e.pattern", "--query q/e.pattern"),
            (replay + ["--save-snapshot", "g.txt"], "--save-snapshot g.txt", "--graph g.txt"),
            (replay + [*letters, "l.csv"], "--dead-letters l.csv", "--labels l.csv"),
            (replay + ["--batches", "new", *matches, "./new"], "--batches new", "--out ./new"),
            (replay + ["--batches", "new", "--save-snapshot", "here/new"], "--batches new", "--save-snapshot here/new"),
            (["replay", "--updates", "s.tsv", "--query", "q", "--snapshot", "s.dms", "--save-snapshot", "s.dms"],
             "--save-snapshot s.dms", "--snapshot s.dms"),
            (match + [*matches, "g.txt"], "--out g.txt", "--graph g.txt"),
            (match + [*letters, "q/e.pattern"], "--dead-letters q/e.pattern", "--query q/e.pattern"),
            (["explain", "--graph", "g.txt", "--query", "q", *letters, "g.txt"], "--dead-letters g.txt", "--graph g.txt"),
            (["snapshot", "export", "s.dms", "--out", "s.dms"], "--out s.dms", "FILE s.dms"),
            (["generate", "payments", "--updates", "x", "--truth", "./x"], "--updates x", "--truth ./x"),
            (["generate", "rmat", "--graph", "x", "--updates", "x"], "--graph x", "--updates x"),
        ]:
            with self.subTest(args=args):
                self.assertEqual(self.fails(2, *args, says=[one, other, "name another file"]).err.count("\n"), 1)
                self.assertEqual(sorted(os.listdir(self.dir)), names)
                for name, content in files.items():
                    self.assertEqual((self.dir / name).read_bytes(), content if isinstance(content, bytes) else content.encode())

    def test_what_can_only_be_a_file_is_not_standard_output(self):
        self.write("s.tsv", "1\t2\n")
        for args, option in [(["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--save-snapshot", "-"], "--save-snapshot -"),
                             (["generate", "payments", "--records", 10, "--updates", "p", "--truth", "-"], "--truth -"),
                             (["generate", "payments", "--records", 10, "--updates", "-", "--truth", "-"], "--truth -"),
                             (["generate", "rmat", "--scale", 3, "--edge-factor", 1, "--graph", "-"], "--graph -"),
                             (["generate", "chung-lu", "--graph", "-", "--updates", "-"], "--graph -")]:
            with self.subTest(args=args):
                self.assertEqual(self.fails(2, *args, says=[option, "standard output", "name a file"]).out, "")
                self.assertEqual(os.listdir(self.dir), ["s.tsv"])

    def test_devices_may_be_shared(self):
        self.write("s.tsv", "1\t2\n")
        self.ok("replay", "--updates", "s.tsv", "--query", TRIANGLE, "--batches", "/dev/null", "--emit", "matches", "--out",
                "/dev/null")

    def test_full_disk_under_standard_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, "validate", "--query", TRIANGLE], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"deltamatch: standard output: cannot write: No space left on device", done.stderr)

    def test_closed_pipe_ends_quietly(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PROGRAM, "--help"], stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (-13, b""))  # SIGPIPE, as for any other tool in a pipe

    def test_validate(self):
        self.write("q/ring.pattern", "(a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(a)")
        self.write("q/tri.graph", "t 3 3\nv 0 0\nv 1 0\nv 2 1\ne 0 1\ne 1 2\ne 0 2\n")
        self.write("q/notes.txt", "not a query")
        lines = self.ok("validate", "--query", "q", "--query", TRIANGLE).out.splitlines()
        self.assertEqual([line.split(": ")[:2] for line in lines],
                         [["ring", "2 vertices, 2 edges"], ["tri", "3 vertices, 3 edges"], ["triangle", "3 vertices, 3 edges"]])

    def test_bad_queries_are_exit_78(self):
        self.write("bad.pattern", "(a)-->(b)\n-[:>(c)")
        self.write("empty/x.txt", "")
        star33 = "big=" + ",".join(f"(a)-->(v{i})" for i in range(32))
        for query, text in [
            ("no-such-file", "no such file; name a file with a pattern or a t/v/e graph"),
            ("one=(a)", "2 to 32 vertices"),
            (star33, "2 to 32 vertices"),
            ("apart=(a)-->(b), (c)-->(d)", "connected"),
            ("twice=(a)-->(b), (a)-->(b)", "twice"),
            ("loop=(a)-->(b), (a)-->(a)", "the edge at 'a' is a self-loop, but the graph leaves self-loops out"),
            ("broken=(a)-->(b", "--query broken:1:"),
            ("bad.pattern", "bad.pattern:2:"),
            ("empty", "no *.pattern, *.graph, *.q, *.query"),
            ("=(a)-->(b)", "the name is empty"),
            ("(a)-->(b", "--query pattern:1:9: expected ')'"),
            ("(a)-->(b), (c)-->(d)", "connected"),
            ("a)-->(b)", "or write a pattern such as (a)-->(b) or name=(a)-->(b)"),
        ]:
            with self.subTest(query=query[:40]):
                self.fails(78, "validate", "--query", query, says=text)

    def test_a_pattern_without_a_name_gets_one(self):
        def names(*queries):
            lines = self.ok("validate", *(word for query in queries for word in ("--query", query))).out.splitlines()
            return [tuple(line.split(": ", 2)[::2]) for line in lines]

        self.assertEqual(names("(a)-->(b)"), [("pattern", "(a)-->(b)")])
        self.assertEqual(names(" MATCH (a:X)-->(b)"), [("pattern", "(a:X)-->(b)")])
        self.assertEqual(names("(a)-->(b)", "wedge=(a)-->(b)-->(c)", "(a)-->(b)", "(a)-[:T]->(b)"),
                         [("pattern", "(a)-->(b)"), ("wedge", "(a)-->(b)-->(c)"), ("pattern2", "(a)-->(b)"), ("pattern3", "(a)-[:T]->(b)")])
        self.assertEqual(names("match=(a)-->(b)", "(a)-->(b)"), [("match", "(a)-->(b)"), ("pattern", "(a)-->(b)")])
        self.write("q/pattern2.pattern", "(a)-->(b)-->(a)")
        self.assertEqual([name for name, _ in names("(a)-->(b)", "(a)-->(b)", "q", "pattern=(a)-->(b)")],
                         ["pattern3", "pattern4", "pattern2", "pattern"])
        self.write("s.tsv", "1\t2\n2\t3\n3\t1\n")
        cycle = "(a)-->(b)-->(c)-->(a)"
        self.assertEqual([(query["name"], query["new"]) for query in self.json("replay", "--updates", "s.tsv", "--query", cycle)["queries"]],
                         [("pattern", 1)])
        self.assertEqual([query["name"] for query in self.json("match", "--graph", "s.tsv", "--query", cycle)["queries"]], ["pattern"])

    def test_a_file_that_is_there_is_no_pattern(self):
        self.write("(a)-->(b)", "(a)-->(b)-->(c)")
        self.assertEqual(self.ok("validate", "--query", "(a)-->(b)").out, "(a)-->(b): 3 vertices, 2 edges: (a)-->(b)-->(c)\n")

    def test_two_queries_of_one_name(self):
        self.write("a.pattern", "(a)-->(b)")
        for first, place in (("a=(a)-->(b)", "--query 'a=(a)-->(b)'"), ("a.pattern", "a.pattern")):
            self.fails(78, "validate", "--query", first, "--query", "a=(a)-->(b)-->(c)",
                       says=f"--query 'a=(a)-->(b)-->(c)': the name 'a' already belongs to {place}; give each query its own name")

    def test_star_of_31_leaves_is_legal(self):
        star = "star=" + ",".join(f"(hub)-->(v{i})" for i in range(31))
        self.assertIn("32 vertices, 31 edges", self.ok("validate", "--query", star).out)

    def test_directed_query_over_undirected_data(self):
        self.fails(78, "validate", "--undirected", "--query", "a=(a)-->(b)", says="undirected")
        self.ok("validate", "--undirected", "--query", "a=(a)--(b)")

    def test_subgraphs_are_only_for_isomorphism(self):
        self.fails(78, "validate", "--mode", "homomorphism", "--count", "subgraphs", "--query", TRIANGLE)
        self.ok("validate", "--mode", "homomorphism", "--query", TRIANGLE)

    def test_validate_and_explain_show_conditions(self):
        query = "q=(a)-->(b)-->(c) WHERE id(a) <> id(c) AND NOT (id(b) > 5 OR id(a) IN [1, 2])"
        parts = ["NOT id(a) = 1", "NOT id(a) = 2", "NOT id(a) = id(c)", "NOT 5 < id(b)"]
        lines = self.ok("validate", "--query", query).out.splitlines()
        self.assertTrue(lines[0].startswith("q: 3 vertices, 2 edges: (a)-->(b)-->(c) WHERE id(a) <> id(c) AND NOT"), lines)
        self.assertEqual(lines[1:3], ["  matched on CPU cores only, because it has conditions", "  conditions in normal form:"])
        self.assertEqual([line.split(":")[0] for line in lines[3:]], [f"    {i}" for i in range(1, 5)])
        self.assertCountEqual([line.split(": ")[1] for line in lines[3:]], parts)
        self.write("g.csv", "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(9)))
        lines = self.ok("explain", "--graph", "g.csv", "--query", query).out.splitlines()
        self.assertIn("matched on CPU cores only, because it has conditions", lines)
        text = "\n".join(lines)
        self.assertIn("NOT id(a) = 1; sampled: TRUE for 90 % of 10 vertices with its labels", text)
        self.assertIn("choose edge", text)
        self.assertIn("test condition", text)
        self.assertNotIn("CPU", self.ok("explain", "--graph", "g.csv", "--query", TRIANGLE).out)

    def test_a_simple_graph_refuses_conditions_on_edges(self):
        for query, says in [("q=(a)-[t]->(b) WHERE t.time > datetime('2026-01-01')", "a condition on the time of an edge"),
                            ("q=(a)-[t]->(b) WHERE t.amount > 5", "a condition on an attribute of an edge"),
                            ("q=(a)-->(b) WITHIN 24h", "WITHIN is a condition on the time of edges"),
                            ("q=(a)-[t:T]->(b), (a)-[u:T]->(b)", "have the same ends and labels")]:
            self.fails(78, "validate", "--query", query, says=[says, "--edges keyed or --edges events"])

    def test_explain(self):
        self.write("g.txt", "1 2\n2 3\n3 1\n")
        self.assertIn("triangle", self.ok("explain", "--query", TRIANGLE).out)
        self.ok("explain", "--query", TRIANGLE, "--graph", "g.txt")
        planned = self.ok("explain", "--query", TRIANGLE, "--graph", "g.txt").out
        analyzed = self.ok("explain", "--query", TRIANGLE, "--graph", "g.txt", "--analyze").out
        self.assertNotEqual(planned, analyzed)
        self.assertIn("\n  order: a b c\n", planned)
        self.assertIn("since planned: 3 anchors tried, 1 found", analyzed)
        self.assertRegex(analyzed, r"level 1: .*, about [0-9.]+; so far 0\.3\n")  # one of three anchors
        self.write("s.tsv", "-\t1\t2\n")
        self.ok("explain", "--query", TRIANGLE, "--graph", "g.txt", "--updates", "s.tsv", "--analyze")

    def test_what_a_thread_could_not_be_started_for_is_named(self):
        self.write("s.tsv", "+\t1\t2\n")

        def little_for_stacks():  # the stack of a thread has the size of this limit
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 40, resource.getrlimit(resource.RLIMIT_STACK)[1]))
            resource.setrlimit(resource.RLIMIT_AS, (1 << 39, 1 << 39))

        self.skip_where_sanitized()
        outcome = self.run_program("replay", "--updates", "s.tsv", "--query", "edge=(a)-->(b)", "--threads", 1, "--backend", "cpu",
                                   before=little_for_stacks)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("deltamatch: threads: no thread can be started: Resource temporarily unavailable. The limit on a user's threads (ulimit -u) is ", outcome.err)
        self.assertIn("(ulimit -v) is 524288 MiB, and each thread takes a stack (ulimit -s) of 1048576 MiB", outcome.err)
        self.assertIn("; raise the limit that is reached, or ask for fewer threads", outcome.err)

    def skip_where_sanitized(self):
        program = pathlib.Path(PROGRAM).read_bytes()
        if b"__asan_init" in program or b"__tsan_init" in program:
            self.skipTest("sanitizers take more memory than is left here")

    def test_a_stream_that_outgrows_memory_leaves_a_report_and_the_snapshot(self):
        self.skip_where_sanitized()
        self.write("s.txt", "".join(f"{u} {u * 7919 % 1000003 + 2000000}\n" for u in range(400000)))
        little = 80 << 20
        outcome = self.run_program("replay", "--updates", "s.txt", "--query", "edge=(a)-->(b)", "--batch", 500, "--backend", "cpu",
                                   "--threads", 1, "--save-snapshot", "x.dms", "--json",
                                   before=lambda: resource.setrlimit(resource.RLIMIT_DATA, (little, little)))
        self.assertEqual((outcome.code, outcome.err), (1, "deltamatch: out of memory; use a machine with more memory, or a smaller --batch\n"))
        told = json.loads(outcome.out)
        self.assertIs(told["complete"], False)
        self.assertTrue(0 < told["updates"] < 400000, told)
        self.assertEqual(told["updates"], 500 * told["batches"])
        saved = self.json("snapshot", "info", "x.dms")["graph"]
        self.assertEqual((saved["edges"], told["queries"][0]["new"]), (told["updates"], told["updates"]))
        self.ok("snapshot", "verify", "x.dms")

    def test_a_listing_that_memory_cuts_short_ends_with_a_mark(self):
        self.skip_where_sanitized()
        self.write("s.txt", "".join(f"{u} {u * 7919 % 1000003 + 2000000}\n" for u in range(400000)))
        little = 80 << 20
        for name in ("m.jsonl", "m.csv"):
            outcome = self.run_program("replay", "--updates", "s.txt", "--query", "edge=(a)-->(b)", "--batch", 500, "--backend", "cpu",
                                       "--threads", 1, "--emit", "matches", "--out", name, "--json",
                                       before=lambda: resource.setrlimit(resource.RLIMIT_DATA, (little, little)))
            self.assertEqual((outcome.code, outcome.err), (1, "deltamatch: out of memory; use a machine with more memory, or a smaller --batch\n"))
            told = json.loads(outcome.out)
            (query,) = told["queries"]
            self.assertEqual(query["partial"], "stopped")
            self.assertTrue(0 < query["new"] < 400000, told)
            *matches, last = self.read(name).splitlines()
            self.assertEqual(len(matches) - (1 if name == "m.csv" else 0), query["new"])
            mark = {"m.jsonl": f'{{"v":1,"query":"edge","partial":"stopped","matches":{query["new"]}}}', "m.csv": "1,,edge,partial:stopped,0,,,,"}
            self.assertEqual(last, mark[name])

    def test_a_snapshot_that_memory_does_not_hold_is_named(self):
        self.skip_where_sanitized()
        self.write("s.txt", "".join(f"{u} {u * 7919 % 1000003 + 2000000}\n" for u in range(300000)))
        self.write("none.txt", "")
        self.ok("replay", "--updates", "s.txt", "--query", "e=(a)-->(b)", "--save-snapshot", "x.dms", "--json")
        little = 48 << 20
        self.fails(1, "replay", "--snapshot", "x.dms", "--updates", "none.txt", "--format", "snap", "--query", "e=(a)-->(b)", "--threads", 1,
                   "--backend", "cpu", before=lambda: resource.setrlimit(resource.RLIMIT_DATA, (little, little)),
                   says=["x.dms: memory is too small for the snapshot, which has ", " and 300000 edges; give the machine more"])

    def test_where_memory_is_short_only_what_the_command_has_is_advised(self):
        self.skip_where_sanitized()
        self.write("g.txt", "".join(f"{u} {u * 7919 % 1000003 + 2000000}\n" for u in range(300000)))
        little = 64 << 20
        for args, remedy in [(["replay", "--updates", "g.txt", "--query", "edge=(a)--(b)", "--batch", 10**6], ", or a smaller --batch"),
                             (["match", "--graph", "g.txt", "--query", "edge=(a)--(b)"], ""),
                             (["motifs", "--graph", "g.txt", "-k", 3], "")]:
            with self.subTest(args):
                outcome = self.run_program(*args, "--undirected", "--backend", "cpu", "--threads", 1,
                                           before=lambda: resource.setrlimit(resource.RLIMIT_DATA, (little, little)))
                self.assertEqual((outcome.code, outcome.err), (1, f"deltamatch: out of memory; use a machine with more memory{remedy}\n"))


if __name__ == "__main__":
    harness.main()
