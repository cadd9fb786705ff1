"""Binary streams say what their attributes are: they are read with that, and never with something else."""

import gzip

import harness

ROWS = "source,target,edge,amount,channel\na,b,1,10.50,web\nb,c,2,9.5,app\nc,a,3,10,web\n"
TEXT = ('{"source":"a","target":"b","edge":1,"amount":"10.50","channel":"web"}\n'
        '{"source":"b","target":"c","edge":2,"amount":"9.50","channel":"app"}\n'
        '{"source":"c","target":"a","edge":3,"amount":"10.00","channel":"web"}\n')
KEYED = ("--edges", "keyed")
DECLARED = (*KEYED, "--attributes", "amount:decimal(2),channel:symbol")
ABOVE_1 = "q=(a)-[t]->(b) WHERE t.amount > 1"
OTHERS = ("amount:decimal(3),channel:symbol", "amount:int,channel:symbol", "amount:time,channel:symbol",
          "channel:symbol,amount:decimal(2)", "amount:decimal(2)", "sum:decimal(2),channel:symbol")
MADE_WITH = "the stream p.dmu was made with the attributes amount decimal(2), channel symbol; leave the option out, or give the same"


class BinarySchema(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("p.csv", ROWS)
        self.ok("convert", "p.csv", "p.dmu", "--to", "binary", *DECLARED)

    def without_schema(self, name):
        """Writes the same stream as a version without schemas did."""
        records = [bytes.fromhex(record) for record in ("10c302 0161 0162 02 020204 b410 03776562",
                                                        "10c302 0162 0163 04 020204 ec0e 03617070",
                                                        "10c302 0163 0161 06 020204 d00f 03776562")]
        return self.write(name, b"\x8fDMUPD\r\n\x01" + b"".join(bytes([len(record)]) + record for record in records))

    def test_a_stream_is_read_as_it_was_written(self):
        self.assertEqual(self.run_program("convert", "p.dmu", "-", "--to", "jsonl").out, TEXT)
        for schema in ((), KEYED, DECLARED, DECLARED[2:]):
            replayed = self.json("replay", "--updates", "p.dmu", "--query", ABOVE_1, *schema)
            self.assertEqual(replayed["queries"][0]["new"], 3, schema)
            self.assertEqual(self.json("match", "--graph", "p.dmu", "--query", ABOVE_1, *schema)["queries"][0]["matches"], 3)
        self.ok("convert", "p.dmu", "again.dmu", "--to", "binary")
        self.assertEqual((self.dir / "again.dmu").read_bytes(), (self.dir / "p.dmu").read_bytes())
        self.ok("explain", "--graph", "p.dmu", "--query", ABOVE_1)
        self.assertEqual(self.json("motifs", "--graph", "p.dmu", "-k", 3)["total"], 1)

    def test_standard_input_and_archives_state_it_too(self):
        whole = (self.dir / "p.dmu").read_bytes()
        self.assertEqual(self.run_program("convert", "-", "-", "--to", "jsonl", stdin=whole).out, TEXT)
        self.write("p.dmu.gz", gzip.compress(whole))
        self.assertEqual(self.run_program("convert", "p.dmu.gz", "-", "--to", "jsonl").out, TEXT)
        replayed = self.json("replay", "--updates", "-", "--query", ABOVE_1, stdin=gzip.compress(whole))
        self.assertEqual(replayed["queries"][0]["new"], 3)

    def test_text_beside_a_stream_is_read_with_its_schema(self):
        self.write("start.jsonl", '{"source":"x","target":"y","edge":9,"amount":"1.01","channel":"web"}\n')
        replayed = self.json("replay", "--graph", "start.jsonl", "--updates", "p.dmu", "--query", ABOVE_1)
        self.assertEqual((replayed["queries"][0]["new"], replayed["graph"]["edges"]), (3, 4))
        matched = self.json("match", "--graph", "start.jsonl", "--graph", "p.dmu", "--query", ABOVE_1)
        self.assertEqual(matched["queries"][0]["matches"], 4)

    def test_another_declaration_is_refused(self):
        for attributes in OTHERS:
            for command in (("replay", "--query", ABOVE_1, "--updates", "p.dmu"), ("match", "--query", ABOVE_1, "--graph", "p.dmu"),
                            ("convert", "p.dmu", "-", "--to", "jsonl"), ("convert", "p.dmu", "q.dmu", "--to", "binary")):
                self.fails(2, *command, *KEYED, "--attributes", attributes, says=f"--attributes: {MADE_WITH}")
        self.fails(2, "convert", "p.dmu", "-", "--to", "jsonl", "--edges", "events", says="the stream p.dmu was made with --edges keyed")
        self.fails(2, "convert", "p.dmu", "-", "--to", "jsonl", "--vertex-attributes", "risk:int", says="made with no attributes")

    def test_streams_of_two_schemas_are_refused(self):
        self.ok("convert", "p.csv", "q.dmu", "--to", "binary", *KEYED, "--attributes", "amount:decimal(3),channel:symbol")
        says = ["q.dmu: the stream that begins at byte 0 was written with edges keyed, attributes amount:decimal(3),channel:symbol",
                "is read with edges keyed, attributes amount:decimal(2),channel:symbol", "declare the same"]
        self.fails(1, "replay", "--updates", "p.dmu", "--updates", "q.dmu", "--query", ABOVE_1, says=says)
        self.write("both.dmu", (self.dir / "p.dmu").read_bytes() + (self.dir / "q.dmu").read_bytes())
        self.fails(1, "match", "--graph", "both.dmu", "--query", ABOVE_1, says=["both.dmu: the stream that begins at byte"])

    def test_a_stream_must_fit_the_snapshot(self):
        self.ok("replay", "--updates", "p.dmu", "--query", ABOVE_1, "--save-snapshot", "s.dms")
        self.ok("replay", "--snapshot", "s.dms", "--updates", "p.dmu", "--query", ABOVE_1)
        self.ok("convert", "p.csv", "q.dmu", "--to", "binary", *KEYED, "--attributes", "amount:float")
        self.fails(1, "replay", "--snapshot", "s.dms", "--updates", "q.dmu", "--query", ABOVE_1,
                   says=["q.dmu: the stream that begins at byte 0 was written with", "attributes amount:float", "declare the same"])

    def test_a_schema_can_be_changed_by_way_of_text(self):
        self.ok("convert", "p.dmu", "p.jsonl", "--to", "jsonl")
        self.ok("convert", "p.jsonl", "q.dmu", "--to", "binary", *KEYED, "--attributes", "channel:symbol,amount:decimal(3)")
        self.assertEqual(self.json("replay", "--updates", "q.dmu", "--query", ABOVE_1)["queries"][0]["new"], 3)

    def test_a_stream_that_states_none_is_not_robbed_of_attributes(self):
        old = self.without_schema("old.dmu")
        declare = "declare the attributes that the stream was written with, in their order, in --edges, --attributes and"
        for schema, cause in (((), "the record has 2 values, but edges have 0 attributes"),
                              ((*KEYED, "--attributes", "amount:decimal(2)"), "the record has 2 values, but edges have 1 attribute"),
                              ((*KEYED, "--attributes", "channel:symbol,amount:decimal(2)"),
                               "the attribute `channel` is symbol, but has the integer 1050")):
            self.fails(1, "convert", old, "a.jsonl", "--to", "jsonl", *schema, says=["old.dmu: record 1: bad_value: " + cause, declare])
            self.fails(1, "replay", "--updates", old, "--query", "q=(a)-->(b)", *schema, reports=True, says=[cause, declare])
        self.fails(1, "convert", old, "a.dmu", "--to", "binary", *KEYED, "--attributes", "amount:decimal(2)", says=declare)
        outcome = self.run_program("convert", old, "a.jsonl", "--to", "jsonl", "--on-error", "skip")
        self.assertIn("0 updates written, 3 records refused: bad_value 3", outcome.out)
        self.ok("convert", old, "a.jsonl", "--to", "jsonl", *DECLARED)
        self.assertEqual(self.read("a.jsonl"), TEXT)
        self.ok("convert", old, "a.dmu", "--to", "binary", *DECLARED)
        self.assertEqual((self.dir / "a.dmu").read_bytes(), (self.dir / "p.dmu").read_bytes())

    def test_an_order_by_time_needs_no_window_if_the_stream_has_keys(self):
        self.write("t.csv", "source,target,edge,time\na,b,1,100\nb,c,2,200\n")
        within = "q=(a)-->(b)-->(c) WITHIN 1h"
        self.ok("convert", "t.csv", "keyed.dmu", "--to", "binary", *KEYED)
        self.assertEqual(self.json("replay", "--updates", "keyed.dmu", "--query", within, "--order", "time")["queries"][0]["new"], 1)
        self.ok("convert", "t.csv", "plain.dmu", "--to", "binary")
        self.fails(2, "replay", "--updates", "plain.dmu", "--query", within, "--order", "time", says="--order time: deletions would be")


if __name__ == "__main__":
    harness.main()
