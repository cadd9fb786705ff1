"""The reports of replay, in every form and from every kind of input."""

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import os
import pty
import resource
import select
import signal
import subprocess
import unittest.mock

import harness
from harness import IGNORED, PROGRAM, TRIANGLE

RING = "+\t1\t2\n+\t2\t3\n+\t3\t1\n"


class Replay(harness.CliTest):
    def test_json_has_exactly_these_keys_in_this_order(self):
        _, result = self.replay(RING)
        self.assertEqual(list(result), ["v", "version", "mode", "counting", "threads", "graph", "digest", "batches", "updates", "ignored", "warnings", "queries", "seconds"])
        self.assertEqual(result["v"], 1)
        self.assertEqual(list(result["graph"]), ["vertices", "edges", "bytes"])
        self.assertEqual(list(result["ignored"]), IGNORED)
        self.assertEqual([list(q) for q in result["queries"]], [["name", "new", "removed", "seconds"]])
        seconds = result["seconds"]
        self.assertEqual(list(seconds), ["load", "apply", "estimate", "cache", "match", "settle", "anticipate", "other", "total", "cpu"])
        parts = sum(seconds[part] for part in seconds if part not in ("anticipate", "total", "cpu"))
        self.assertAlmostEqual(parts, seconds["total"], delta=1e-5)
        self.assertGreater(seconds["cpu"], 0)
        self.assertEqual((result["graph"]["vertices"], result["graph"]["edges"]), (3, 3))
        self.assertEqual((result["batches"], result["updates"]), (1, 3))
        self.assertEqual(self.untimed(result["queries"]), [{"name": "triangle", "new": 1, "removed": 0}])
        self.assertGreater(result["graph"]["bytes"], 0)

    def test_what_ends_batches_early_is_told(self):
        self.write("s.txt", "".join(f"{i % 7} {i % 5 + 10} {i * 100}\n" for i in range(40)))
        args = ["replay", "--updates", "s.txt", "--query", "(a)-->(b)", "--window", "1h"]
        result = self.json(*args, "--batch", 1000)
        self.assertEqual((result["batch_span"], result["updates"]), (225_000_000, 40))
        self.assertGreater(result["batches"], 12)
        self.assertIn("\n         a batch spans at most 225s of event time; 0 ended early because an edge in it expired\n", self.ok(*args).out)
        self.assertNotIn("batch_span", self.json(*args[:5]))

    def test_batches_are_rows_in_a_name_of_csv(self):
        self.write("s.txt", "1 2\n2 3\n3 1\nx\n- 3 1\n")
        args = ["replay", "--updates", "s.txt", "--query", 'a "ring"=(a)-->(b)-->(c)-->(a)', "--query", "edge=(a)-->(b)", "--batch", 3,
                "--on-error", "skip"]
        self.ok(*args, "--batches", "b.csv")
        self.ok(*args, "--batches", "b.jsonl")
        with open(self.dir / "b.csv", newline="") as file:
            text = file.read()
        self.assertEqual(text.count("\r\n"), text.count("\n"))
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual(list(rows[0]), ["batch", "updates", "inserted", "deleted", "expired", "batch_seconds", "query", "new", "removed",
                                         "suppressed", "seconds", "partial"])
        lines = self.lines("b.jsonl")
        self.assertEqual([[int(row[key]) for key in ("batch", "updates", "inserted", "deleted", "expired")] for row in rows],
                         [[line[key] for key in ("batch", "updates", "inserted", "deleted", "expired")] for line in lines for _ in line["queries"]])
        self.assertEqual([(row["query"], int(row["new"]), int(row["removed"])) for row in rows],
                         [(query["name"], query["new"], query["removed"]) for line in lines for query in line["queries"]])
        self.assertEqual(rows[0]["new"], "1")
        for row in rows:
            self.assertLessEqual(float(row["seconds"]), float(row["batch_seconds"]))

    def test_counts_beyond_64_bits_are_exact(self):
        """Counts stars of 8 leaves on a hub that gains 2,249 neighbours and loses 10 of them again."""
        star = "star=" + ", ".join(f"(hub)--(l{i})" for i in range(8))
        self.write("s.tsv", "".join(f"+\t0\t{i}\n" for i in range(1, 2250)) + "".join(f"-\t{i}\t0\n" for i in range(1, 11)))
        most, left = math.comb(2249, 8), math.comb(2239, 8)
        self.assertTrue(2**64 < most - left < most < 2**128)
        args = ["replay", "--updates", "s.tsv", "--undirected", "--query", star]
        result = self.json(*args, "--batch", 2249, "--batches", "b.jsonl")
        self.assertEqual(self.untimed(result["queries"]), [{"name": "star", "new": most, "removed": most - left}])
        batches = self.lines("b.jsonl")
        self.assertEqual([(b["queries"][0]["new"], b["queries"][0]["removed"]) for b in batches], [(most, 0), (0, most - left)])
        self.assertRegex(self.ok(*args, "--batch", 2249).out, rf"(?m)^star +{most:,} +{most - left:,} ")
        for batch in (100, 8192):  # other cuts, same difference
            (query,) = self.json(*args, "--batch", batch, "--threads", 2)["queries"]
            self.assertEqual(query["new"] - query["removed"], left)

    def test_listed_matches_beyond_the_memory_for_them_come_out_the_same(self):
        """A hub with 200 neighbours, a third of which it loses again: 19,900 paths, and 11,121 that vanish."""
        self.write("s.tsv", "".join(f"+\t0\t{i}\n" for i in range(1, 201)) + "".join(f"-\t0\t{i}\n" for i in range(1, 67)))
        args = ["replay", "--updates", "s.tsv", "--undirected", "--query", "path=(a)--(b)--(c)", "--batch", 200, "--emit", "matches"]
        expected = self.ok(*args, "--out", "a.jsonl") and self.read("a.jsonl")
        self.assertEqual(expected.count("\n"), math.comb(200, 2) + math.comb(200, 2) - math.comb(134, 2))
        for memory, threads in (1, 1), ("1K", 2), ("100K", 2), ("1G", 2):
            self.ok(*args, "--out", "b.jsonl", "--spool-memory", memory, "--threads", threads)
            self.assertEqual(self.read("b.jsonl"), expected)

    def test_a_spool_that_cannot_be_written_ends_the_batch_before_anything_is_told(self):
        self.write("s.tsv", RING)
        args = ["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--emit", "matches", "--out", "a.jsonl", "--spool-memory", 1]
        with unittest.mock.patch.dict(os.environ, {"TMPDIR": str(self.dir / "nowhere")}):
            failed = self.run_program(*args)
        self.assertEqual(failed.code, 1, failed)
        self.assertIn("no temporary file can be made", failed.err)
        self.assertEqual(self.lines("a.jsonl"), [{"v": 1, "query": "triangle", "partial": "stopped", "matches": 0}])
        self.ok(*args)
        self.assertEqual(self.read("a.jsonl").count("\n"), 1)

    def test_a_spool_beyond_the_limit_of_file_sizes_is_an_error(self):
        self.write("s.tsv", "".join(f"+\t0\t{i}\n" for i in range(1, 201)))
        args = ["replay", "--updates", "s.tsv", "--undirected", "--query", "path=(a)--(b)--(c)", "--emit", "matches",
                "--out", "a.jsonl", "--spool-memory", "1K"]
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        try:
            failed = self.run_program(*args)  # not killed by SIGXFSZ
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        self.assertEqual(failed.code, 1, failed)
        self.assertIn("a temporary file cannot be written: File too large", failed.err)
        self.assertEqual(self.lines("a.jsonl"), [{"v": 1, "query": "path", "partial": "stopped", "matches": 0}])

    def test_table(self):
        self.write("s.tsv", RING + "+\t3\t1\n")
        out = self.ok("replay", "--updates", "s.tsv", "--query", TRIANGLE, "--batch", 3).out
        self.assertRegex(out, r"(?m)^stream   4 updates in 2 batches, [\d,]+ updates/s$")
        self.assertRegex(out, r"(?m)^graph    3 vertices, 3 edges, ")
        self.assertRegex(out, r"(?m)^time     .*load .*apply .*estimate .*cache .*match .*settle ")
        self.assertRegex(out, r"(?m)^ignored  duplicate_insert 1$")
        self.assertRegex(out, r"(?m)^query     new  removed +time\ntriangle    1        0 +\d+\.\d ms$")

    def test_start_graph_is_not_reported_as_new(self):
        self.write("g.txt", "1 2\n2 3\n3 1\n")
        counts, result = self.replay("-\t1\t2\n", "--graph", "g.txt")
        self.assertEqual(counts, {"triangle": (0, 1)})
        self.assertEqual((result["updates"], result["graph"]["edges"]), (1, 2))

    def test_several_graphs_streams_and_queries(self):
        self.write("g1.txt", "1 2\n")
        self.write("g2.txt", "2 3\n")
        self.write("a.tsv", "+\t3\t1\n")
        self.write("b.tsv", "-\t1\t2\n")
        self.write("q/edge.pattern", "(a)-->(b)")
        result = self.json("replay", "--graph", "g1.txt", "--graph", "g2.txt", "--updates", "a.tsv", "--updates", "b.tsv",
                           "--query", TRIANGLE, "--query", "q")
        self.assertEqual(self.untimed(result["queries"]),
                         [{"name": "triangle", "new": 1, "removed": 1}, {"name": "edge", "new": 1, "removed": 1}])
        self.assertEqual((result["updates"], result["batches"]), (2, 2))

    def test_vertex_labels_come_in_every_format(self):
        for name, content in {"plain.txt": "1 Account\n2 Shop\n3 Shop\n", "tabs.tsv": "1\tAccount\n2\tShop\n3\tShop\n",
                              "header.csv": "vertex,label\n1,Account\n2,Shop\n3,Shop\n",
                              "turned.csv": "label;id\nAccount;1\nShop;2\nShop;3\n",
                              "bare.csv": "1,Account\n2,Shop\n3,Shop\n",
                              "objects.jsonl": "".join('{"vertex":%d,"label":"%s"}\n' % pair
                                                       for pair in [(1, "Account"), (2, "Shop"), (3, "Shop")]),
                              "graph.tve": "v 1 Account\nv 2 Shop\nv 3 Shop\n"}.items():
            with self.subTest(name=name):
                self.write(name, content)
                self.write("s.tsv", "1\t2\n1\t3\n")
                result = self.json("replay", "--updates", "s.tsv", "--directed", "--labels", name,
                                   "--query", "p=(a:Account)-->(b:Shop)")
                self.assertEqual((result["queries"][0]["new"], result["graph"]["vertices"]), (2, 3))

    def test_vertex_labels_come_from_a_file(self):
        self.write("labels.txt", "1 Account\n2 Shop\n3 Shop\n")
        counts, _ = self.replay("1\t2\n1\t3\n", "--labels", "labels.txt", query="p=(a:Account)-->(b:Shop)")
        self.assertEqual(counts, {"p": (2, 0)})

    def test_edges_given_as_labels_are_told_so(self):
        self.write("g.txt", "1 2\n1 3\n")
        self.fails(1, "match", "--graph", "g.txt", "--labels", "g.txt", "--query", TRIANGLE,
                   says=["g.txt:2: label_conflict: vertex `1` has another label already", "; a file of labels states each vertex once; "
                         "if these are edges, give the file as a graph, else correct the record, or give --on-error skip"])
        self.write("s.jsonl", '{"source":1,"target":2,"source_label":"A"}\n{"source":1,"target":3,"source_label":"B"}\n')
        refused = self.fails(1, "match", "--graph", "s.jsonl", "--query", TRIANGLE, says="s.jsonl:2: label_conflict")
        self.assertNotIn("give the file as a graph", refused.err)

    def test_standard_input(self):
        result = self.json("replay", "--updates", "-", "--query", TRIANGLE, stdin=RING)
        self.assertEqual(result["queries"][0]["new"], 1)

    def test_packed_input(self):
        for name, packed in [("s.gz", gzip.compress(RING.encode())), ("s.xz", lzma.compress(RING.encode()))]:
            self.assertEqual(self.replay(packed, name=name)[0], {"triangle": (1, 0)})
        self.assertEqual(self.json("replay", "--updates", "-", "--query", TRIANGLE,
                                   stdin=gzip.compress(RING.encode()))["queries"][0]["new"], 1)
        self.write("s.bz2", bz2.compress(RING.encode()))
        self.fails(1, "replay", "--updates", "s.bz2", "--query", TRIANGLE, says="s.bz2: is a bzip2 archive")

    def test_formats(self):
        for name, text in {
            "snap": "# comment\n1 2\n2 3\n3 1\n",
            "csv": "payer,payee\n1,2\n2,3\n3,1\n",
            "jsonl": '{"source":1,"target":2}\n{"source":2,"target":3}\n{"source":3,"target":1}\n',
        }.items():
            with self.subTest(name):
                columns = ["--columns", "source=payer,target=payee"] if name == "csv" else []
                self.assertEqual(self.replay(text, *columns)[0], {"triangle": (1, 0)})
                self.assertEqual(self.replay(text, "--format", name, *columns)[0], {"triangle": (1, 0)})

    def test_direction_by_format(self):
        undirected = "tri=(a)--(b)--(c)--(a)"
        tve = "t 3 3\nv 1 0\nv 2 0\nv 3 0\ne 1 2\ne 2 3\ne 1 3\n"
        self.assertEqual(self.replay(tve, query=undirected)[0], {"tri": (1, 0)})
        self.assertEqual(self.replay("3,3,u,name\n1,2\n2,3\n1,3\n", query=undirected)[0], {"tri": (1, 0)})
        self.write("s.txt", tve)
        self.fails(78, "replay", "--updates", "s.txt", "--query", TRIANGLE, says="undirected")
        self.assertEqual(self.replay(tve, "--directed", query="p=(a)-->(b)-->(c)")[0], {"p": (1, 0)})
        self.assertEqual(self.replay("3,3,d,name\n1,2\n2,3\n1,3\n", query="p=(a)-->(b)-->(c)")[0], {"p": (1, 0)})

    def test_inputs_of_contrary_direction(self):
        self.write("g.graph", "t 3 1\nv 0 0\nv 1 0\nv 2 0\ne 1 2\n")
        self.write("s.tsv", RING)
        args = ["replay", "--graph", "g.graph", "--updates", "s.tsv", "--query", "e=(a)--(b)"]
        self.fails(2, *args, says=["g.graph (tve) is undirected, but s.tsv (tsv) is directed", "--directed or --undirected"])
        self.assertEqual(self.json(*args, "--undirected")["queries"][0]["new"], 2)

    def test_tve_stream_and_query(self):
        self.write("g.graph", "t 3 2\nv 0 0\nv 1 0\nv 2 1\ne 0 1\ne 1 2\n")
        self.write("q.graph", "t 3 3\nv 0 0\nv 1 0\nv 2 1\ne 0 1\ne 1 2\ne 0 2\n")
        args = ["replay", "--graph", "g.graph", "--query", "q.graph", "--updates", "s.txt", "--batch", 1]
        self.write("s.txt", "e 0 2\n-e 1 2\ne 2 1\n")
        self.assertEqual(self.untimed(self.json(*args)["queries"]), [{"name": "q", "new": 2, "removed": 1}])
        self.write("s.txt", "e 0 2\ne -2 -3\n")
        self.assertEqual(self.untimed(self.json(*args, "--negative-ids")["queries"]), [{"name": "q", "new": 1, "removed": 1}])

    def test_batches_by_count(self):
        self.assertEqual(self.replay(RING, "--batch", 2)[1]["batches"], 2)
        self.assertEqual(self.replay(RING, "--batch", 1)[1]["batches"], 3)

    def test_batches_by_time_and_window(self):
        stream = "1 2 0\n2 3 1800\n3 1 3599\n4 5 7200\n4 6 90000\n"
        self.assertEqual(self.replay(stream, "--batch-span", "1h")[1]["batches"], 3)
        counts, result = self.replay(stream, "--window", "24h", "--batch", 1)
        self.assertEqual(counts, {"triangle": (1, 1)})
        self.assertEqual(result["graph"]["edges"], 2)

    def test_a_window_reports_the_same_for_every_batch_size(self):
        """The ring spans 23 h 59 m. The last record expires its first edge."""
        self.write("s.csv", "source,target,label,time\nA,B,T,0\nB,C,T,82800\nC,A,T,86340\nX,Y,T,87000\n")
        args = ["replay", "--updates", "s.csv", "--window", "24h", "--query", "R=(a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"]
        for size in (1, 2, 3, 4, 8192):
            for given in (["--batch", size], ["--batch", size, "--emit", "matches", "--out", "m.jsonl"]):
                self.assertEqual(self.untimed(self.json(*args, *given)["queries"]), [{"name": "R", "new": 1, "removed": 1}])
            self.assertEqual([match["sign"] for match in self.lines("m.jsonl")], ["+", "-"], f"in batches of {size}")

    def test_a_batch_ends_where_one_of_its_own_edges_expires(self):
        self.write("s.txt", "1 2 0\n2 3 40\n3 1 59\n4 5 60\n5 6 70\n")
        self.json("replay", "--updates", "s.txt", "--window", "60s", "--batch-span", "1h", "--query", TRIANGLE, "--batches", "b.jsonl")
        told = [(batch["updates"], batch["expired"], batch["queries"][0]["new"], batch["queries"][0]["removed"])
                for batch in self.lines("b.jsonl")]
        self.assertEqual(sum(batch[0] for batch in told), 5)
        self.assertEqual([sum(column) for column in zip(*told)], [5, 1, 1, 1])

    def test_an_unreadable_record_behind_the_cut_of_a_batch_is_told_in_its_place(self):
        self.write("s.txt", "1 2 0\n3 4 10\n1 2 10\n5 6 bad\n")
        args = ["replay", "--updates", "s.txt", "--window", "10s", "--query", "(a)-->(b)", "--batch-span", "1h"]
        self.fails(1, *args, "--save-snapshot", "end.dms", says="s.txt:4: bad_time", reports=True)
        self.assertEqual(self.json("match", "--snapshot", "end.dms", "--query", "(a)-->(b)")["queries"][0]["matches"], 2)
        self.write("s.csv", "source,target,time\n1,2,0\n3,4,10\n1,2,10\n5,6,\n5,6,bad\n")
        self.fails(1, *args[:2], "s.csv", *args[3:], says="s.csv:5: missing_time", reports=True)
        self.write("s.txt", "1 2 0\n5 x\n3 4 10\n5 6\n1 2 10\n5 y\n7 8\n7 8 11\n")
        told = self.json(*args, "--on-error", "dead-letter", "--dead-letters", "d.jsonl")
        self.assertEqual([letter["position"] for letter in self.lines("d.jsonl")], [2, 4, 6, 7])
        self.assertEqual(told["updates"], 8)

    def cut(self, stream, cuts, *args, name="s.tsv"):
        """Returns (updates, new, removed) of each batch of a stream that is cut so."""
        self.write(name, stream)
        self.write("cuts.txt", cuts)
        self.json("replay", "--updates", name, "--query", "e=(a)-->(b)", "--cuts", "cuts.txt", "--batches", "b.jsonl", *args)
        return [(b["updates"], b["queries"][0]["new"], b["queries"][0]["removed"]) for b in self.lines("b.jsonl")]

    def test_cuts(self):
        stream = RING + "-\t1\t2\n+\t7\t8\n"
        self.assertEqual(self.cut(stream, "# records\n1\n\n0\n3 \n 1\n"), [(1, 1, 0), (0, 0, 0), (3, 2, 1), (1, 1, 0)])
        self.assertEqual(self.cut(stream, "5\r\n0\n"), [(5, 3, 0), (0, 0, 0)])
        self.assertEqual(self.cut("", "0\n0\n"), [(0, 0, 0), (0, 0, 0)])

    def test_cuts_count_records_that_are_refused_or_say_nothing(self):
        stream = "# a comment\n1 2\nbad\n\n3 4\n5 x\n6 7\n"
        for args in [["--on-error", "skip"], ["--on-error", "dead-letter", "--dead-letters", "d.jsonl"]]:
            self.assertEqual(self.cut(stream, "2\n1\n2\n2\n", *args), [(1, 1, 0), (1, 0, 0), (1, 1, 0), (2, 1, 0)])
        self.assertEqual([letter["position"] for letter in self.lines("d.jsonl")], [3, 6])
        self.write("s.tsv", stream)
        self.write("cuts.txt", "4\n3\n")
        self.fails(1, "replay", "--updates", "s.tsv", "--query", TRIANGLE, "--cuts", "cuts.txt", says="s.tsv:3: wrong_arity",
                   reports=True)

    def test_cuts_bring_watermarks(self):
        stream = "1 2 10\n3 4 20\n5 6 90\n"
        self.assertEqual(self.cut(stream, "2 5000000\n0 60000000\n1 60000000\n0\n", "--window", "50s"),
                         [(2, 2, 0), (0, 0, 1), (1, 1, 0), (0, 0, 0)])
        self.assertEqual(self.cut(stream, "2\n1\n", "--window", "50s"), [(2, 2, 0), (1, 1, 2)])
        self.assertEqual(self.cut(stream, "3 -\n0 - \r\n0 60000000\n", "--window", "50s"), [(3, 3, 0), (0, 0, 0), (0, 0, 1)])

    def test_watermarks_of_cuts_are_reached_with_the_times_of_the_records(self):
        """A ring of seconds 0, 1 and 2 is news before second 4. Another record, of second 1000, may stand in its batch."""
        ring, other = "1 2 0\n2 3 1\n3 1 2\n", "8 9 1000\n"
        within = "ring=(a)-[t1]->(b)-[t2]->(c)-[t3]->(a) WHERE t1.time < t2.time < t3.time WITHIN 4s"
        for stream, cuts, new in [
                (ring + other, "4\n", 1),
                (ring + other, "4 1000000000\n", 1),
                (ring + other, "4 -\n", 1),
                (ring + other, "2 1000000\n1 3999999\n1 1000000000\n", 1),
                (ring + other, "2 4000000\n2 1000000000\n", 0),  # the first edge has aged when the third one comes
                (other + ring, "4\n", 0),
                (other + ring, "4 1000000000\n", 0),
                (other + ring, "4 3999999\n", 1),
                (other + ring, "4 4000000\n", 0),
                (other + ring, "1 -\n3 1000000000\n", 1)]:
            with self.subTest(stream=stream, cuts=cuts):
                self.write("s.txt", stream)
                self.write("cuts.txt", cuts)
                outcome = self.run_program("replay", "--updates", "s.txt", "--cuts", "cuts.txt", "--edges", "events",
                                           "--query", within, "--json")  # it may warn of records that come late
                self.assertEqual(outcome.code, 0, outcome)
                self.assertEqual(self.untimed(json.loads(outcome.out)["queries"]), [{"name": "ring", "new": new, "removed": 0}])

    def test_an_edge_replaced_is_one_record(self):
        stream = ('{"op":"c","after":{"source":1,"target":2}}\n'
                  '{"op":"u","before":{"source":1,"target":2},"after":{"source":1,"target":3}}\n')
        self.write("s.jsonl", stream)
        result = self.json("replay", "--updates", "s.jsonl", "--envelope", "debezium", "--query", "e=(a)-->(b)", "--batch", 1)
        self.assertEqual((result["batches"], result["updates"], self.untimed(result["queries"])[0]), (2, 3, {"name": "e", "new": 2, "removed": 1}))
        self.assertEqual(self.cut(stream, "1\n1\n", "--envelope", "debezium", name="s.jsonl"), [(1, 1, 0), (2, 1, 1)])

    def test_an_edge_is_not_half_replaced(self):
        self.write("s.jsonl", '{"op":"c","after":{"source":1,"target":2,"source_label":"A"}}\n'
                              '{"op":"c","after":{"source":1,"target":9}}\n'
                              '{"op":"u","before":{"source":1,"target":2},"after":{"source":1,"target":5,"source_label":"B"}}\n')
        args = ["replay", "--updates", "s.jsonl", "--envelope", "debezium", "--query", "e=(a)-->(b)"]
        for batch in (1, 2, 3):
            with self.subTest(batch=batch):
                result = self.json(*args, "--batch", batch, "--on-error", "skip")
                self.assertEqual((result["queries"][0]["new"], result["queries"][0]["removed"], result["graph"]["edges"]), (2, 0, 2))
                self.assertEqual(result["ignored"]["label_conflict"], 1)
                self.fails(1, *args, "--batch", batch, "--emit", "matches", "--out", "m.jsonl",
                           says="s.jsonl:3: label_conflict: edge from `1` to `5`", reports=True)
                self.assertEqual([match.get("sign", match.get("partial")) for match in self.lines("m.jsonl")], ["+", "+", "stopped"])

    def test_cuts_that_do_not_fit_the_stream(self):
        self.write("s.tsv", RING)
        args = ["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--cuts", "cuts.txt"]
        for cuts, text in [("1\n1\n", "s.tsv:3: the stream goes on after cut 2, the last one; "),
                           ("", "s.tsv:1: the stream goes on after cut 0"),
                           ("1\n3\n", "s.tsv:3: the stream ends with 2 of the 3 records of cut 2; ")]:
            with self.subTest(cuts):
                self.write("cuts.txt", cuts)
                self.fails(1, *args, says=text, reports=True)
        for cuts in ["x\n", "1 2 3\n", "-1\n", "1x\n", "1 2x\n", "99999999999999999999\n", "1,5\n", "1 --\n", "1 - 2\n"]:
            with self.subTest(cuts):
                self.write("cuts.txt", "# cuts\n" + cuts)
                self.fails(1, *args, says=["cuts.txt:2: ", " is not a cut; write RECORDS or RECORDS WATERMARK"])
        self.fails(1, *args[:-1], "none.txt", says="none.txt: cannot be opened: No such file")
        self.fails(2, *args, "--batch", 2, says="--batch")
        self.fails(2, *args, "--batch-span", "1h", says="--batch-span")
        self.fails(2, *args, "--updates", "s.tsv", says="there are several streams to cut")

    def test_batches_file(self):
        counts, result = self.replay(RING + "-\t1\t2\n+\t7\t7\n", "--batch", 3, "--batches", "b.jsonl", "--on-error", "skip")
        rows = self.lines("b.jsonl")
        self.assertEqual(list(rows[0]),
                         ["v", "batch", "updates", "inserted", "deleted", "expired", "ignored", "queries", "seconds"])
        self.assertEqual([(r["batch"], r["updates"], r["inserted"], r["deleted"]) for r in rows], [(1, 3, 3, 0), (2, 2, 0, 1)])
        self.assertEqual([r["ignored"]["self_loop"] for r in rows], [0, 1])
        self.assertEqual([(q["new"], q["removed"]) for r in rows for q in r["queries"]], [(1, 0), (0, 1)])
        self.assertEqual(list(rows[0]["seconds"]), ["apply", "estimate", "cache", "match", "settle", "anticipate", "total"])
        self.assertEqual((sum(r["updates"] for r in rows), counts), (result["updates"], {"triangle": (1, 1)}))

    def test_matches_to_a_file(self):
        self.replay(RING + "-\t1\t2\n", "--batch", 3, "--emit", "matches", "--out", "m.jsonl")
        appeared, vanished = self.lines("m.jsonl")
        self.assertEqual(list(appeared), ["v", "id", "query", "sign", "batch", "time", "bindings", "edges", "cause"])
        self.assertEqual((appeared["sign"], vanished["sign"]), ("+", "-"))
        self.assertEqual((appeared["batch"], vanished["batch"]), (1, 2))
        self.assertEqual(appeared["id"], vanished["id"])
        self.assertEqual(appeared["bindings"], {"a": 1, "b": 2, "c": 3})
        self.assertEqual(appeared["edges"], [[1, "", 2], [2, "", 3], [3, "", 1]])

    def test_matches_as_csv(self):
        self.replay(RING, "--emit", "matches", "--out", "m.csv")
        by_name = self.read("m.csv")
        self.replay(RING, "--emit", "matches", "--out", "m.txt", "--out-format", "csv")
        self.assertEqual(self.read("m.txt"), by_name)
        rows = list(csv.DictReader(io.StringIO(by_name)))
        self.assertEqual([row["query"] for row in rows], ["triangle"])
        self.assertEqual(json.loads(rows[0]["bindings"]), {"a": 1, "b": 2, "c": 3})

    def test_matches_and_summary_never_mix(self):
        self.write("s.tsv", RING)
        outcome = self.run_program("replay", "--updates", "s.tsv", "--query", TRIANGLE, "--emit", "matches")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual([json.loads(line)["query"] for line in outcome.out.splitlines()], ["triangle"])
        self.assertIn("stream   3 updates", outcome.err)

    def test_batches_on_standard_output(self):
        self.write("s.tsv", RING)
        args = ["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--batches", "-"]
        outcome = self.run_program(*args, "--batch", 1)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual([json.loads(line)["batch"] for line in outcome.out.splitlines()], [1, 2, 3])
        self.assertIn("stream   3 updates", outcome.err)
        outcome = self.run_program(*args, "--emit", "matches", "--out", "m.jsonl")
        self.assertEqual((outcome.code, outcome.out.count("\n"), len(self.lines("m.jsonl"))), (0, 1, 1), outcome)
        self.fails(2, *args, "--json", says="--batches -: --json writes to standard output too")
        self.fails(2, *args, "--emit", "matches", says="--batches -: the matches go to standard output too")
        self.assertFalse((self.dir / "-").exists())
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, *args], stdout=full, stderr=subprocess.PIPE, cwd=self.dir, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"deltamatch: standard output: cannot write: No space left on device", done.stderr)

    def test_digest_does_not_depend_on_threads_or_order(self):
        digests = set()
        for stream in [RING, "".join(reversed(RING.splitlines(True)))]:
            for threads in [1, 3]:
                _, result = self.replay(stream, "--emit", "digest", "--threads", threads)
                query = result["queries"][0]
                self.assertEqual(list(query), ["name", "new", "removed", "new_digest", "removed_digest", "seconds"])
                self.assertEqual(query["removed_digest"], "0" * 32)
                digests.add(query["new_digest"])
        self.assertEqual(len(digests), 1)
        self.assertRegex(digests.pop(), r"\A[0-9a-f]{32}\Z")

    def test_modes(self):
        for mode, expected in [("isomorphism", 0), ("edge-distinct", 2), ("homomorphism", 2)]:
            counts, _ = self.replay("1\t2\n2\t1\n", "--mode", mode, query="p=(a)-->(b)-->(c)")
            self.assertEqual(counts, {"p": (expected, 0)}, mode)
        self.assertEqual(self.replay(RING, "--count", "embeddings")[0], {"triangle": (3, 0)})

    def test_progress_only_on_a_terminal(self):
        self.write("s.tsv", RING)
        args = [PROGRAM, "replay", "--updates", "s.tsv", "--query", TRIANGLE]
        self.ok(*args[1:])  # nothing on standard error, which is not a terminal
        main, side = pty.openpty()
        done = subprocess.run(args + ["--progress", "never"], stdout=subprocess.PIPE, stderr=side, cwd=self.dir, check=False)
        os.close(side)
        try:
            shown = os.read(main, 4096)
        except OSError:  # nothing was written
            shown = b""
        os.close(main)
        self.assertEqual((done.returncode, shown), (0, b""))

    def test_progress_shows_rate(self):
        with subprocess.Popen([PROGRAM, "replay", "--updates", "-", "--query", TRIANGLE, "--progress", "always", "--batch", "1"],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            for _ in range(240):  # progress is shown at most every 0.2 s
                process.stdin.write(RING.encode())
                process.stdin.flush()
                if select.select([process.stderr], [], [], 0.25)[0]:
                    break
            _, seen = process.communicate(timeout=60)
        self.assertRegex(seen.decode(), r"[\d,]+ updates, [\d,]+/s\n")

    def test_interrupt_finishes_the_batch_and_reports(self):
        with subprocess.Popen([PROGRAM, "replay", "--updates", "-", "--query", TRIANGLE, "--batch", "1", "--json", "--batches",
                               "b.jsonl", "--progress", "always"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.dir) as process:
            process.stdin.write(RING.encode() * 20000)
            process.stdin.flush()
            process.stderr.readline()  # progress is shown: batches are being processed
            process.send_signal(signal.SIGINT)
            try:
                process.stdin.write(RING.encode() * 2)
            except BrokenPipeError:
                pass
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        result = json.loads(out)
        self.assertIs(result["complete"], False)
        self.assertLess(result["updates"], 60006)
        self.assertEqual(result["queries"][0]["new"], 1)


if __name__ == "__main__":
    harness.main()
