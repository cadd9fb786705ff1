"""Every kind of broken input is refused with file:line, fault and remedy, or is counted and kept aside."""

import gzip
import json
import resource

import harness
from harness import TRIANGLE

REMEDY = "give --on-error skip or dead-letter"
GOOD = "+\t1\t2\n"


class BadInput(harness.CliTest):
    def refuses(self, stream, where, reason, *args, name="s.tsv"):
        """`fail` names the line and the reason. `skip` counts the record and continues."""
        self.write(name, stream)
        base = ["replay", "--updates", name, "--query", "e=(a)-->(b)", *args]
        self.fails(1, *base, says=[f"deltamatch: {name}:{where}: {reason}: ", REMEDY], reports=True)
        result = self.json(*base, "--on-error", "skip")
        self.assertEqual({k: v for k, v in result["ignored"].items() if v}, {reason: 1}, stream)
        return result

    def test_each_kind_of_bad_record(self):
        for line, reason in [
            ("garbage", "wrong_arity"),
            ("+\t1", "wrong_arity"),
            ("+\t1\t2\t3\t4\t5\t6", "wrong_arity"),
            ("+\t1\t99999999999999999999", "bad_id"),
            ("+\t1\t", "bad_id"),
        ]:
            with self.subTest(line):
                result = self.refuses(f"{GOOD}{line}\n+\t5\t6\n", 2, reason)
                self.assertEqual((result["updates"], result["queries"][0]["new"]), (3, 2))

    def test_a_label_beyond_the_limit(self):
        for rows in ("A,x,\nB,x,\nC,x,\nB,x,\n", ",x,A\n,x,B\n,x,C\n,x,B\n"):  # labels of edges, labels of vertices
            text = "source,target,label,time,source_label\n" + "".join(
                f"{i},{100 + i},{label},,{vertex}\n" for i, (label, _, vertex) in enumerate(row.split(",") for row in rows.split()))
            result = self.refuses(text, 4, "label_limit", "--max-labels", "2", name="s.csv")
            self.assertEqual(result["queries"][0]["new"], 3)
            self.assertEqual(self.json("match", "--graph", "s.csv", "--query", "e=(a)-->(b)", "--max-labels", "2", "--on-error",
                                       "skip")["queries"][0]["matches"], 3)
            self.fails(1, "convert", "s.csv", "s.dmg", "--to", "graph", "--max-labels", "2", says="s.csv:4: label_limit")
            for enough in (["--max-labels", "3"], []):
                self.assertEqual(self.json("replay", "--updates", "s.csv", "--query", "e=(a)-->(b)", *enough)["queries"][0]["new"], 4)
        self.fails(2, "convert", "s.csv", "s.dmu", "--to", "binary", "--max-labels", "2", says="this option is for graph files only")
        self.fails(2, "replay", "--updates", "s.csv", "--query", "e=(a)-->(b)", "--max-labels", "0", says="--max-labels")

    def test_self_loops_are_left_out_and_counted_and_cost_nothing_else(self):
        loops = {"l.txt": "0 0\n0 1\n1 0\n1 2\n2 0\n0 1\n", "l.tsv": "+\t0\t0\n-\t0\t0\n+\t0\t1\n+\t1\t0\n+\t1\t2\n+\t2\t0\n",
                 "l.csv": "source,target,source_label\n0,0,X\n0,1,\n1,0,\n1,2,\n2,0,\n",
                 "l.jsonl": "".join(f'{{"source":"{u}","target":"{v}"}}\n' for u, v in ("aa", "ab", "ba", "bc", "ca")),
                 "l.tve": "t 3 5\nv 0 A\nv 1 A\nv 2 A\ne 0 0\ne 0 1\ne 1 0\ne 1 2\ne 2 0\n",
                 "l.jlg": "3,5,d,loops\n1,1\n1,2\n2,1\n2,3\n3,1\n"}
        query = ["--query", "t=(a)--(b)--(c)--(a)", "--on-error", "fail"]
        for name, text in loops.items():
            self.write(name, text)
            for direction, triangles in (("--undirected", 1), ("--directed", 2)):
                with self.subTest(name=name, direction=direction):
                    matched = self.json("match", "--graph", name, direction, *query)
                    self.assertEqual(matched["queries"][0]["matches"], triangles)
                    self.assertEqual(matched["ignored"]["self_loop"], 2 if name == "l.tsv" else 1)
                    self.assertEqual(matched["graph"]["vertices"], 3)
                    replayed = self.json("replay", "--updates", name, direction, *query, "--batch", 2)
                    self.assertEqual(replayed["queries"][0]["new"], triangles)
                    self.assertEqual(replayed["ignored"]["self_loop"], matched["ignored"]["self_loop"])
        self.assertIn("ignored  superseded 1, self_loop 1\n", self.ok("match", "--graph", "l.txt", *query).out)

    def test_a_vertex_that_only_a_self_loop_names_is_not_there(self):
        self.write("l.txt", "1 2\n9 9\n")
        self.assertEqual(self.json("match", "--graph", "l.txt", "--query", "e=(a)-->(b)")["graph"]["vertices"], 2)

    def test_self_loops_make_no_dead_letters(self):
        self.write("l.txt", "1 1\n1 2\n")
        self.json("replay", "--updates", "l.txt", "--query", "e=(a)-->(b)", "--on-error", "dead-letter", "--dead-letters", "d.jsonl")
        self.assertEqual(self.read("d.jsonl"), "")

    def test_converting_keeps_self_loops_in_streams_and_counts_them_in_graphs(self):
        self.write("l.txt", "1 1\n1 2\n")
        self.ok("convert", "l.txt", "l.tsv", "--to", "tsv")
        self.assertEqual(self.json("match", "--graph", "l.tsv", "--query", "e=(a)-->(b)")["ignored"]["self_loop"], 1)
        told = self.ok("convert", "l.txt", "l.dmg", "--to", "graph").out
        self.assertEqual(told, "2 vertices and 1 edges written, 0 records refused, 1 self-loops left out\n")
        self.assertEqual(self.json("match", "--graph", "l.dmg", "--query", "e=(a)-->(b)")["queries"][0]["matches"], 1)

    def test_bad_times(self):
        for time in ["soon", "nan", "inf", "1e400", "99999999999999999999"]:
            with self.subTest(time):
                self.refuses(f"+\t1\t2\tx\t5\n+\t3\t4\tx\t{time}\n", 2, "bad_time")

    def test_window_needs_times(self):
        self.write("s.tsv", GOOD)
        self.fails(1, "replay", "--updates", "s.tsv", "--query", TRIANGLE, "--window", "24h", says="s.tsv:1: missing_time",
                   reports=True)

    def test_bad_ids_of_integer_formats(self):
        for ident in ["nan", "1.5", "0x10", "9223372036854775808", "abc"]:
            with self.subTest(ident):
                self.refuses(f"1 2\n3 {ident}\n", 2, "bad_id", name="s.txt")

    def test_names_where_integers_are_expected_are_answered_with_the_option_that_takes_them(self):
        self.write("g.txt", "alice bob\nbob carol\n")
        base = ["match", "--graph", "g.txt", "--query", "e=(a)-->(b)"]
        self.fails(1, *base, says="g.txt:1: the format is not recognised; the data starts with `alice bob\\x0abob carol\\x0a`; --format says")
        self.fails(1, *base, says="if the lines are edges between names, give --format snap --ids string")
        self.fails(1, *base, "--format", "snap", says="g.txt:1: bad_id: source `alice` is not an integer (--ids string, ")
        self.assertEqual(self.json(*base, "--format", "snap", "--ids", "string")["queries"][0]["matches"], 2)

    def test_text_that_is_read_as_json_is_answered_with_its_format(self):
        self.write("g.txt", "1 2\n2 3\n")
        self.fails(1, "match", "--graph", "g.txt", "--query", "e=(a)-->(b)", "--format", "jsonl",
                   says=["g.txt:1: malformed: it is no JSON object such as ", "; --format snap reads the data"])

    def test_bad_operation(self):
        self.refuses('{"source":1,"target":2}\n{"op":"merge","source":1,"target":3}\n', 2, "bad_operation", name="s.jsonl")

    def test_malformed_json(self):
        self.refuses('{"source":1,"target":2}\n{"source":1,"target"\n', 2, "malformed", name="s.jsonl")

    def test_label_conflict(self):
        stream = "op,source,target,source_label\n+,1,2,A\n+,1,3,B\n"
        self.refuses(stream, 3, "label_conflict", name="s.csv")

    def test_endless_line(self):
        self.refuses(GOOD + "+\t1\t" + "9" * 5000 + "\n", 2, "too_long", "--max-record", 1000)

    def test_what_stands_before_a_bad_record_is_applied(self):
        self.write("s.tsv", "+\t1\t2\n+\t2\t3\n+\t3\t1\ngarbage\n")
        self.fails(1, "replay", "--updates", "s.tsv", "--query", TRIANGLE, "--emit", "matches", "--out", "m.jsonl",
                   says="s.tsv:4: wrong_arity", reports=True)
        self.assertEqual([(row["query"], row.get("partial")) for row in self.lines("m.jsonl")],
                         [("triangle", None), ("triangle", "stopped")])

    def test_the_report_of_what_stands_before_a_bad_record(self):
        self.write("s.tsv", "+\t1\t2\n+\t2\t3\n+\t3\t1\ngarbage\n+\t3\t4\n")
        args = ["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--batch", 2, "--batches", "b.jsonl", "--save-snapshot", "x"]
        outcome = self.fails(1, *args, "--json", says="s.tsv:4: wrong_arity", reports=True)
        result = json.loads(outcome.out)
        self.assertEqual((result["batches"], result["updates"], result["graph"]["edges"]), (2, 4, 3))
        self.assertEqual(self.untimed(result["queries"]), [{"name": "triangle", "new": 1, "removed": 0, "complete": False, "partial": "stopped"}])
        self.assertEqual(result["ignored"]["wrong_arity"], 1)
        self.assertEqual(sum(line["queries"][0]["new"] for line in self.lines("b.jsonl")), 1)
        self.assertEqual(self.json("snapshot", "info", "x")["graph"]["edges"], 3)
        outcome = self.fails(1, *args, says="s.tsv:4: wrong_arity", reports=True)
        self.assertRegex(outcome.out, r"\ntriangle +at least 1 +at least 0 ")
        outcome = self.run_program(*args, "--emit", "matches")
        self.assertEqual((outcome.code, outcome.out.count("\n")), (1, 2), outcome)  # the match and the mark of the end
        self.assertRegex(outcome.err, r"\AINCOMPLETE: (.*\n)+deltamatch: s.tsv:4: wrong_arity")

    def test_a_bad_second_record_is_refused_by_its_line(self):
        self.refuses("1 2\n3\n", 2, "wrong_arity", name="s.txt")

    def test_dead_letters(self):
        self.write("g.tsv", "+\t1\t2\n+\t5\t6\nbad graph\n")
        self.write("s.tsv", "+\t2\t3\nbad\tline\tof\tmany\tmore\tfields\n+\t3\t1\n+\tx\n")
        result = self.json("replay", "--graph", "g.tsv", "--updates", "s.tsv", "--query", TRIANGLE, "--on-error", "dead-letter",
                           "--dead-letters", "d.jsonl")
        self.assertEqual(result["queries"][0]["new"], 1)
        letters = self.lines("d.jsonl")
        self.assertEqual(list(letters[0]), ["v", "reason", "source", "part", "position", "message", "record", "length"])
        self.assertEqual([(row["source"], row["position"], row["reason"]) for row in letters],
                         [("g.tsv", 3, "wrong_arity"), ("s.tsv", 2, "wrong_arity"), ("s.tsv", 4, "wrong_arity")])
        self.assertEqual(letters[1]["record"], "bad\tline\tof\tmany\tmore\tfields")

    def test_dead_letters_are_kept_until_something_is_read(self):
        self.write("g.txt", "1 2\n2 3\n")
        self.write("empty.txt", "")
        policy = ["--on-error", "dead-letter", "--dead-letters", "d.jsonl"]
        edge = ["--query", "e=(a)-->(b)"]
        for code, *args in ((78, "match", "--graph", "g.txt", "--query", "e=(a"), (1, "match", "--graph", "gone.txt", *edge),
                            (78, "replay", "--updates", "g.txt", "--undirected", *edge), (1, "replay", "--updates", "gone.txt", *edge),
                            (2, "match", "--graph", "g.txt", "--sample", 9, "--limit", 9, *edge), (1, "motifs", "--graph", "gone.txt", "-k", 3),
                            (1, "convert", "gone.txt", "o.tsv", "--to", "tsv"), (1, "convert", "gone.txt", "o.dmg", "--to", "graph")):
            with self.subTest(args=args):
                self.write("d.jsonl", "of the last run\n")
                self.fails(code, *args, *policy)
                self.assertEqual(self.read("d.jsonl"), "of the last run\n")
        # Letters of an earlier run are then gone, even if there are no new ones.
        for graph in ("g.txt", "empty.txt"):
            for args in (["match", "--graph", graph, *edge], ["replay", "--updates", graph, *edge], ["cliques", "--graph", graph],
                         ["convert", graph, "o.tsv", "--to", "tsv"], ["convert", graph, "o.dmg", "--to", "graph"]):
                with self.subTest(args=args):
                    self.write("d.jsonl", "of the last run\n")
                    self.ok(*args, *policy)
                    self.assertEqual(self.read("d.jsonl"), "")

    def test_bad_record_of_the_start_graph(self):
        self.write("g.txt", "1 2\n2 3\n3 4\nx y\n")
        self.write("s.tsv", GOOD)
        self.fails(1, "replay", "--graph", "g.txt", "--updates", "s.tsv", "--query", TRIANGLE, says="g.txt:4: bad_id")

    def test_missing_files(self):
        self.write("s.tsv", GOOD)
        for args in [["--updates", "gone.tsv"], ["--updates", "s.tsv", "--graph", "gone.tsv"],
                     ["--updates", "s.tsv", "--labels", "gone.tsv"], ["--updates", "s.tsv", "--snapshot", "gone.tsv"]]:
            with self.subTest(args=args):
                self.fails(1, "replay", *args, "--query", TRIANGLE, says="deltamatch: gone.tsv: ")

    def test_truncated_gz(self):
        packed = gzip.compress("".join(f"+\t{i}\t{i * 7919 % 100003}\n" for i in range(20000)).encode())
        self.write("s.gz", packed[: len(packed) // 2])
        self.fails(1, "replay", "--updates", "s.gz", "--query", TRIANGLE, "--on-error", "skip", says="s.gz", reports=True)

    def test_binary_junk(self):
        junk = bytes(range(256)) * 64
        self.write("s.bin", junk)
        self.fails(1, "replay", "--updates", "s.bin", "--query", TRIANGLE, says="s.bin")
        self.fails(1, "replay", "--updates", "s.bin", "--query", TRIANGLE, "--format", "tsv", says="s.bin:1: ",
                   reports=True)
        result = self.json("replay", "--updates", "s.bin", "--query", TRIANGLE, "--format", "tsv", "--on-error", "skip",
                           "--max-refused", 1)
        self.assertEqual(result["graph"]["edges"], 0)
        self.assertEqual(result["updates"], sum(result["ignored"].values()))

    def test_binary_junk_as_a_query(self):
        self.write("q.pattern", bytes(range(256)))
        self.write("q.graph", bytes(range(256)))
        for query in ["q.pattern", "q.graph"]:
            self.fails(78, "validate", "--query", query, says=query)

    def test_empty_file(self):
        for content in [b"", gzip.compress(b"")]:
            counts, result = self.replay(content)
            self.assertEqual((counts, result["updates"], result["batches"]), ({"triangle": (0, 0)}, 0, 0))
        self.write("q.pattern", "")
        self.fails(78, "validate", "--query", "q.pattern", says="q.pattern")

    def test_crlf_and_byte_order_mark(self):
        ring = "+\t1\t2\r\n+\t2\t3\r\n+\t3\t1\r\n"
        self.assertEqual(self.replay(ring)[0], {"triangle": (1, 0)})
        self.assertEqual(self.replay(b"\xef\xbb\xbf" + ring.encode())[0], {"triangle": (1, 0)})

    def test_unwritable_outputs(self):
        self.write("s.tsv", GOOD)
        for option in [["--emit", "matches", "--out"], ["--batches"], ["--save-snapshot"],
                       ["--on-error", "dead-letter", "--dead-letters"]]:
            with self.subTest(option=option):
                self.fails(1, "replay", "--updates", "s.tsv", "--query", TRIANGLE, *option, "no/such/dir/file",
                           says="no/such/dir/file")

    def test_where_a_snapshot_cannot_be_written_nothing_is_read(self):
        self.write("s.tsv", GOOD)
        (self.dir / "folder").mkdir()
        for path, why in (("no/such/dir/file", "cannot be written: No such file"), ("folder", "is not a regular file"),
                          ("/dev/null", "is not a regular file")):
            with self.subTest(path=path):
                self.fails(1, "replay", "--updates", "s.tsv", "--query", TRIANGLE, "--batches", "b.jsonl", "--save-snapshot", path,
                           says=f"{path}: {why}")
                self.fails(1, "convert", "s.tsv", path, "--to", "graph", "--on-error", "dead-letter", "--dead-letters", "b.jsonl",
                           says=f"{path}: {why}")
                self.assertFalse((self.dir / "b.jsonl").exists())

    def test_the_report_of_a_stream_whose_snapshot_cannot_be_saved(self):
        self.write("s.tsv", GOOD)
        args = ["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--save-snapshot", "x"]
        for more in ([], ["--json"]):
            failed = self.run_program(*args, *more, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)))
            self.assertEqual(failed.code, 1, failed)
            self.assertRegex(failed.err, r"\Adeltamatch: x: the snapshot cannot be written: File too large; .*\n\Z")
            if more:
                self.assertEqual(json.loads(failed.out)["updates"], 1)
            else:
                self.assertRegex(failed.out, r"\ntriangle +0 +0 ")

    def test_query_names_are_escaped(self):
        name = 'a"b\\c\n\x01é'
        self.write("s.tsv", GOOD)
        result = self.json("replay", "--updates", "s.tsv", "--query", f"{name}=(x)-->(y)")
        self.assertEqual(self.untimed(result["queries"]), [{"name": name, "new": 1, "removed": 0}])
        self.write("q/\udcff.pattern".encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"), "(x)-->(y)")
        out = self.ok("replay", "--updates", "s.tsv", "--query", "q", "--json").out
        self.assertEqual(json.loads(out)["queries"][0]["name"], "\ufffd")


if __name__ == "__main__":
    harness.main()
