"""Lists of edges, csv and tsv that other programs wrote, and that may mean something else than what is read. Each gives a warning
with its place, and the remedy silences it. Lists that look alike and are plain give none."""

import json
import shlex

import harness

EDGE = "(a)-->(b)"
WINDOW = ("--window", "24h")
IN_2023 = 1_700_000_000


class Tables(harness.CliTest):
    def warnings(self, name, content, *args):
        self.write(name, content)
        told = []
        for command in (["match", "--graph"], ["replay", "--updates"]):
            outcome = self.run_program(*command, name, "--query", EDGE, "--json", *args)
            self.assertEqual(outcome.code, 0, outcome)
            told.append(json.loads(outcome.out)["warnings"])
        self.assertEqual(told[0], told[1])
        return told[0]

    def warned(self, name, content, code, *args, line=1, what=(), remedy=()):
        """Expects one warning."""
        (warning,) = self.warnings(name, content, *args)
        self.assertEqual((warning["code"], warning["where"]), (code, f"{name}:{line}"))
        for text in [what] if isinstance(what, str) else what:
            self.assertIn(text, warning["what"])
        for text in [remedy] if isinstance(remedy, str) else remedy:
            self.assertIn(text, warning["remedy"])
        return warning

    def silent(self, name, content, *args):
        self.assertEqual(self.warnings(name, content, *args), [], content)


class Sizes(Tables):
    def test_a_line_of_sizes_above_a_list_of_edges(self):
        edges = ((1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (1, 3), (2, 4))
        for name, between in (("e.txt", " "), ("e.tsv.txt", "\t")):
            text = "".join(f"{a}{between}{b}\n" for a, b in edges)
            self.warned(name, f"5{between}7\n" + text, "sizes_as_edge", what="7 records with ids from 1 to 5", remedy="sed 1d FILE")
            self.silent(name, text)
        self.warned("c.txt", "# sizes\n\n5 7\n" + "".join(f"{a} {b}\n" for a, b in edges), "sizes_as_edge", line=3, remedy="sed 3d FILE")
        self.warned("z.txt", "5 7\n" + "".join(f"{a - 1} {b - 1}\n" for a, b in edges), "sizes_as_edge", what="ids from 0 to 4")
        self.warned("h.csv", "5,7\n" + "".join(f"{a},{b}\n" for a, b in edges), "sizes_as_edge", "--columns", "source,target")

    def test_three_sizes(self):
        edges = "".join(f"{a} {b} {IN_2023 + a}\n" for a, b in ((1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (1, 3), (2, 4)))
        for sizes in ("5 5 7", "5 7 1"):
            codes = [w["code"] for w in self.warnings("e.txt", f"{sizes}\n" + edges)]
            self.assertIn("sizes_as_edge", codes, sizes)

    def test_first_edges_that_state_no_sizes(self):
        path = [(i, i + 1) for i in range(1, 8)]
        for first, edges in (((5, 6), path), ((8, 6), path), ((9, 7), path + [(9, 1)]), ((8, 7), [(0, 8)] + path[:-1]),
                             ((2, 2), [(1, 2), (2, 1)]), ((1, 3), [(1, 2), (1, 3), (1, 4)])):
            self.silent("e.txt", "".join(f"{a} {b}\n" for a, b in [first, *edges]))
        self.silent("n.csv", "source,target\n5,7\n" + "".join(f"{a},{b}\n" for a, b in path[:4]))

    def test_a_line_of_sizes_that_has_other_fields_than_edges(self):
        for text in ("5 7\n1 2 1\n", "5 7 11\n1 2\n", "4 5\n2 3 4\n1 3\n"):
            self.write("e.txt", text)
            outcome = self.run_program("match", "--graph", "e.txt", "--query", EDGE)
            self.assertEqual(outcome.code, 1, outcome)
            self.assertIn("e.txt:2: wrong_arity: ", outcome.err)
            self.assertIn("leave out the first record if it states the sizes of the graph, else correct the record", outcome.err)
        self.write("e.txt", "1 2\n2 3\n3 4 5\n")
        outcome = self.run_program("match", "--graph", "e.txt", "--query", EDGE)
        self.assertNotIn("sizes", outcome.err)

    def test_many_vertices_need_no_other_sign(self):
        edges = "".join(f"{i} {i % 100 + 1}\n" for i in range(1, 101))
        self.warned("e.txt", "100 100\n" + edges, "sizes_as_edge")


class Contacts(Tables):
    """Lists of contacts, whose first column is a time."""

    def test_a_first_column_of_times(self):
        rows = ((1385982020, 454, 640), (1385982020, 1, 939), (1385982040, 1, 939), (1385982060, 454, 640))
        for between in (" ", "\t"):
            for more in ("", f"{between}3"):
                text = "".join(between.join(map(str, row)) + more + "\n" for row in rows)
                skips = ",-" if more else ""
                self.warned("c.txt", text, "time_as_id", what="`1385982020` ascend as times do", remedy=f"--columns time,source,target{skips} reads it as the time")
                self.silent("c.txt", text, "--columns", "time,source,target" + skips)
                outcome = self.run_program("match", "--graph", "c.txt", "--query", EDGE, "--json", "--columns", "time,source,target" + skips)
                self.assertEqual(json.loads(outcome.out)["graph"]["vertices"], 4)

    def test_a_first_column_of_times_before_classes(self):
        self.write("h.txt", "1385982020\t454\t640\tMP\tMP\n1385982020\t1\t939\t2BIO3\t2BIO3\n")
        outcome = self.run_program("match", "--graph", "h.txt", "--query", EDGE)
        self.assertIn("--columns time,source,target,-,- reads the first column as the time", outcome.err)
        self.silent("h.txt", self.read("h.txt"), "--columns", "time,source,target,-,-")

    def test_large_ids_are_no_times(self):
        for rows in (((1385982020, 1385982021, 7), (1385982021, 1385982022, 8), (1385982025, 1385982023, 9)),
                     ((1385982020, 5, IN_2023), (1385982021, 6, IN_2023 + 1), (1385982022, 7, IN_2023 + 2)),
                     ((1385982020, 5, 1), (1385982021, 6, 2), (1385982000, 7, 3)), ((1385982020, 5, 1), (1385982020, 6, 2), (1385982020, 7, 3)),
                     ((1385982020, 5, 1), (1385982021, 6, 2), (1385982022, 7, 3), (8, 9, 4))):
            self.silent("i.txt", "".join(f"{a} {b} {c}\n" for a, b, c in rows))


class Directions(Tables):
    def test_a_column_that_says_undirected(self):
        for name, no in (("directed", "FALSE"), ("Directed", "false"), ("directed", "0"), ("oneway", "no"), ("is_directed", "False")):
            text = f"source,target,{name}\nA,B,{no}\nB,C,{no}\n"
            warning = self.warned("d.csv", text, "undirected_column", line=2, what=f"`{name}` is `{no}` in all records", remedy="--undirected reads them so")
            self.assertEqual(warning["count"], 2)
            self.silent("d.csv", text, "--directed")
            self.write("d.csv", text)
            outcome = self.run_program("match", "--graph", "d.csv", "--query", "e=(a)--(b)", "--json", "--undirected")
            self.assertEqual(json.loads(outcome.out)["warnings"], [])
        self.silent("d.csv", "source,target,directed\nA,B,FALSE\nB,C,TRUE\n")
        self.silent("d.csv", "source,target,directed\nA,B,TRUE\nB,C,FALSE\nC,D,FALSE\n")
        self.silent("d.csv", "source,target,directed\nA,B,\nB,C,FALSE\n")


class Comments(Tables):
    def test_comments_before_tabs(self):
        rows = "1\t2\tA\t1289241911\n2\t3\tA\t1289241912\n"
        for comment in ("# src dst label time", "# src\tdst\tlabel\ttime", "% 5 7"):
            self.silent("c.tsv", f"{comment}\n{rows}")
        self.warned("c.tsv", f"# an undirected graph\n{rows}", "undirected_comment")


class ThirdColumns(Tables):
    def test_weights_before_times(self):
        for weights in ("0.5 1 2", "1 -1 1", "2.0 3.0 3.0", " ".join(str(37 * i) for i in range(1, 20))):
            weights = weights.split()
            rows = [(str(i), str(i + 1), weight, str(IN_2023 + i)) for i, weight in enumerate(weights)]
            for name, between in (("w.txt", " "), ("w.tsv", "\t")):
                text = "".join(between.join(row) + "\n" for row in rows)
                (warning,) = self.warnings(name, text)
                self.assertEqual(warning["code"], "number_as_label")
                self.assertIn("as weights are", warning["what"])
                for option in ("source,target,-,time", "source,target,label,time"):
                    self.assertIn(f"--columns {option}", warning["remedy"])
                    self.silent(name, text, "--columns", option)

    def test_a_beginning_and_an_end(self):
        for begin, end in ((IN_2023, IN_2023 + 5), (1000 * IN_2023, IN_2023), ("2023-05-01", "2023-05-02")):
            text = "".join(f"{i} {i + 1} {begin} {end}\n" for i in range(3))
            self.warned("i.txt", text, "number_as_label", what="as times do", remedy="--columns source,target,time,- reads it as the time")

    def test_labels_that_are_numbers(self):
        for labels in (["1", "2", "1"], ["0"] * 20, [str(i % 5) for i in range(40)], ["7", "PAYS", "0.5"], ["", "1", "T"]):
            self.silent("l.tsv", "".join(f"+\t{i}\t{i + 1}\t{label}\t{IN_2023 + i}\n" for i, label in enumerate(labels)))

    def test_the_comment_of_konect(self):
        for kind in ("asym positive", "asym weighted"):
            rows = "".join(f"{i} {i + 1} 1 {IN_2023 + i}\n" for i in range(4))
            self.warned("k.txt", f"% {kind}\n% 4 5 5\n" + rows, "number_as_label", line=3, what="KONECT")
            self.silent("k.txt", f"% {kind}\n" + rows, "--columns", "source,target,-,time")
            rows = "".join(f"{i} {i + 1} {i}\n" for i in range(4))
            self.warned("k.txt", f"% {kind}\n" + rows, "weight_as_time", line=2, what="KONECT", remedy="--columns source,target,-")
            self.silent("k.txt", f"% {kind}\n" + rows, "--columns", "source,target,-")
        self.silent("k.txt", "% asym unweighted\n1 2\n2 3\n")


class Ids(Tables):
    def test_numbers_in_two_forms(self):
        for form, plain in (("1.0", "1"), ("007", "7"), ("+7", "7"), ("1e3", "1000"), ("-0", "0"), ("1.50e1", "15")):
            for first, then in ((form, plain), (plain, form)):
                text = f"source,target,label\n{first},B,T\nC,{then},T\n"
                self.warned("a.csv", text, "ids_alike", line=3, what=[f"`{form}`", f"`{plain}`"], remedy="write them alike")
                self.silent("a.csv", text, "--ids", "string")
                self.assertEqual([w["code"] for w in self.warnings("a.tsv", f"+\t{first}\tB\tT\t\n+\tC\t{then}\tT\t\n")], ["ids_alike"])
        self.warned("a.csv", "source,target\n7.0,B\nC,07\n", "ids_alike", line=3)
        (warning,) = self.warnings("a.csv", "source,target\n007,8\n9,7\n")
        self.assertIn("--ids integer reads both as one number", warning["remedy"])
        self.silent("a.csv", "source,target\n007,8\n9,7\n", "--ids", "integer")

    def test_numbers_in_one_form(self):
        for ids in (("1.0", "2.0", "2.5"), ("007", "008", "9"), ("1.2.3", "1", "1.2"), ("7a", "7", "7-1"), ("12e4x", "12", "0x7"),
                    ("1e", "1", "1."), ("99999999999.5", "99999999999", "1e99")):
            self.silent("a.csv", "source,target\n" + f"{ids[0]},{ids[1]}\n{ids[1]},{ids[2]}\n")

    def test_ids_that_a_spreadsheet_has_shortened(self):
        for form in ("4.1E+15", "1e+05", "6.02E+23"):
            text = f"source,target\nA,{form}\n"
            self.warned("x.csv", text, "id_shortened", line=2, what=f"`{form}`", remedy="export the column as text")
            self.silent("x.csv", text, "--ids", "string")

    def test_labels_and_edges_that_spell_ids_differently(self):
        self.write("e.csv", "source,target\n1,2\n")
        self.write("l.csv", "id,label\n1.0,A\n2.0,B\n")
        outcome = self.run_program("match", "--graph", "e.csv", "--labels", "l.csv", "--query", EDGE, "--json")
        (warning,) = json.loads(outcome.out)["warnings"]
        self.assertEqual((warning["code"], warning["where"]), ("ids_alike", "e.csv"))
        self.assertIn("`1.0` in l.csv", warning["what"])

    def test_lists_of_addresses(self):
        for cell in ('"b@e.com, c@e.com"', "b@e.com;c@e.com", "b@e.com; c@e.com", '"""B, C"" <b@e.com>, d@e.com"'):
            text = f"from,to\na@e.com,{cell}\nb@e.com,a@e.com\n"
            self.warned("m.csv", text, "several_ids", line=2, what="is a list of addresses")
            self.silent("m.csv", text, "--ids", "string")
        self.warned("m.jsonl", '{"from":"a@e.com","to":"b@e.com,c@e.com"}\n', "several_ids")
        self.silent("m.csv", 'from,to\n"Ann, B <a@e.com>",b@e.com\nx@y@z.org,c;d@e.com\n')

    def test_labels_of_other_vertices(self):
        self.write("e.txt", "1 2\n2 3\n")
        for command in (["match", "--graph", "e.txt"], ["replay", "--updates", "e.txt"]):
            for labels, codes in (("id,label\nN1,A\nN2,B\n", ["labels_unused"]), ("id,label\n7,A\n8,B\n", ["labels_unused"]),
                                  ("id,label\nN1,A\n3,B\n", []), ("id,label\n1.0,A\n", ["ids_alike"])):
                self.write("l.csv", labels)
                outcome = self.run_program(*command, "--labels", "l.csv", "--query", EDGE, "--json")
                warnings = json.loads(outcome.out)["warnings"]
                self.assertEqual([w["code"] for w in warnings], codes, labels)
        self.assertEqual(len(warnings), 1)

    def test_words_for_missing_ids(self):
        for word in ("N/A", "NA", "n/a", "nil", "(null)", "-", "#N/A", "<NA>", "undefined", "?"):
            text = f"source,target,label\nA,B,T\nB,{word},T\n{word},C,T\n"
            warning = self.warned("m.csv", text, "missing_as_id", line=3, what=[f"target `{word}`", "one vertex"], remedy="quotes around it")
            self.assertEqual(warning["count"], 2)
            self.silent("m.csv", text, "--ids", "string")
            self.silent("m.csv", f'source,target,label\nA,"{word}",T\n')
            (warning,) = self.warnings("m.tsv", f"+\tA\tB\tT\t\n+\tB\t{word}\tT\t\n")
            self.assertEqual(warning["code"], "missing_as_id")
        self.silent("m.csv", "source,target\nNAB,nile\nu1,underlined\nn,-a\nNo,n1\n")

    def test_quotes_that_are_part_of_ids(self):
        text = "source,target,label\n'A','B',T\n"
        self.warned("q.csv", text, "quotes_as_id", line=2, what="csv has double quotes only", remedy="tr -d \"'\" <FILE")
        self.silent("q.csv", text, "--ids", "string")
        for mark in ("'", '"'):
            text = f"+\t{mark}A{mark}\t{mark}B{mark}\tT\t1700000000\n"
            warning = self.warned("q.tsv", text, "quotes_as_id", what=f"`{mark}A{mark}`")
            command = shlex.split(warning["remedy"].split(": ")[1].split(" <FILE")[0])
            self.assertEqual(command, ["tr", "-d", mark])
        self.silent("q.csv", "source,target\nD'Arcy,'t Hooft\n\"'s\",x'\n")

    def test_records_that_may_be_comments(self):
        text = "source,target,label\nA,B,T\n#B,C,T\nC,A,T\n"
        self.warned("c.csv", text, "comment_as_record", line=3, what="`#B,C,T`", remedy="grep -v '^#' FILE")
        self.silent("c.csv", text, "--ids", "string")
        tabs = "+\tA\tB\tT\t\n" * 2 + "#A\tB\tT\t\n"
        self.assertEqual([w["code"] for w in self.warnings("c.tsv", tabs)], ["comment_as_record"])
        self.silent("t.csv", "source,target\n#cats,A\n#dogs,A\n#cats,B\n")
        self.silent("t.csv", "source,target\nA,#cats\nB,#dogs\n")


class Times(Tables):
    def test_one_zero_among_times(self):
        times = [IN_2023 + i for i in range(300)]
        for at in (0, 150, 299):
            values = times[:at] + [0] + times[at + 1:]
            text = "source,target,time\n" + "".join(f"{i},{i + 1},{time}\n" for i, time in enumerate(values))
            self.warned("z.csv", text, "mixed_times", line=at + 2, what="1 of 300 is 0, the beginning of 1970")
            self.silent("z.csv", text, "--time-unit", "s")
        self.silent("s.csv", "source,target,time\n" + "".join(f"{i},{i + 1},{i}\n" for i in range(9)))

    def test_dates_without_separators(self):
        for times, form in ((("20231231", "20240101"), "%Y%m%d"), (("202312312359", "202401010000"), "%Y%m%d%H%M")):
            text = "source,target,time\n" + "".join(f"A,{i},{time}\n" for i, time in enumerate(times))
            self.warned("d.csv", text, "date_as_number", line=2, what=f"`{times[0]}`", remedy=f"--time-format {form} reads them so")
            self.silent("d.csv", text, "--time-format", form)
            self.write("d.csv", text)
            for window in ("1s", "24h"):
                outcome = self.run_program("replay", "--updates", "d.csv", "--query", EDGE, "--json", "--window", window, "--max-ahead", "none")
                self.assertEqual([w["code"] for w in json.loads(outcome.out)["warnings"]], ["date_as_number"], outcome)
        lines = '{"source":1,"target":2,"time":20231231235959}\n{"source":2,"target":3,"time":20240101000000}\n'
        self.warned("d.jsonl", lines, "date_as_number", remedy="--time-format %Y%m%d%H%M%S")
        self.silent("d.jsonl", lines, "--time-format", "%Y%m%d%H%M%S")
        self.silent("n.csv", "source,target,time\nA,B,20231231\nA,C,20231301\n")


class Headers(harness.CliTest):
    """What a header lacks, and what to give in its place."""
    GERMAN = "Buchungstag;Auftraggeber IBAN;Empfänger IBAN;Betrag (€)\n2026-03-02;A;B;36,74\n"
    READ = ("--edges", "events", "--attributes", "amount:decimal(2)", "--query", EDGE)

    def test_given_roles_stay_and_likely_columns_are_named(self):
        self.write("g.csv", self.GERMAN)
        ends = "source=Auftraggeber IBAN,target=Empfänger IBAN"
        for given, advice in (("time=Datum", ends + ",time=Buchungstag"), ("time=Buchungstag", "time=Buchungstag," + ends)):
            self.fails(1, "match", "--graph", "g.csv", *self.READ, "--columns", given, says=[
                "`Buchungstag;Auftraggeber IBAN;Empfänger IBAN;Betrag (€)`", f"give --columns '{advice},amount=Betrag (€)'"])
        self.fails(1, "match", "--graph", "g.csv", *self.READ, "--columns", "source=Auftraggeber IBAN,target=Empfänger IBAN", says=[
            "give --columns 'source=Auftraggeber IBAN,target=Empfänger IBAN,amount=Betrag (€)', or "])

    def test_the_advice_reads_the_file(self):
        self.write("g.csv", self.GERMAN)
        columns = "time=Buchungstag,source=Auftraggeber IBAN,target=Empfänger IBAN,amount=Betrag (€)"
        self.fails(1, "match", "--graph", "g.csv", *self.READ, "--columns", columns, says="--decimal comma reads 1.200,50")
        self.ok("match", "--graph", "g.csv", *self.READ, "--columns", columns, "--decimal", "comma")
        self.ok("convert", "g.csv", "g.jsonl", "--to", "jsonl", *self.READ[:4], "--columns", columns, "--decimal", "comma")
        self.assertEqual(json.loads(self.read("g.jsonl"))["amount"], "36.74")
        self.ok("replay", "--graph", "g.csv", "--updates", "g.csv", *self.READ, "--columns", columns, "--decimal", "comma",
                "--graph-columns", columns, "--graph-decimal", "comma")

    def test_a_header_that_is_not_utf_8_is_to_be_converted(self):
        self.write("g.csv", self.GERMAN.encode("cp1252"))
        self.fails(1, "match", "--graph", "g.csv", *self.READ, "--columns", "time=Buchungstag,source=Auftraggeber IBAN,target=Empfänger IBAN",
                   says=["Empf\\xe4nger", "has no column `Empfänger IBAN` for target", "iconv -f cp1252 -t utf-8 FILE > utf8.csv"])


class Nothing(harness.CliTest):
    def test_an_input_without_records_is_doubtful(self):
        for name, content in (("empty.csv", ""), ("header.csv", "source,target\n")):
            self.write(name, content)
            for command in (("replay", "--updates", name, "--query", EDGE), ("match", "--graph", name, "--query", EDGE),
                            ("convert", name, "x.dmu", "--to", "binary")):
                self.ok(*command, warns=f"{name}: there are no records")

    def test_convert_warns_of_times_that_it_does_not_read(self):
        self.write("s.csv", "source,target,Datum\n1,2,2026-03-02\n")
        self.ok("convert", "s.csv", "x.dmu", "--to", "binary", warns="--columns time=Datum reads `Datum` as the time")
        for columns in ("time=Datum", "time="):
            self.ok("convert", "s.csv", "x.dmu", "--to", "binary", "--columns", columns)

    def test_a_day_that_does_not_exist_is_named(self):
        self.write("s.csv", "source,target,time\n1,2,2026-02-31\n")
        self.fails(1, "match", "--graph", "s.csv", "--query", EDGE, says="time `2026-02-31` is not a time: there is no such day")

    def test_after_an_error_there_is_no_table_of_nothing(self):
        self.write("s.csv", "source,target,time\n1,2,x\n")
        outcome = self.fails(1, "replay", "--updates", "s.csv", "--query", EDGE)
        self.assertEqual(outcome.err.count("\n"), 1, outcome)
        self.fails(1, "replay", "--updates", "s.csv", "--query", EDGE, "--json", reports=True)
        self.write("s.csv", "source,target,time\n1,2,3\n1,3,x\n")
        self.fails(1, "replay", "--updates", "s.csv", "--query", EDGE, reports=True)


class Outputs(harness.CliTest):
    def test_an_ending_of_no_format_is_refused(self):
        self.write("s.csv", "source,target\n1,2\n")
        for command in (("replay", "--updates"), ("match", "--graph")):
            run = (*command, "s.csv", "--query", EDGE, "--emit", "matches", "--out")
            self.fails(2, *run, "a.xlsx", says=["the ending '.xlsx'", "choose one of .jsonl .ndjson .json .txt .csv .dmm .html"])
            for name in ("a", "a.jsonl", "a.json", "a.ndjson", "a.txt", "/dev/null"):
                self.ok(*run, name)
            self.ok(*run, "b.xlsx", "--out-format", "csv")

    def test_csv_has_no_list_of_vertices(self):
        self.write("s.csv", "source,target\n1,2\n")
        self.fails(2, "replay", "--updates", "s.csv", "--query", EDGE, "--top", 3, "--csv", says="choose --json, which has both")


if __name__ == "__main__":
    harness.main()
