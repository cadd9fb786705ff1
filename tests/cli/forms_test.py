"""Forms of input that other programs write. They used to be misread in silence, or refused with a misleading message. Now each is
read right, or refused with place and remedy. `match` and `replay` read alike."""

import gzip
import json
import re
import shlex

import harness

RING = "R=(a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"
TRIANGLE = "t=(a)--(b)--(c)--(a)"
EDGE = "e=(a)-->(b)"


class FormsTest(harness.CliTest):
    def rings(self, name, content, *args, query=RING):
        """Counts the matches at the end by replay and by match, which must agree."""
        self.write(name, content)
        replayed = self.json("replay", "--updates", name, "--query", query, *args)
        left = replayed["queries"][0]["new"] - replayed["queries"][0]["removed"]
        matched = self.json("match", "--graph", name, "--query", query, *args)["queries"][0]["matches"]
        self.assertEqual(left, matched, name)
        return left

    def matches(self, name, content, *args, query=TRIANGLE):
        self.write(name, content)
        return self.json("match", "--graph", name, "--query", query, *args)["queries"][0]["matches"]

    def refused(self, name, content, *args, says, query=RING):
        """Expects a refusal by match and by replay. A report of what stood before may come first."""
        self.write(name, content)
        for command, option in (("match", "--graph"), ("replay", "--updates")):
            outcome = self.run_program(command, option, name, "--query", query, *args)
            self.assertEqual(outcome.code, 1, outcome)
            for text in [says] if isinstance(says, str) else says:
                self.assertIn(text, outcome.err, outcome)

    def warned(self, name, *args, query=EDGE):
        outcome = self.run_program("match", "--graph", name, "--query", query, "--json", *args)
        self.assertEqual(outcome.code, 0, outcome)
        return [warning["code"] for warning in json.loads(outcome.out)["warnings"]]


class Blanks(FormsTest):
    def test_blanks_in_a_csv_header(self):
        self.assertEqual(self.rings("h.csv", "source, target, label\nA, B, T\nB, C, T\nC, A, T\n"), 1)

    def test_blanks_in_csv_values(self):
        self.assertEqual(self.rings("v.csv", "source,target,label\nA, B,T\nB, C,T\nC, A,T\n"), 1)

    def test_blanks_and_tabs_around_every_cell(self):
        text = "  source ;\ttarget; label ; time\t\n A ; B ; T ; 1 \n B ; C; T ;2\n C ;A ; T; 3 \n"
        self.assertEqual(self.rings("s.csv", text), 1)

    def test_blanks_around_quotes_say_nothing_and_those_within_stay(self):
        text = 'source, target, label\n"A", "B" , T\nB, "C" ,"T"\n "C" ,A, T \n'
        self.assertEqual(self.rings("q.csv", text), 1)
        self.assertEqual(self.rings("k.csv", text.replace('"B"', '" B"')), 0)

    def test_a_quoted_cell_over_lines_behind_a_blank(self):
        text = 'source, target, note, label\nA, B, "two\nlines", T\nB, C, "x" , T\nC, A, , T\n'
        self.assertEqual(self.rings("m.csv", text), 1)

    def test_blanks_in_tsv(self):
        self.assertEqual(self.rings("v.tsv", "+\tA\t B\tT\t1\n+\tB \tC\tT\t2\n+\tC\tA\tT \t3\n"), 1)

    def test_columns_are_named_without_the_blanks_of_the_header(self):
        text = "payer , payee , kind\nA,B,T\nB,C,T\nC,A,T\n"
        for columns in ("source=payer,target=payee,label=kind", "source=payer , target= payee, label = kind"):
            self.assertEqual(self.rings("c.csv", text, "--columns", columns), 1)

    def test_vertex_labels_with_blanks(self):
        self.write("e.csv", "source, target\nA, B\n")
        self.write("l.csv", "id, label\nA, Shop\n")
        result = self.json("match", "--graph", "e.csv", "--labels", "l.csv", "--query", "q=(a:Shop)-->(b)")
        self.assertEqual(result["queries"][0]["matches"], 1)

    def test_what_tsv_would_trim_is_not_converted_to_it(self):
        self.write("a.jsonl", '{"source":" A","target":"B","label":"T"}\n')
        self.fails(1, "convert", "a.jsonl", "out.tsv", "--to", "tsv", says="an id that would be read as something else")
        self.write("b.jsonl", '{"source":"A","target":"B","label":"T "}\n')
        self.fails(1, "convert", "b.jsonl", "out.tsv", "--to", "tsv", says="a label with")


class Operations(FormsTest):
    def deletions(self, flag):
        rows = [("A", "B", False), ("B", "C", False), ("B", "C", True), ("C", "A", False)]
        return "".join(json.dumps({"source": s, "target": t, "label": "T", **flag(d)}) + "\n" for s, t, d in rows)

    def test_the_deletion_flag_of_flattened_change_events(self):
        self.assertEqual(self.rings("d.jsonl", self.deletions(lambda d: {"__deleted": "true" if d else "false"})), 0)
        self.assertEqual(self.rings("b.jsonl", self.deletions(lambda d: {"__deleted": d})), 0)
        self.assertEqual(self.rings("n.jsonl", self.deletions(lambda d: {"__deleted": 1 if d else 0})), 0)
        self.assertEqual(self.rings("x.jsonl", self.deletions(lambda d: {"__deleted": True} if d else {"__deleted": None})), 0)
        self.assertEqual(self.rings("none.jsonl", self.deletions(lambda d: {})), 1)

    def test_the_operation_letters_of_flattened_change_events(self):
        rows = [("A", "B", "c"), ("B", "C", "c"), ("B", "C", "d"), ("C", "A", "r"), ("C", "A", "u")]
        text = "".join(json.dumps({"source": s, "target": t, "label": "T", "__op": op}) + "\n" for s, t, op in rows)
        self.assertEqual(self.rings("o.jsonl", text), 0)
        self.assertEqual(self.rings("o.jsonl", text, "--columns", "op=__op,source=source,target=target,label=label"), 0)
        table = "source,target,label,__op\n" + "".join(f"{s},{t},T,{op}\n" for s, t, op in rows)
        self.assertEqual(self.rings("o.csv", table), 0)
        tabs = "".join(f"{s}\t{t}\tT\t{op}\n" for s, t, op in rows)
        self.assertEqual(self.rings("o.tsv", tabs, "--columns", "source,target,label,op"), 0)

    def test_words_and_values_of_other_programs(self):
        for insert, delete in (("I", "D"), ("upsert", "remove"), ("CREATE", "Delete"), ("+I", "-D"), ("added", "removed"),
                               ("replace", "del"), ("update_postimage", "update_preimage")):
            text = f"op,source,target,label\n{insert},A,B,T\n{insert},B,C,T\n{delete},B,C,T\n{insert},C,A,T\n"
            self.assertEqual(self.rings("w.csv", text), 0, (insert, delete))

    def test_values_can_be_mapped(self):
        text = self.deletions(lambda d: {"op": "gone" if d else "here"})
        self.refused("m.jsonl", text, says=["m.jsonl:1: bad_operation: op `here` is unknown", "--op-values 'here=-'", "upsert"])
        self.assertEqual(self.replayed(text, "here=+; gone = -"), 0)
        text = self.deletions(lambda d: {"op": d})
        self.assertEqual(self.replayed(text, "false=+;true=-"), 0)
        text = self.deletions(lambda d: {"op": 2 if d else 1})
        self.assertEqual(self.replayed(text, "1,3=+;2=-"), 0)
        text = self.deletions(lambda d: {"__deleted": "Y" if d else "-"})
        self.assertEqual(self.replayed(text, "Y=-;-=+"), 0)

    def replayed(self, text, values):
        self.write("mapped.jsonl", text)
        result = self.json("replay", "--updates", "mapped.jsonl", "--query", RING, "--op-values", values)
        matched = self.json("match", "--graph", "mapped.jsonl", "--query", RING, "--op-values", values)
        left = result["queries"][0]["new"] - result["queries"][0]["removed"]
        self.assertEqual(left, matched["queries"][0]["matches"])
        return left

    def test_a_mapping_that_cannot_be_read(self):
        self.write("m.jsonl", self.deletions(lambda d: {}))
        for values, says in (("c", "`c` has no ="), ("c=x", "ends with neither =+ nor =-"), ("c=+;c=-", "`c` is given twice"),
                             ("=+", "a value is missing"), ("a,,b=+", "a value is missing"),
                             ("c=+,d=-", "a comma stands behind `c=+`, where a semicolon belongs")):
            self.fails(2, "replay", "--updates", "m.jsonl", "--query", RING, "--op-values", values, says=[says, "c,r,u=+;d=-"])
        self.write("g.graph", "e 0 1\n")
        self.fails(2, "match", "--graph", "g.graph", "--query", RING, "--op-values", "c=+", says="leave the option out")

    def test_truncations_and_messages_are_refused_by_name(self):
        row = '{"source":"A","target":"B","label":"T","__op":"%s"}\n'
        self.refused("t.jsonl", row % "t", says=["t.jsonl:1: bad_operation", "truncate", "skipped.operations"])
        self.refused("m.jsonl", row % "m", says=["m.jsonl:1: bad_operation", "message"])
        event = '{"op":"%s","source":{"table":"x"},"ts_ms":1}\n'
        for op, word in (("t", "truncate"), ("m", "message")):
            self.refused("e.jsonl", event % op, "--envelope", "debezium", says=["e.jsonl:1: bad_operation", word])

    def test_two_that_say_the_operation_must_agree(self):
        row = '{"source":"A","target":"B","label":"T","__op":"%s","__deleted":"%s"}\n'
        self.assertEqual(self.rings("a.jsonl", row % ("c", "false") + row % ("d", "true"), query="e=(a)-->(b)"), 0)
        self.refused("b.jsonl", row % ("c", "true"), says=["contradict each other", "--columns op=__op"])
        text = row % ("c", "true")
        self.assertEqual(self.rings("b.jsonl", text, "--columns", "op=__op", query=EDGE), 1)
        self.assertEqual(self.rings("b.jsonl", text, "--columns", "op=__deleted", query=EDGE), 0)
        self.assertEqual(self.rings("b.jsonl", text, "--columns", "op=,deleted=", query=EDGE), 1)
        self.refused("c.jsonl", '{"source":1,"target":2,"op":"+","__op":"d"}\n', says=["two fields say the operation"])
        self.refused("c.csv", "source,target,op,__op\n1,2,+,d\n", says=["two columns for op"])

    def test_a_flag_of_another_name(self):
        text = "source,target,label,is_deleted\nA,B,T,f\nB,C,T,\nC,A,T,no\nC,A,T,t\n"
        self.assertEqual(self.rings("f.csv", text, "--columns", "deleted=is_deleted"), 0)
        self.assertEqual(self.rings("f.csv", text, "--columns", "op=is_deleted"), 0)

    def test_an_edge_list_of_letters_has_no_operations(self):
        self.assertEqual(self.rings("l.txt", "c d\nd e\ne c\n", "--format", "snap", "--ids", "string", query="r=(a)-->(b)-->(c)-->(a)"), 1)


class Gephi(FormsTest):
    UNDIRECTED = "Source,Target,Type,Id,Weight\n1,2,Undirected,0,1.0\n2,3,Undirected,1,1.0\n3,1,Undirected,2,2.0\n"
    DIRECTED = ("Source,Target,Type,Id,Label,timeset,Weight\n1,2,Directed,0,,,1.0\n2,3,Directed,1,,,1.0\n"
                "3,1,Directed,2,,,2.0\n")

    def test_an_edge_table_says_that_its_edges_are_undirected(self):
        self.assertEqual(self.rings("g.csv", self.UNDIRECTED, query=TRIANGLE), 1)
        graph = self.json("match", "--graph", "g.csv", "--query", TRIANGLE)["graph"]
        self.assertEqual((graph["vertices"], graph["edges"]), (3, 3))
        self.write("g.csv", self.UNDIRECTED)
        self.fails(78, "match", "--graph", "g.csv", "--query", "d=(a)-->(b)", says="undirected")
        self.assertEqual(self.rings("g.csv", self.UNDIRECTED, "--directed", query="d=(a)-->(b)-->(c)-->(a)"), 1)

    def test_an_edge_table_with_labels_and_directions(self):
        self.assertEqual(self.rings("g.csv", self.DIRECTED, query="d=(a)-[:``]->(b)-[:``]->(c)-[:``]->(a)"), 1)
        labelled = self.DIRECTED.replace(",,,1.0", ",T,,1.0").replace(",,,2.0", ",T,,2.0")
        self.assertEqual(self.rings("g.csv", labelled), 1)
        self.assertEqual(self.rings("g.csv", labelled, "--undirected", query="t=(a)-[:T]-(b)-[:T]-(c)-[:T]-(a)"), 1)

    def test_with_tabs_semicolons_blanks_and_quotes(self):
        for text in (self.UNDIRECTED.replace(",", "\t"), self.UNDIRECTED.replace(",", ";"), self.UNDIRECTED.replace(",", " , "),
                     self.UNDIRECTED.replace("Undirected", '"Undirected"').replace("Type", '"Type"'),
                     self.UNDIRECTED.replace("Undirected", "undirected").replace("Type", "type"),
                     self.UNDIRECTED.replace("\n", "\r\n")):
            self.assertEqual(self.rings("g.csv", text, query=TRIANGLE), 1, text)

    def test_from_standard_input(self):
        outcome = self.ok("match", "--graph", "-", "--query", TRIANGLE, "--json", stdin=gzip.compress(self.UNDIRECTED.encode()))
        self.assertEqual(json.loads(outcome.out)["queries"][0]["matches"], 1)

    def test_a_mixed_table_is_refused_at_the_first_edge_that_differs(self):
        mixed = self.UNDIRECTED.replace("3,1,Undirected", "3,1,Directed")
        self.refused("g.csv", mixed, query=TRIANGLE, says=["g.csv:4: Type `Directed`, but the edges before it are undirected",
                                                           "split the file", "--directed or --undirected"])
        self.refused("g.csv", mixed, "--on-error", "skip", query=TRIANGLE, says="g.csv:4: Type `Directed`")
        self.assertEqual(self.rings("g.csv", mixed, "--undirected", query=TRIANGLE), 1)
        mutual = self.UNDIRECTED.replace("3,1,Undirected", "3,1,Mutual")
        self.refused("g.csv", mutual, query=TRIANGLE, says=["g.csv:4", "Type `Mutual` is neither", "write two edges"])

    def test_a_type_that_is_no_direction_is_the_label(self):
        text = "source,target,type\nA,B,T\nB,C,T\nC,A,T\n"
        self.assertEqual(self.rings("t.csv", text), 1)
        self.refused("t.csv", text + "A,C,Directed\n", says=["t.csv:5: Type `Directed` says whether the edge has a direction",
                                                              "--columns label=Type"])
        self.assertEqual(self.rings("t.csv", text + "A,C,Directed\n", "--columns", "label=type"), 1)

    def test_in_capitals_it_may_be_a_label(self):
        text = "source,target,type\nA,B,DIRECTED\nA,C,ACTED_IN\n"
        self.refused("m.csv", text, says=["m.csv:2: Type `DIRECTED` may be a label", "label=Type"])
        self.assertEqual(self.rings("m.csv", text, "--columns", "label=type", query="d=(a)-[:DIRECTED]->(b)"), 1)

    def test_label_and_type_that_are_both_labels(self):
        text = "source,target,label,type\nA,B,T,x\n"
        self.refused("l.csv", text, says=["l.csv:2: there are two columns for the label: Type `x`", "--columns label=type or --columns label=label"])
        self.assertEqual(self.rings("l.csv", text, "--columns", "label=label", query="d=(a)-[:T]->(b)"), 1)
        self.assertEqual(self.rings("l.csv", text, "--columns", "label=type", query="d=(a)-[:x]->(b)"), 1)

    def test_inputs_of_both_directions(self):
        self.write("g.csv", self.UNDIRECTED)
        self.write("s.tsv", "+\t1\t2\t\t1\n")
        self.fails(2, "replay", "--graph", "g.csv", "--updates", "s.tsv", "--query", TRIANGLE,
                   says=["g.csv (csv) is undirected, but s.tsv (tsv) is directed", "--directed or --undirected"])


    def test_a_snapshot_of_the_other_direction(self):
        self.write("s.tsv", "+\t1\t2\t\t1\n")
        self.json("replay", "--updates", "s.tsv", "--query", EDGE, "--save-snapshot", "s.dms")
        self.write("g.csv", self.UNDIRECTED)
        args = ("replay", "--snapshot", "s.dms", "--updates", "g.csv", "--query", EDGE)
        self.fails(2, *args, says=["g.csv is undirected, but the snapshot s.dms holds a directed graph", "--directed"])
        self.assertEqual(self.json(*args, "--directed")["graph"]["edges"], 3)


class MatrixMarket(FormsTest):
    SYMMETRIC = "%%MatrixMarket matrix coordinate pattern symmetric\n% comment\n4 4 5\n2 1\n3 1\n3 2\n4 1\n4 3\n"
    WEIGHTS = "%%MatrixMarket matrix coordinate real general\n4 4 5\n2 1 0.5\n3 1 0.25\n3 2 1\n4 1 1\n4 3 1\n"

    def test_a_symmetric_pattern_is_an_undirected_graph(self):
        self.assertEqual(self.rings("m.mtx", self.SYMMETRIC, query=TRIANGLE), 2)
        self.assertEqual(self.rings("m.mtx", self.SYMMETRIC, "--undirected", query=TRIANGLE), 2)
        self.assertEqual(self.rings("m.txt", self.SYMMETRIC.replace("%%MatrixMarket matrix", "%%matrixmarket MATRIX"),
                                    "--format", "mtx", query=TRIANGLE), 2)
        self.write("m.mtx.gz", gzip.compress(self.SYMMETRIC.replace("\n", "\r\n").encode()))
        self.assertEqual(self.json("match", "--graph", "m.mtx.gz", "--query", TRIANGLE)["queries"][0]["matches"], 2)

    def test_values_are_neither_times_nor_labels(self):
        self.assertEqual(self.rings("w.mtx", self.WEIGHTS, "--undirected", query=TRIANGLE), 2)
        self.assertEqual(self.rings("w.mtx", self.WEIGHTS, query="d=(a)-[:``]->(b)"), 5)
        self.write("w.mtx", self.WEIGHTS)
        outcome = self.run_program("replay", "--updates", "w.mtx", "--query", EDGE, "--window", "1h")
        self.assertIn("missing_time", outcome.err)

    def test_every_kind_of_value(self):
        for field, value in (("integer", "-3"), ("real", "1e-5"), ("real", "-.5D+01"), ("REAL", "NaN")):
            text = f"%%MatrixMarket matrix coordinate {field} skew-symmetric\n2 2 1\n2 1 {value}\n"
            self.assertEqual(self.rings("v.mtx", text, query="u=(a)--(b)"), 1, text)
        for field, row in (("integer", "2 1 1.5"), ("real", "2 1 x"), ("real", "2 1"), ("pattern", "2 1 1")):
            self.refused("v.mtx", f"%%MatrixMarket matrix coordinate {field} symmetric\n2 2 1\n{row}\n", query="u=(a)--(b)",
                         says="v.mtx:3: ")

    def test_kinds_that_are_not_read_are_refused_by_name(self):
        for banner, says in (("matrix array real general", "format `array`"), ("matrix coordinate complex general", "field `complex`"),
                             ("matrix coordinate real hermitian", "symmetry `hermitian`"), ("vector coordinate real general", "object `vector`"),
                             ("matrix coordinate real", "has 4 fields")):
            self.refused("b.mtx", f"%%MatrixMarket {banner}\n2 2 1\n2 1\n", says=["b.mtx:1: ", says, "general"])

    def test_the_line_of_sizes_must_be_true(self):
        banner = "%%MatrixMarket matrix coordinate pattern general\n"
        self.refused("s.mtx", banner + "3 3 2\n1 2\n", query=EDGE, says="says 2 entries, but 1 follow")
        self.refused("s.mtx", banner + "3 3 1\n1 2\n2 3\n", query=EDGE, says=["s.mtx:4: ", "says 1 entries, and this is one more"])
        self.refused("s.mtx", banner + "3 3 1\n1 4\n", query=EDGE, says="s.mtx:3: bad_id: column `4` is not one of 1 to 3")
        self.refused("s.mtx", banner + "3 3 1\n0 1\n", query=EDGE, says="row `0` is not one of 1 to 3")
        self.refused("s.mtx", banner + "3 2 1\n1 2\n", query=EDGE, says=["s.mtx:2: a matrix has 3 rows and 2 columns", "edge list"])
        self.refused("s.mtx", banner + "3 3\n1 2\n", query=EDGE, says="s.mtx:2: 2 fields, but the line of sizes has 3")
        self.refused("s.mtx", banner, query=EDGE, says="no line of sizes")

    def test_it_is_not_read_as_something_else(self):
        self.refused("m.mtx", self.SYMMETRIC, "--format", "snap", says=["m.mtx:1: a Matrix Market file", "leave --format out"])
        self.refused("e.txt", "1 2\n", "--format", "mtx", says=["e.txt:1: `1 2` is not the banner", "give --format snap"])


class GSpan(FormsTest):
    ONE = "t # 0\nv 0 0\nv 1 1\ne 0 1 0\n"

    def test_a_numbered_header(self):
        edge = "e=(a:`0`)-[:`0`]-(b:`1`)"
        for text in (self.ONE, self.ONE.replace("t # 0", "t # 0 * 12"), self.ONE.replace("t # 0", "t # 7 0"), self.ONE + "t # -1\n"):
            self.assertEqual(self.rings("g.graph", text, query=edge), 1, text)

    def test_two_graphs_in_a_file(self):
        two = self.ONE + self.ONE.replace("# 0", "# 1") + "t # -1\n"
        self.refused("g.txt", two, query=EDGE.replace("-->", "--"),
                     says=["g.txt:5: a second graph begins here (t # 1), and a file holds one graph", "split the file"])
        self.refused("g.txt", two, "--on-error", "skip", query=EDGE.replace("-->", "--"), says="g.txt:5: a second graph")
        self.refused("g.txt", self.ONE[6:] + self.ONE, query=EDGE.replace("-->", "--"), says="g.txt:4: a second graph")
        self.refused("g.txt", self.ONE + "t # -1\ne 0 1 1\n", query=EDGE.replace("-->", "--"), says="g.txt:6: malformed")

    def test_what_the_remedy_makes_can_be_read(self):
        two = self.ONE + self.ONE.replace("# 0", "# 1")
        first, numbers = "", 0
        for line in two.splitlines(True):  # awk '$1=="t"{n++} n<2'
            numbers += line.startswith("t")
            first += line if numbers < 2 else ""
        self.assertEqual(self.rings("g.txt", first, query="e=(a)--(b)"), 1)


class JsonArrays(FormsTest):
    A = '{"source":"A","target":"B","label":"T"}'
    B = '{"source":"B","target":"C","label":"T"}'
    C = '{"source":"C","target":"A","label":"T"}'

    def test_a_line_that_is_an_array(self):
        self.assertEqual(self.rings("a.jsonl", f"[{self.A},{self.B}]\n", query=EDGE), 2)
        self.assertEqual(self.rings("a.jsonl", f"[{self.A},{self.B}]\n[{self.C}]\n[]\n"), 1)
        self.assertEqual(self.rings("a.jsonl", f"{self.A}\n[{self.B},{self.C}]\n"), 1)

    def test_a_line_is_taken_whole_or_not_at_all(self):
        bad = '{"source":"X"}'
        text = f"[{self.A}]\n[{self.B},{bad},{self.C}]\n"
        self.refused("a.jsonl", text, says="a.jsonl:2: wrong_arity: element 1, from 0: there is no target")
        self.write("a.jsonl", text)
        result = self.json("match", "--graph", "a.jsonl", "--query", EDGE, "--on-error", "skip", "--max-refused", "0.5")
        self.assertEqual(result["queries"][0]["matches"], 1)
        self.ok("match", "--graph", "a.jsonl", "--query", EDGE, "--on-error", "dead-letter", "--dead-letters", "dead.jsonl",
                "--max-refused", "0.5", "--json")
        letter = self.lines("dead.jsonl")[0]
        self.assertEqual((letter["position"], letter["record"]), (2, text.splitlines()[1]))

    def test_a_file_that_is_one_array(self):
        records = [json.loads(r) for r in (self.A, self.B, self.C)]
        for text in (json.dumps(records), json.dumps(records, indent=2), json.dumps(records, indent="\t").replace("\n", "\r\n"),
                     "[\n" + ",\n".join((self.A, self.B, self.C)) + "\n]\n", "\n [" + self.A + "\n," + self.B + "\n,\n" + self.C + "]"):
            self.assertEqual(self.rings("a.json", text), 1, text)
            self.assertEqual(self.rings("a.json", text, "--format", "jsonl"), 1, text)
        self.assertEqual(self.rings("e.json", "[\n]\n"), 0)

    def test_each_element_of_such_a_file_is_a_record(self):
        text = "[\n" + self.A + ',\n{"source":"X"},\n' + self.B + "\n]\n"
        self.refused("a.json", text, says="a.json:3, element 1 from 0: wrong_arity: there is no target")
        self.write("a.json", text)
        result = self.json("match", "--graph", "a.json", "--query", EDGE, "--on-error", "skip", "--max-refused", "0.5")
        self.assertEqual(result["queries"][0]["matches"], 2)

    def test_an_array_that_is_damaged(self):
        whole = f"[\n{self.A},\n{self.B}\n]\n"
        for text, says in ((whole[:-3], "a.json:3, element 2 from 0: the array does not end"),
                           (whole.replace(",\n{", "\n{"), "a.json:3, element 1 from 0: neither a comma"),
                           (whole.replace("\n]", ",\n]"), "a comma before the end of the array"),
                           (whole + self.C + "\n", "something follows the array"),
                           (whole.replace('"B","t', '"B,"t'), "a.json:3, element 1 from 0"),
                           (whole[:-6], "a value does not end")):
            self.refused("a.json", text, query=EDGE, says=says)

    def test_objects_over_many_lines(self):
        text = "".join(json.dumps(json.loads(r), indent=2) + "\n" for r in (self.A, self.B, self.C))
        self.assertEqual(self.rings("o.json", text), 1)
        self.refused("o.json", text.replace('"target"', '"goal"', 1), says="o.json:1: wrong_arity: there is no target")
        self.refused("o.json", text[:-4], says="a value does not end")

    def test_a_large_array_in_one_line(self):
        records = [{"source": i, "target": i + 1, "pad": "x" * 1000} for i in range(2000)]
        self.assertEqual(self.rings("large.json", json.dumps(records), query=EDGE), 2000)

    def test_paths_to_elements(self):
        columns = "source=tx.parties.0.id,target=tx.parties.1.id"
        row = '{"tx":{"parties":[{"id":"A"},{"id":"B"}]}}\n'
        self.assertEqual(self.rings("p.jsonl", row, "--columns", columns, query=EDGE), 1)
        self.assertEqual(self.rings("p.jsonl", row.replace("[", '{"0":', 1).replace(',{"id":"B"}]', ',"1":{"id":"B"}}'),
                                    "--columns", columns, query=EDGE), 1)
        self.refused("p.jsonl", row.replace(',{"id":"B"}', ""), "--columns", columns, says="there is no tx.parties.1.id")
        self.refused("p.jsonl", row, "--columns", "source=tx.parties.id,target=tx.x", says="field `tx.parties` is no object; tx.parties.0 is the first")

    def test_rows_that_are_arrays(self):
        columns = "source=0,target=1,label=2"
        rows = '["A","B","T"]\n["B","C","T"]\n["C","A","T"]\n'
        self.assertEqual(self.rings("r.jsonl", rows, "--columns", columns), 1)
        self.assertEqual(self.rings("r.jsonl", rows.splitlines()[0] + "\n", "--columns", columns, query=EDGE), 1)
        self.assertEqual(self.rings("r.json", "[" + ",\n".join(rows.split()) + "]\n", "--columns", columns), 1)


class EventsAndVertices(FormsTest):
    def test_an_id_beside_a_type_may_be_an_event(self):
        text = "id,type,sender,receiver\n1,TRANSFER,A,B\n"
        self.refused("e.csv", text, query=EDGE, says=["e.csv:1: the CSV header `id,type,sender,receiver` has an id and a label",
                                                      "--columns source=sender,target=receiver if the records are edges",
                                                      "--columns vertex=id,label=type if they are vertices"])
        self.assertEqual(self.rings("e.csv", text, "--columns", "source=sender,target=receiver", query="e=(a)-[:TRANSFER]->(b)"), 1)
        self.assertEqual(self.rings("e.csv", text, "--columns", "vertex=id,label=type", query=EDGE), 0)
        self.write("g.csv", "source,target\n1,2\n")
        self.write("l.csv", "id,type,name,country\n1,A,x,y\n")
        result = self.json("match", "--graph", "g.csv", "--labels", "l.csv", "--query", "q=(a:A)-->(b)")
        self.assertEqual(result["queries"][0]["matches"], 1)

    def test_an_edge_table_that_lacks_an_end_is_no_list_of_vertices(self):
        self.refused("h.csv", "id,type,source,receiver\n1,T,A,B\n", query=EDGE, says=["has no column for target"])

    def test_json_has_the_usual_names_of_csv_in_any_case(self):
        rows = [{"From": "A", "TO": "B", "type": "T"}, {"src": "B", "dst": "C", "rel": "T"}, {"u": "C", "v": "A", "Label": "T"}]
        self.assertEqual(self.rings("n.jsonl", "".join(json.dumps(r) + "\n" for r in rows)), 1)
        text = '{"source":"A","target":"B","id":7,"label":"T","type":"x","v":1,"node":"n"}\n'
        self.write("o.jsonl", text)
        self.assertEqual(self.warned("o.jsonl", query="e=(a)-[:T]->(b)"), ["two_names"])
        self.assertEqual(self.rings("o.jsonl", text, "--columns", "label=label", query="e=(a)-[:T]->(b)"), 1)
        text = '{"from":"A","to":"B","OP":"+"}\n{"from":"A","to":"B","Op":"-"}\n'
        self.assertEqual(self.rings("p.jsonl", text, query=EDGE), 0)
        self.refused("q.jsonl", '{"source":"A","target":"B","type":"x","rel":"y"}\n', says=["two fields say the label", "--columns label="])
        self.refused("r.jsonl", '{"source":"A","target":"B","type":{"a":1}}\n', says=["field `type` is neither a string nor a number"])
        self.refused("s.jsonl", '{"source":"A","v":1,"payee":2}\n', says=["there is no target among `payee`", "--columns target=NAME"])

    def test_vertex_labels_in_json(self):
        self.write("e.csv", "source,target\nA,B\n")
        for row in ({"id": "A", "label": "Shop"}, {"ID": "A", "type": "Shop"}, {"node": "A", "label": "Shop"},
                    {"vertex": "A", "label": "Shop", "id": 5}):
            self.write("l.jsonl", json.dumps(row) + "\n")
            result = self.json("match", "--graph", "e.csv", "--labels", "l.jsonl", "--query", "q=(a:Shop)-->(b)")
            self.assertEqual(result["queries"][0]["matches"], 1, row)
        self.write("l.jsonl", '{"name":"A"}\n')
        self.fails(1, "match", "--graph", "e.csv", "--labels", "l.jsonl", "--query", EDGE,
                   says=["there is no vertex among `name`", "--labels-columns vertex=NAME"])

    def test_several_labels(self):
        for columns in ((), ("--columns", "vertex=:ID,label=:LABEL"), ("--columns", "vertex=:ID,labels=:LABEL")):
            self.write("n.csv", ":ID,:LABEL\nA,Person;Actor\n")
            self.assertEqual(self.warned("n.csv", *columns), [])
        self.write("m.csv", "id,label\nA,Person;Actor\n")
        self.assertEqual(self.warned("m.csv"), ["several_labels"])
        self.assertEqual(self.warned("m.csv", "--columns", "vertex=id,labels=label"), [])

    def test_an_operation_that_is_not_read(self):
        for header, values in (("action", ("add", "remove")), ("event_type", ("follow", "unfollow")), ("deleted", ("false", "true")),
                               ("what", ("insert", "delete"))):
            text = f"source,target,{header}\nA,B,{values[0]}\nA,B,{values[1]}\n"
            self.write("a.csv", text)
            self.assertEqual(self.warned("a.csv"), ["operation_unread"], header)
            self.assertEqual(self.warned("a.csv", "--columns", "op="), [])
        for header, values in (("event_type", ("click", "view")), ("note", ("a", "delete")), ("grade", ("c", "d"))):
            self.write("a.csv", f"source,target,{header}\nA,B,{values[0]}\nA,C,{values[1]}\n")
            self.assertEqual(self.warned("a.csv"), [], header)
        self.write("a.jsonl", '{"source":"A","target":"B","eventType":"removed"}\n{"source":"A","target":"C","deleted":true}\n')
        self.assertEqual(self.warned("a.jsonl"), ["operation_unread"])
        self.write("a.jsonl", '{"source":"A","target":"B","eventType":"removed","op":"+"}\n')
        self.assertEqual(self.warned("a.jsonl"), [])

    CHANGE_DATA = (("_fivetran_deleted", False, True), ("_sdc_deleted_at", "", "2024-01-02T03:04:05Z"), ("_hoodie_is_deleted", False, True),
                   ("is_deleted", 0, 1), ("is_removed", "no", "yes"), ("removed", "false", "true"), ("tombstone", False, True),
                   ("rowkind", "+I", "-D"), ("row_kind", "+I", "-D"), ("dml_type", "INSERT", "DELETE"), ("cdc_operation", "I", "D"),
                   ("__$operation", 2, 1), ("deleted_at", "", "2024-01-02"), ("METADATA$ACTION", "INSERT", "DELETE"))

    def test_columns_of_change_data_are_not_read_but_warned_of(self):
        for name, insert, delete in self.CHANGE_DATA:
            rows = [{"source": "A", "target": "B", name: insert}, {"source": "A", "target": "C", name: delete}]
            self.write("a.csv", f"source,target,{name}\n" + "".join(f"A,{r['target']},{r[name]}\n" for r in rows))
            self.write("a.jsonl", "".join(json.dumps(r) + "\n" for r in rows))
            self.write("i.csv", f"source,target,{name}\nA,B,{insert}\nA,C,{insert}\n")
            self.write("i.jsonl", "".join(json.dumps({**r, name: insert or None}) + "\n" for r in rows))
            for ending in ("csv", "jsonl"):
                self.assertEqual(self.warned("a." + ending), ["operation_unread"], (name, ending))
                self.assertEqual(self.warned("a." + ending, "--columns", "op="), [], (name, ending))
                self.assertEqual(self.warned("i." + ending), [], (name, ending))

    def test_the_remedy_reads_columns_of_change_data(self):
        for name, insert, delete in self.CHANGE_DATA:
            rows = [("A", "B", insert), ("A", "C", insert), ("A", "C", delete)]
            self.write("a.csv", f"source,target,{name}\n" + "".join(f"{s},{t},{op}\n" for s, t, op in rows))
            outcome = self.run_program("match", "--graph", "a.csv", "--query", EDGE)
            warning = next(line for line in outcome.err.splitlines() if "is ignored" in line)
            if name.endswith("_at"):
                self.assertIn("leave such records out", warning)
                continue
            options = shlex.split(re.search(r"inserts.*?; (.*?) reads? it", warning).group(1).replace(" and ", " "))
            self.assertEqual(options[:2], ["--columns", f"op={name}"])
            self.assertEqual(self.json("match", "--graph", "a.csv", "--query", EDGE, *options)["queries"][0]["matches"], 1, name)

    def test_counts_and_empty_times_say_no_deletion(self):
        for name, values in (("removed", (1, 12)), ("deleted", (0, 12)), ("deleted_at", ("NULL", "9999-12-31")), ("operation", (1, 2)),
                             ("removed", ("", 3))):
            self.write("a.csv", f"source,target,{name}\nA,B,{values[0]}\nA,C,{values[1]}\n")
            self.assertEqual(self.warned("a.csv"), [], name)
        self.write("a.jsonl", '{"source":"A","target":"B","deleted_at":null,"removed":1,"tombstone":{}}\n')
        self.assertEqual(self.warned("a.jsonl"), [])

    def test_a_label_that_says_the_operation(self):
        for words in (("add", "remove"), ("FOLLOW", "UNFOLLOW"), ("+I", "-D")):
            rows = [("A", "B", words[0]), ("A", "C", words[0]), ("A", "C", words[1])]
            self.write("a.csv", "source,target,type\n" + "".join(f"{s},{t},{w}\n" for s, t, w in rows))
            self.write("a.jsonl", "".join(json.dumps({"source": s, "target": t, "type": w}) + "\n" for s, t, w in rows))
            for name in ("a.csv", "a.jsonl"):
                self.assertEqual(self.warned(name), ["operation_unread"], words)
                self.assertEqual(self.warned(name, "--columns", "label=type"), [])
        outcome = self.run_program("match", "--graph", "a.csv", "--query", EDGE)
        self.assertIn("a.csv:4: `type` is read as the label", outcome.err)
        self.assertIn("--columns op=type,label= reads it as the operation", outcome.err)
        for name in ("a.csv", "a.jsonl"):
            result = self.json("match", "--graph", name, "--query", EDGE, "--columns", "op=type,label=")
            self.assertEqual(result["queries"][0]["matches"], 1)

    def test_other_labels_say_no_operation(self):
        for name, words in (("label", ("remove", "remove")), ("type", ("add", "update")), ("label", ("add", "remove", "PAYS")),
                            ("type", ("c", "d")), ("type", ("+", "-")), ("rel", ("", "delete"))):
            self.write("a.csv", f"source,target,{name}\n" + "".join(f"A,{i},{word}\n" for i, word in enumerate(words)))
            self.assertEqual(self.warned("a.csv"), [], words)
            rows = [{"source": "A", "target": i, name: word} for i, word in enumerate(words)]
            self.write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
            self.assertEqual(self.warned("a.jsonl"), [], words)


class Headers(FormsTest):
    def test_a_header_that_is_repeated_is_passed_over(self):
        self.write("c.csv", "source,target\nA,B\nsource,target\nB,C\n")
        outcome = self.run_program("match", "--graph", "c.csv", "--query", EDGE, "--json")
        result = json.loads(outcome.out)
        self.assertEqual(result["queries"][0]["matches"], 2)
        self.assertEqual([(w["code"], w["where"]) for w in result["warnings"]], [("header_repeated", "c.csv:3")])
        self.refused("d.csv", "source,target,time\nA,B,1\nsource,target,label\nB,C,T\n", query=EDGE,
                     says=["d.csv:3: `source,target,label` is a second header", "split the file"])

    def test_a_header_repeated_in_other_letters(self):
        self.write("c.csv", "Source,Target,Label\nA,B,T\nsource,target,label\nB,C,T\n")
        result = json.loads(self.run_program("match", "--graph", "c.csv", "--query", EDGE, "--json").out)
        self.assertEqual((result["queries"][0]["matches"], [w["code"] for w in result["warnings"]]), (2, ["header_repeated"]))
        self.refused("d.csv", "source,target,time\nA,B,1\nSOURCE,TARGET,LABEL\nB,C,T\n", query=EDGE, says="is a second header")
        self.write("v.csv", "id,label\n1,A\nId,Label\n2,B\n")
        self.write("e.txt", "1 2\n")
        self.assertEqual(self.warned("e.txt", "--labels", "v.csv"), ["header_repeated"])
        # One letter, or a name that an option gives, is also a vertex in other letters.
        self.assertEqual(self.rings("u.csv", "u,v\nU,V\nV,U\n", query=EDGE), 2)
        self.assertEqual(self.rings("n.csv", "ann,bob\nAnn,Bob\n", "--columns", "source=ann,target=bob", query=EDGE), 1)
        # With columns by position, the header may have fewer columns than the records.
        options = ("--format", "csv", "--columns", "source,target", "--header", "yes")
        self.assertEqual(self.rings("p.csv", "edges\n1,2\n", *options, query=EDGE), 1)

    def test_a_header_where_columns_are_given_by_position(self):
        for text in ("source,target\n1,2\n", "To,From\n1,2\n"):
            self.refused("p.csv", text, "--columns", "source,target", says=["p.csv:1: ", "looks like a header", "--header yes"])
        self.assertEqual(self.rings("p.csv", text, "--columns", "source,target", "--header", "yes", query=EDGE), 1)
        self.assertEqual(self.rings("p.csv", text, "--columns", "source,target", "--header", "no", query=EDGE), 2)
        self.refused("p.tsv", "source\ttarget\n1\t2\n", "--columns", "source,target", "--format", "tsv", says=["looks like a header", "remove the line"])
        self.refused("p.txt", "source target\n1 2\n", "--format", "snap", says=["looks like a header", "remove the line"])
        self.write("w.csv", "payer,payee\n1,2\n2,3\n")
        self.assertEqual(self.warned("w.csv", "--columns", "source,target"), ["header_as_record"])
        self.assertEqual(self.warned("w.csv", "--columns", "source,target", "--header", "no"), [])

    def test_a_header_of_labels_with_unusual_names(self):
        self.write("g.csv", "source,target\n1,2\n")
        query = ("--query", "q=(a:A)-->(b:B)")
        for header in ("account_id,label", "user,label", "user,type", "user,Kind", "id,group"):
            self.write("l.csv", header + "\n1,A\n2,B\n")
            vertex, label = header.split(",")
            columns = f"vertex={vertex},label={label}"
            self.fails(1, "match", "--graph", "g.csv", "--labels", "l.csv", *query,
                       says=["l.csv:1: ", "looks like a header", f"--labels-columns {columns} reads it so", "--labels-header no"])
            result = self.json("match", "--graph", "g.csv", "--labels", "l.csv", "--labels-columns", columns, *query)
            self.assertEqual(result["queries"][0]["matches"], 1, header)
            result = self.json("match", "--graph", "g.csv", "--labels", "l.csv", "--labels-header", "no", *query)
            self.assertEqual(result["queries"][0]["matches"], 1, header)
        for header in ("vertex,labels", "id,labels", ":ID,:LABEL"):  # these are usual
            self.write("l.csv", header + "\n1,A\n2,B\n")
            result = self.json("match", "--graph", "g.csv", "--labels", "l.csv", *query)
            self.assertEqual(result["queries"][0]["matches"], 1, header)
        self.write("l.txt", "user label\n1 A\n2 B\n")
        self.fails(1, "match", "--graph", "g.csv", "--labels", "l.txt", "--labels-format", "snap", "--ids", "string", *query,
                   says=["l.txt:1: ", "looks like a header", "remove the line"])

    def test_labels_without_a_header(self):
        self.write("g.csv", "source,target\n1,2\n")
        for text in ("1,A\n2,B\n", "1,A\nx,label\n2,B\n", "x,Y\n1,A\n2,B\ny,Z\n"):
            self.write("l.csv", text)
            result = self.json("match", "--graph", "g.csv", "--labels", "l.csv", "--query", "q=(a:A)-->(b:B)")
            self.assertEqual(result["queries"][0]["matches"], 1, text)
            self.assertEqual(result["warnings"], [], text)
        self.write("l.csv", "uid,colour\n1,A\n2,B\n")
        outcome = self.run_program("match", "--graph", "g.csv", "--labels", "l.csv", "--query", "q=(a:A)-->(b:B)", "--json")
        result = json.loads(outcome.out)
        self.assertEqual([w["code"] for w in result["warnings"]], ["header_as_record"])
        self.assertIn("--labels-columns vertex=NAME,label=NAME", result["warnings"][0]["remedy"])

    def test_lines_above_a_header(self):
        for above, number in (("Payments of May\n", 2), ("# written by x\n# today\n", 3), ("\n\nAll, of; them\n", 4)):
            self.refused("t.csv", above + "source,target\n1,2\n", query=EDGE,
                         says=[f"is above the header, which is line {number}", f"tail -n +{number} FILE"])
        self.refused("s.csv", "sep=;\nsource;target\n1;2\n", query=EDGE, says=["s.csv:1: `sep=;` is a line about the separator for Excel", "tail -n +2 FILE"])

    def test_text_of_16_bits(self):
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            self.refused("u.csv", "source,target\n1,2\n".encode(encoding), says=["u.csv:1: the text is UTF-16", "iconv -f UTF-16"])
            self.refused("u.csv", "source,target\n1,2\n".encode(encoding), "--format", "csv", says=["the text is UTF-16"])

    def test_lines_that_end_in_cr_alone(self):
        forms = {"f.csv": "source,target,label\rA,B,T\rB,C,T\rC,A,T\r", "f.txt": "# list\r1 2\r2 3\r3 1",
                 "f.tsv": "+\tA\tB\tT\t1\r+\tB\tC\tT\t2\r",
                 "f.graph": "v 0 A\rv 1 B\re 0 1\r", "f.jlg": "3,1,d,x\r1,2\r", "q.csv": 'source,target\r"A","B"\r',
                 "f.jsonl": '{"source":1,"target":2}\r{"source":2,"target":3}\r',
                 "f.mtx": "%%MatrixMarket matrix coordinate pattern general\r2 2 1\r1 2\r"}
        for name, text in forms.items():
            for end in ("", "\n"):
                self.refused(name, (text + end).encode(), says=[f"{name}:1: the lines end in CR alone", "tr '\\r' '\\n' <FILE"])
        self.refused("f.csv", forms["f.csv"].encode(), "--format", "csv", says="CR alone")
        self.write("e.txt", "1 2\n")
        self.write("l.csv", b"id,label\r1,A\r2,B\r")
        self.fails(1, "match", "--graph", "e.txt", "--labels", "l.csv", "--query", EDGE, says="l.csv:1: the lines end in CR alone")

    def test_carriage_returns_that_end_no_line(self):
        for name, text, count in (("a.txt", "1 2\r", 1), ("b.txt", "1 2\r\n2 3\r\n", 2), ("c.txt", "1 2\r\n2 3", 2),
                                  ("d.csv", 'source,target,label\nA,B,"x\ry"\n', 1),
                                  ("e.json", '[{"source":1,\r"target":2},\r{"source":2,"target":3}\r]\r', 2),
                                  ("f.json", '{"source":1,\r"target":2}\r', 1)):
            self.assertEqual(self.rings(name, text.encode(), query=EDGE), count, name)

    def test_a_label_with_blanks_is_no_degree(self):
        says = ["v.graph:2: malformed: the degree `States` is not a number", "`United_States`"]
        self.refused("v.graph", "v 1 A 1\nv 0 United States\ne 0 1\n", query="e=(a)--(b)", says=says)
        for degree in ("1", "-1", "0", "-7", "99999999999999999999"):
            self.assertEqual(self.rings("d.graph", f"v 0 A {degree}\nv 1 A {degree}\ne 0 1\n", query="e=(a)--(b)"), 1, degree)


class MissingValues(FormsTest):
    def test_words_for_a_missing_id(self):
        for word in ("NULL", "null", "NaN", "nan", "None", "\\N"):
            for name, text in (("m.csv", f"source,target\nA,{word}\n"), ("m.tsv", f"+\tA\t{word}\tT\t5\n"),
                               ("m.jsonl", json.dumps({"source": "A", "target": word}) + "\n")):
                self.refused(name, text, query=EDGE, says=[f"bad_id: target `{word}` stands for a missing id", "--ids string"])
                self.assertEqual(self.rings(name, text, "--ids", "string", query=EDGE), 1)
            self.assertEqual(self.rings("q.csv", f'source,target\nA,"{word}"\n', query=EDGE), 1)
            self.refused("q.csv", f'source,target\n{word},"{word}"\n', query=EDGE, says=f"source `{word}` stands for")
        self.refused("e.csv", "source,target\nA,\n", query=EDGE, says="target `` is empty")


class Comments(FormsTest):
    def test_a_comment_that_says_undirected(self):
        for comment in ("# Undirected graph: a.txt", "% sym unweighted", "# FromNodeId ToNodeId (undirected)"):
            self.write("u.txt", comment + "\n1 2\n2 3\n")
            self.assertEqual(self.warned("u.txt"), ["undirected_comment"], comment)
            self.assertEqual(self.warned("u.txt", "--directed"), [])
            self.assertEqual(self.warned("u.txt", "--undirected", query="e=(a)--(b)"), [])
        for comment in ("# Directed graph: a.txt", "% asym positive", "# symmetric", "# Directed, not undirected"):
            self.write("d.txt", comment + "\n1 2\n2 3\n")
            self.assertEqual(self.warned("d.txt"), [], comment)
        self.write("b.txt", "% bip unweighted\n1 2\n")
        for args in ((), ("--directed",)):
            self.assertEqual(self.warned("b.txt", *args), ["bipartite_comment"])

    def test_a_banner_below_comments(self):
        matrix = MatrixMarket.SYMMETRIC
        for above in ("% made by x\n", "\n", "# x\n%\n", "\ufeff% x\n"):
            self.assertEqual(self.rings("m.mtx", above + matrix, query=TRIANGLE), 2)
            self.assertEqual(self.rings("m.mtx", above + matrix, "--format", "mtx", query=TRIANGLE), 2)
        self.refused("m.mtx", "% x\n" + matrix, "--format", "snap", says=["m.mtx:2: a Matrix Market file"])
        self.refused("m.mtx", "% x\n", "--format", "mtx", says=["there is no banner"])


class Remedies(FormsTest):
    def test_a_mapping_is_kept_in_the_remedy(self):
        text = '{"source":"A","target":"B","op":"here"}\n'
        self.refused("o.jsonl", text, "--op-values", "gone=-", says=["map it with --op-values 'gone=-;here=-' (deletes) or here=+ (inserts)"])

    def test_options_are_named_as_the_input_has_them(self):
        self.write("u.txt", "1 2 5\n")
        self.write("g.jsonl", '{"source":"A","target":"B","op":"here"}\n')
        self.fails(1, "replay", "--graph", "g.jsonl", "--updates", "u.txt", "--query", EDGE, says="--graph-op-values 'here=-'")
        self.write("g.csv", "a,b\n1,2\n")
        self.fails(1, "replay", "--graph", "g.csv", "--updates", "u.txt", "--query", EDGE, says="--graph-columns source=NAME,target=NAME")
        self.write("g.csv", "source,target,time\n1,2,soon\n")
        self.fails(1, "replay", "--graph", "g.csv", "--updates", "u.txt", "--query", EDGE, says="--graph-time-unit or --graph-time-format")

    def test_the_array_of_edges_is_named(self):
        text = '{"nodes":[{"id":"A"},{"id":"B"}],"links":[{"source":"A","target":"B"}]}\n'
        self.refused("w.json", text, says=["`links` holds an array of records", "jq -c '.links[]'"])
        other = text.replace('"source"', '"payer"').replace('"target"', '"payee"')
        self.refused("w.json", other, "--columns", "source=payer,target=payee", says=["jq -c '.links[]'"])
        self.refused("w.json", other, says=["jq -c '.nodes[]'"])

    def test_an_array_in_a_field(self):
        text = '{"data":[{"source":"A","target":"B"}],"next":null}\n'
        self.refused("w.json", text, says=["`data` holds an array of records", "jq -c '.data[]'"])
        self.refused("w.json", text, "--columns", "source=data.source,target=data.target", says=["data.0 is the first of its elements alone", "jq -c '.data[]'"])

    def test_a_time_that_was_not_read(self):
        self.write("t.csv", "source,target,created_at\nA,B,2024-01-01\n")
        self.write("t.jsonl", '{"source":"A","target":"B","eventDate":"2024-01-01"}\n')
        self.fails(1, "replay", "--updates", "t.csv", "--query", EDGE, "--window", "1h", reports=True, says=["missing_time", "--columns time=created_at reads"])
        self.fails(1, "replay", "--updates", "t.jsonl", "--query", EDGE, "--window", "1h", reports=True, says="--columns time=eventDate reads")

    def test_a_third_column_of_words(self):
        self.refused("l.txt", "1 2 friend\n", says=["bad_time", "--columns source,target,label reads the words as labels"])
        self.refused("l.txt", "1 2 add\n", says=["--columns source,target,op reads the words as operations"])

    def test_times_too_fine_for_the_unit(self):
        self.refused("n.txt", "1 2 1700000000000000000\n", says=["nanoseconds", "divide it by 1000", "--time-unit us"])
        self.refused("n.txt", "1 2 1700000000000000\n", says=["microseconds", "--time-unit us"])


class Queries(FormsTest):
    TVE = "t # 0 0\nv 0 0 -1\nv 1 1 -1\nv 2 1 -1\nv 3 2 -1\ne 0 1 0\ne 0 2 0\ne 1 2 1\ne 1 3 2\n"

    def test_queries_are_recognised_by_content(self):
        pattern = "// rings\n\n(a)-->(b)-->(a)\n"
        for name in ("q.q", "q.query", "q.txt", "q.graph", "q.pattern", "q", "q.tve"):
            self.write(name, self.TVE)
            self.assertIn("4 vertices", self.ok("validate", "--query", name).out, name)
            self.write(name, pattern)
            self.assertIn("2 vertices", self.ok("validate", "--query", name).out, name)

    def test_numbered_headers_and_degrees_of_minus_one(self):
        self.write("q.graph", self.TVE)
        self.ok("validate", "--query", "q.graph")
        self.write("q.graph", self.TVE[8:])
        self.ok("validate", "--query", "q.graph")
        self.write("q.graph", self.TVE.replace("t # 0 0", "t # 3 * 12") + "t # -1\n")
        self.ok("validate", "--query", "q.graph")
        self.write("q.graph", self.TVE + self.TVE)
        self.fails(78, "validate", "--query", "q.graph", says=["q.graph:10:1: a second query graph begins at this", "split the file"])
        self.write("q.graph", self.TVE.replace("0 0 -1", "0 0 -2"))
        self.fails(78, "validate", "--query", "q.graph", says="the degree '-2' is not a number")

    def test_a_text_of_neither_form(self):
        for text, place in (("0 1\n1 2\n", "x.txt:1:1"), ("# list\n\n  ring\n", "x.txt:3:3"), ("", "x.txt:1:1"), ("{}", "x.txt:1:1"),
                            ("vertex 1", "x.txt:1:1"), ("v", "x.txt:1:1")):
            self.write("x.txt", text)
            self.fails(78, "validate", "--query", "x.txt", says=[place, "a pattern", "t/v/e graph", "v ID LABEL", "(a:Account)"])

    def test_comments_of_either_kind(self):
        self.write("c.pattern", "# rings\n(a)-->(b), # two ways\n  // back\n(b)-->(a)\n")
        self.assertIn("2 vertices, 2 edges", self.ok("validate", "--query", "c.pattern").out)

    def test_what_people_write_around_a_pattern(self):
        self.write("n.pattern", "# rings\nring = (a)-->(b)\n")
        self.fails(78, "validate", "--query", "n.pattern", says=["n.pattern:2:1: a name stands before the pattern", "the name of its file"])
        self.write("s.pattern", "(a)-->(b);\n(b)-->(c);\n")
        self.fails(78, "validate", "--query", "s.pattern", says=["s.pattern:1:10: unexpected ';'", "leave it out"])

    def test_blanks_around_the_name_of_a_pattern(self):
        result = self.json("match", "--graph", self.write("g.txt", "1 2\n"), "--query", " ring\t = (a)-->(b)")
        self.assertEqual(result["queries"][0]["name"], "ring")
        self.fails(78, "match", "--graph", "g.txt", "--query", " = (a)-->(b)", says="the name is empty")

    def test_a_file_gets_a_name(self):
        self.write("6/q33", "v 0 A\nv 1 A\ne 0 1\n")
        match = ("match", "--graph", self.write("g.graph", "v 0 A\nv 1 A\ne 0 1\n"), "--query")
        result = self.json(*match, " six = 6/q33".replace("= ", "="))
        self.assertEqual([(query["name"], query["matches"]) for query in result["queries"]], [("six", 1)])
        self.fails(78, *match, "six=6/q34", says=["--query six=6/q34: no such file", "FILE or name=FILE"])
        self.fails(78, *match, "=6/q33", says="--query =6/q33: ")

    def test_a_pattern_that_begins_with_match(self):
        self.write("m.txt", "match(a)-->(b)\n")
        self.ok("validate", "--query", "m.txt")

    def test_directories(self):
        pattern = "(a)-->(b)\n"
        for name in ("a.pattern", "b.graph", "c.q", "d.query"):
            self.write(f"queries/{name}", pattern)
        self.write("queries/q1", "v 0 A\nv 1 A\ne 0 1\n")
        self.write("queries/README.md", "# What these are\n")
        self.write("queries/LICENSE", "All rights are given.\n")
        self.write("queries/.a.pattern.swp", pattern)
        self.write("queries/a.pattern~", pattern)
        result = self.json("match", "--graph", self.write("g.txt", "1 2\n"), "--query", "queries")
        self.assertEqual([q["name"] for q in result["queries"]], ["a", "b", "c", "d", "q1"])
        self.write("queries/e.txt", pattern)
        self.fails(78, "validate", "--query", "queries", says=["queries/e.txt: it looks like a query", "*.pattern, *.graph, *.q, *.query", "rename it"])
        self.write("none/README.md", "# nothing\n")
        self.fails(78, "validate", "--query", "none", says="no *.pattern, *.graph, *.q, *.query, and no query in a file without an ending, in this directory")


if __name__ == "__main__":
    harness.main()
