"""Converts streams from one format into another. Nothing is lost or added."""

import gzip
import json
import pathlib
import random

import harness
from harness import TRIANGLE

MAGIC = b"\x8fDMUPD\r\n"
OLD = MAGIC + b"\x01"
VERSION_1 = """{"vertex":1,"label":"A"}
{"source":1,"target":"acct-2","label":"PAYS","source_label":"A","target_label":"","time":1700000000000000}
{"source":"acct-2","target":-7}
{"op":"-","source":"acct-2","target":-7,"time":1700000001000000}
{"op":"-","vertex":1}
"""
QUERIES = [arg for query in ["edge=(a)-->(b)", TRIANGLE, "pays=(a:A)-[:PAYS]->(b)", "quoted=(a)-[:`x\ty\"z`]->(b)"]
           for arg in ["--query", query]]


def stream(seed, count=3000):
    """Draws edges and vertices with ids of both kinds, any labels, and some without a time."""
    draw = random.Random(seed)
    ids = list(range(-20, 20)) + [f"v{i}" for i in range(20)] + ["7", "é\u2028", "tab\there", 'quote"\\', "\udc80\udcff"]
    labels = {v: draw.choice(["A", "B", ""]) for v in ids}
    time = 1_000_000_000
    for _ in range(count):
        time += draw.randrange(0, 5_000_000)
        source, target = draw.sample(ids, 2)
        record = {"op": "-"} if draw.random() < 0.3 else draw.choice([{}, {"op": "+"}])
        if draw.random() < 0.05:
            record.update(vertex=source)
            if record.get("op") != "-":
                record["label"] = labels[source]
        else:
            record.update(source=source, target=target, label=draw.choice(["", "PAYS", "KNOWS", 'x\ty"z', "é"]))
            if draw.random() < 0.3:
                record.update(source_label=labels[source], target_label=labels[target])
        record["time"] = draw.choice([time, time, time - 10**9, None])
        yield json.dumps(record) + "\n"


def payload(stream):
    """Returns the records of a binary stream in blocks, without the checksums."""
    assert stream.startswith(MAGIC + b"\x02\x80\x00"), stream
    at, records = len(MAGIC) + 3, b""
    while True:
        size = int.from_bytes(stream[at:at + 4], "little")
        records += stream[at + 16:at + 16 + size]
        at += 16 + size
        if size == 0:
            assert at == len(stream), stream
            return records


class OrderOfTime(harness.CliTest):
    def targets(self, content):
        self.write("s.csv", content)
        out = self.run_program("convert", "--order", "time", "--to", "jsonl", "s.csv", "-").out
        return [json.loads(line)["target"] for line in out.splitlines()]

    def test_records_are_sorted_by_time_and_keep_their_order_otherwise(self):
        self.assertEqual(self.targets("source,target,time\n1,2,30\n1,3,10\n1,4,30\n1,5,10\n1,6,20\n1,7,40\n1,8,50\n"), [3, 5, 6, 2, 4, 7, 8])

    def test_newest_first_is_turned_round(self):
        self.assertEqual(self.targets("source,target,time\n1,2,30\n1,3,30\n1,4,20\n1,5,10\n1,6,10\n"), [6, 5, 4, 3, 2])

    def test_a_record_without_a_time_stays_behind_the_one_before(self):
        self.assertEqual(self.targets("source,target,time\n1,9,\n1,2,10\n1,3,30\n1,4,\n1,5,20\n1,6,40\n"), [9, 2, 5, 3, 4, 6])

    def test_records_out_of_order_are_warned_of_unless_an_order_is_named(self):
        self.write("s.csv", "source,target,time\n1,2,30\n1,3,10\n1,4,30\n1,5,20\n")
        done = self.ok("convert", "s.csv", "s.dmu", "--to", "binary", warns="s.csv:3: the record is older than one before it, so patterns may miss matches")
        self.assertIn("up to 20s late (2 in all); add --order time, or --order arrival if this order is meant", done.err)
        for order in ("time", "arrival"):
            self.ok("convert", "s.csv", "s.dmu", "--to", "binary", "--order", order)
        self.ok("convert", "s.dmu", "g.dmg", "--to", "graph")

    def test_a_graph_file_has_no_order(self):
        self.write("s.csv", "source,target\n1,2\n")
        self.fails(2, "convert", "--order", "time", "--to", "graph", "s.csv", "g.dmg", says="a graph file has no order of records")


class Convert(harness.CliTest):
    def outcome(self, name, *args):
        """Returns the results of a replay, with the digests of its matches. Options state that 7 and "7" are two vertices, so there is
        no warning."""
        replayed = self.run_program("replay", "--ids", "automatic", "--updates", name, *QUERIES, "--batch", 100, "--emit", "digest", "--on-error",
                                    "skip", "--json", *args)
        self.assertEqual(replayed.code, 0, replayed)
        result = json.loads(replayed.out)
        self.assertLessEqual({warning["code"] for warning in result["warnings"]}, {"empty_times", "absent_deletes", "label_absent"})  # as drawn
        result["graph"].pop("bytes")
        return {**{key: result[key] for key in ["graph", "batches", "updates", "ignored"]}, "queries": self.untimed(result["queries"])}

    def converted(self, *args):
        """Converts a drawn stream. Only some edges have times, so there is a warning."""
        outcome = self.run_program("convert", *args)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertRegex(outcome.err, r"\A(deltamatch: warning: .* edges are inserted without a time, .*\n)?"
                                      r"(deltamatch: warning: .* the record is older than one before it, .*\n)?\Z")
        return outcome

    def test_round_trips_lose_nothing(self):
        for seed in range(3):
            self.write("a.jsonl", "".join(stream(seed)))
            truth = self.outcome("a.jsonl")
            self.assertGreater(truth["queries"][1]["new"], 0)
            self.assertRegex(self.converted("a.jsonl", "a.dmu", "--to", "binary", "--ids", "automatic").out,
                             r"\A3,000 updates written, 0 records refused\n\Z")
            self.assertEqual(self.outcome("a.dmu"), truth)
            self.converted("a.dmu", "b.jsonl", "--to", "jsonl", "--ids", "automatic")
            self.assertEqual(self.outcome("b.jsonl"), truth)
            self.converted("b.jsonl", "b.dmu", "--to", "binary", "--ids", "automatic")
            binary = (self.dir / "a.dmu").read_bytes()
            self.assertEqual((self.dir / "b.dmu").read_bytes(), binary)
            self.write("a.dmu.gz", gzip.compress(binary))
            self.assertEqual(self.outcome("a.dmu.gz"), truth)
            self.assertLess(len(binary), len(self.read("a.jsonl")) / 2)

    def test_tsv_round_trip_of_what_it_holds(self):
        draw = random.Random(5)
        lines = [f"{draw.choice('+-')}\tv{draw.randrange(40)}\t{draw.randrange(40)}\t{draw.choice(['', 'PAYS'])}\t"
                 f"{draw.choice(['', str(i), f'{i}.25', f'-{i}.000001'])}\n" for i in range(2000)]
        self.write("a.tsv", "".join(lines))
        seconds = ["--time-unit", "s"]  # such times might have any unit
        truth = self.outcome("a.tsv", *seconds)
        self.converted("a.tsv", "a.dmu", "--to", "binary", *seconds)
        self.converted("a.dmu", "b.tsv", "--to", "tsv")
        self.assertEqual([self.outcome("a.dmu"), self.outcome("b.tsv", *seconds)], [truth, truth])
        self.converted("b.tsv", "c.tsv", "--to", "tsv", *seconds)
        self.assertEqual(self.read("c.tsv"), self.read("b.tsv"))

    def test_generated_stream(self):
        self.ok("generate", "payments", "--updates", "p.csv", "--truth", "t.csv", "--records", 5000, "--planted", 5)
        self.ok("convert", "p.csv", "p.dmu", "--to", "binary")
        query = ["--query", TRIANGLE, "--emit", "digest", "--window", "24h"]
        a, b = (self.json("replay", "--updates", name, *query) for name in ["p.csv", "p.dmu"])
        self.assertEqual((self.untimed(a["queries"]), a["ignored"], a["batches"]), (self.untimed(b["queries"]), b["ignored"], b["batches"]))
        self.assertGreater(a["queries"][0]["new"], 0)

    def test_exact_lines(self):
        self.write("s.jsonl", '{"op":"-","source":"a","target":-7,"label":"L","time":-1500000}\n{"source":1,"target":2}\n')
        self.assertEqual(self.run_program("convert", "s.jsonl", "-", "--to", "tsv").out, "-\ta\t-7\tL\t-1.500000\n+\t1\t2\t\t\n")
        self.write("s.tve", "v 1 A\ne 1 2 L\n-v 1\n")
        self.assertEqual(self.run_program("convert", "s.tve", "-", "--to", "jsonl").out,
                         '{"vertex":1,"label":"A"}\n{"source":1,"target":2,"label":"L"}\n{"op":"-","vertex":1}\n')
        self.assertEqual(payload(self.run_program("convert", "s.tve", "-", "--to", "binary").out_bytes),
                         b"\x05\x12\x08\x02\x01A" + b"\x06\x10\x04\x02\x04\x01L" + b"\x03\x13\x00\x02")

    def test_a_stream_of_version_1_is_read(self):
        old = (pathlib.Path(__file__).parents[1] / "data/v0/stream-1.dmu").read_bytes()
        self.assertTrue(old.startswith(OLD))
        self.write("old.dmu", old)
        self.write("text.jsonl", VERSION_1)
        self.assertEqual(self.run_program("convert", "old.dmu", "-", "--to", "jsonl").out, VERSION_1)
        new = self.run_program("convert", "old.dmu", "-", "--to", "binary").out_bytes
        self.assertEqual(payload(new), old[len(OLD):])
        self.write("joined.dmu", old + new + old)
        self.assertEqual(self.run_program("convert", "joined.dmu", "-", "--to", "jsonl").out, 3 * VERSION_1)

    def test_keys_and_attributes_are_kept(self):
        records = [bytes.fromhex(record) for record in (
            "10c002 02 04 9a01 050281010403 c413 03776562 000000000000e03f",  # as in docs/reference/formats.md
            "11c008 9a01",  # a deletion by key
            "128002 02 0102 08",  # a vertex with an attribute
        )]
        self.write("a.dmu", OLD + b"".join(bytes([len(record)]) + record for record in records))
        self.converted("a.dmu", "b.dmu", "--to", "binary")
        self.assertEqual(OLD + payload((self.dir / "b.dmu").read_bytes()), (self.dir / "a.dmu").read_bytes())
        self.write("c.dmu", OLD + b"\x07\x10\x80\x02\x02\x04\x01\x05")
        self.fails(1, "convert", "c.dmu", "d.dmu", "--to", "binary", says="malformed: the record is cut short, or a number or its "
                                                                          "attributes are not in their only form")

    def test_a_damaged_stream_is_refused(self):
        self.write("s.jsonl", VERSION_1)
        self.ok("convert", "s.jsonl", "s.dmu", "--to", "binary")
        whole = (self.dir / "s.dmu").read_bytes()
        self.write("s.dmu", whole[:40] + bytes([whole[40] ^ 4]) + whole[41:])
        self.fails(1, "match", "--graph", "s.dmu", "--query", TRIANGLE,
                   says="s.dmu: the stream is damaged: a checksum does not match in the block at byte 11; fetch or write it again")

    def test_standard_input_and_output(self):
        outcome = self.run_program("convert", "-", "-", "--to", "binary", stdin="1 2\n")
        self.assertEqual((outcome.code, payload(outcome.out_bytes)), (0, b"\x04\x10\x00\x02\x04"))
        self.assertEqual(outcome.err, "1 updates written, 0 records refused\n")
        self.assertEqual(self.json("replay", "--updates", "-", "--query", TRIANGLE, stdin=outcome.out_bytes)["updates"], 1)
        self.assertEqual(payload(self.run_program("convert", "-", "-", "--to", "binary").out_bytes), b"")

    def test_reading_options(self):
        self.write("s.csv", "payer;payee;at\n1;2;3\n")
        args = ["convert", "s.csv", "-", "--columns", "source=payer,target=payee,time=at", "--time-unit", "ms", "--ids", "string"]
        self.assertEqual(self.run_program(*args, "--to", "jsonl").out, '{"source":"1","target":"2","time":3000}\n')
        self.write("e.jsonl", '{"op":"u","before":{"source":1,"target":2},"after":{"source":1,"target":3},"ts_ms":5}\n')
        args = ["convert", "e.jsonl", "-", "--envelope", "debezium", "--columns", "time=.ts_ms", "--time-unit", "ms"]
        self.assertEqual(self.run_program(*args, "--to", "jsonl").out,
                         '{"op":"-","source":1,"target":2,"time":5000}\n{"source":1,"target":3,"time":5000}\n')

    def test_counts_in_headers_are_those_of_whole_graphs(self):
        self.write("g.graph", "t 3 4\nv 0 A\nv 1 A\nv 2 A\ne 0 1\ne 1 2\n")
        self.fails(1, "convert", "g.graph", "g.dmg", "--to", "graph", says="g.graph: the header says 4 edges, but 2 follow")
        self.assertEqual(self.ok("convert", "g.graph", "g.dmu", "--to", "binary").out, "5 updates written, 0 records refused\n")

    def test_bad_records(self):
        self.write("s.tsv", "+\t1\t2\n+\t1\n+\t3\t4\n")
        args = ["convert", "s.tsv", "s.dmu", "--to", "binary"]
        self.fails(1, *args, says="s.tsv:2: wrong_arity")
        self.assertEqual(self.run_program("convert", "s.dmu", "-", "--to", "tsv").out, "+\t1\t2\t\t\n")
        self.assertEqual(self.ok(*args, "--on-error", "skip").out, "2 updates written, 1 record refused: wrong_arity 1\n")
        self.ok(*args, "--on-error", "dead-letter", "--dead-letters", "d.jsonl")
        self.assertEqual([(d["position"], d["record"]) for d in self.lines("d.jsonl")], [(2, "+\t1")])
        self.assertEqual(self.run_program("convert", "s.dmu", "-", "--to", "tsv").out, "+\t1\t2\t\t\n+\t3\t4\t\t\n")

    def test_what_tsv_does_not_hold(self):
        for record, what in [('{"vertex":1}', "a vertex"),
                             ('{"source":1,"target":2,"source_label":"A"}', "a vertex's label"),
                             ('{"source":"1","target":2}', "an id that would be read as something else"),
                             ('{"source":"a\\tb","target":2}', "an id that would be read as something else"),
                             ('{"source":1,"target":2,"label":"a\\tb"}', "a label with a tab or a line end")]:
            self.write("s.jsonl", '{"source":1,"target":2}\n' + record + "\n")
            self.fails(1, "convert", "s.jsonl", "s.tsv", "--to", "tsv",
                       says=f"s.jsonl:2: tsv cannot hold {what}; convert to binary or jsonl")

    def test_wrong_usage(self):
        self.write("s.tsv", "1\t2\n")
        self.fails(2, "convert", "s.tsv", "s.tsv", "--to", "binary", says="OUT s.tsv: this is also the file of INPUT s.tsv")
        self.assertEqual(self.read("s.tsv"), "1\t2\n")
        for args, text in [(["convert", "s.tsv", "x"], "--to is required"), (["convert", "s.tsv", "--to", "tsv"], "OUT is required"),
                           (["convert", "s.tsv", "x", "--to", "csv"], "choose one of binary|jsonl|tsv"),
                           (["convert", "s.tsv", "x", "--to", "tsv", "--on-error", "dead-letter"], "--dead-letters")]:
            self.fails(2, *args, says=text)
        self.fails(1, "convert", "none.tsv", "x", "--to", "tsv", says="none.tsv: cannot be opened")
        self.fails(1, "convert", "s.tsv", "none/x", "--to", "tsv", says="none/x: cannot be created")

    def test_torn_binary_streams(self):
        self.write("s.tsv", "1\t2\n2\t3\n3\t1\n")
        self.ok("convert", "s.tsv", "s.dmu", "--to", "binary")
        whole = (self.dir / "s.dmu").read_bytes()
        for name, cut, at, new in [("old.dmu", (OLD + payload(whole))[:-1], 19, 2), ("t.dmu", whole[:-1], len(whole) - 16, 3)]:
            with self.subTest(name):
                self.write(name, cut)
                outcome = self.fails(1, "replay", "--updates", name, "--query", "e=(a)-->(b)", "--json", reports=True,
                                     says=f"{name}: the stream is torn: it ends within what begins at byte {at}")
                self.assertEqual(json.loads(outcome.out)["queries"][0]["new"], new)


if __name__ == "__main__":
    harness.main()
