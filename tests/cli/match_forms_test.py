"""How matches are written: signs, times and flat CSV."""

import csv
import io

import harness
from harness import TRIANGLE

STREAM = "+\t1\t2\tT\t5\n+\t2\t3\tT\t6\n+\t3\t1\tU\t7.5\n-\t3\t1\tU\t8\n+\t3\t1\tU\t9\n"


class MatchForms(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("s.tsv", STREAM)
        self.args = ["replay", "--updates", "s.tsv", "--columns", "op,source,target,label,time", "--batch", 1, "--query", TRIANGLE]

    def listed(self, *args, name="m.jsonl"):
        """The lines, or the rows, that a run lists. The counts are those of both signs, always."""
        result = self.json(*self.args, "--emit", "matches", "--out", name, *args)
        self.assertEqual([(row["new"], row["removed"]) for row in result["queries"]], [(2, 1)])
        if name.endswith("l"):
            return self.lines(name)
        return list(csv.reader(io.StringIO(self.read(name))))

    def test_signs_filter_the_listing_only(self):
        for signs, wanted in (("both", "+-+"), ("new", "++"), ("removed", "-")):
            self.assertEqual("".join(row["sign"] for row in self.listed("--signs", signs)), wanted)
        self.assertEqual([row[3] for row in self.listed("--signs", "removed", name="m.csv")], ["sign", "-"])

    def test_signs_count_what_a_partial_listing_holds(self):
        self.write("s.tsv", "".join(f"+\t{a}\t{b}\n" for a in range(8) for b in range(8) if a != b))
        args = ["replay", "--updates", "s.tsv", "--query", TRIANGLE, "--max-matches", 5, "--emit", "matches", "--out", "m.jsonl"]
        for signs, wanted in (("new", 5), ("removed", 0)):
            self.assertEqual(self.run_program(*args, "--signs", signs).code, 1)
            self.assertEqual(self.lines("m.jsonl")[-1]["matches"], wanted)
            self.assertEqual(len(self.lines("m.jsonl")), wanted + 1)

    def test_times_are_numbers_or_iso(self):
        numbers = [row["time"] for row in self.listed()]
        self.assertEqual(numbers, [7500000, 8000000, 9000000])
        self.assertEqual([row["time"] for row in self.listed("--times", "us")], numbers)
        texts = ["1970-01-01T00:00:07.500000Z", "1970-01-01T00:00:08Z", "1970-01-01T00:00:09Z"]
        self.assertEqual([row["time"] for row in self.listed("--times", "iso")], texts)
        self.assertEqual([row[5] for row in self.listed("--times", "iso", name="m.csv")], ["time"] + texts)

    def test_flat_csv_has_a_column_for_each_value(self):
        rows = self.listed("--times", "iso", "--out-format", "flat", name="m.csv")
        self.assertEqual(rows[0], ["query", "sign", "id", "batch", "time", "a", "b", "c", "e1.label", "e2.label", "e3.label"])
        self.assertEqual(rows[1][:2] + rows[1][3:],
                         ["triangle", "+", "3", "1970-01-01T00:00:07.500000Z", "1", "2", "3", "T", "T", "U"])
        self.assertEqual([row[1] for row in rows[1:]], ["+", "-", "+"])

    def test_flat_csv_of_several_queries_has_the_columns_of_all(self):
        self.write("g.csv", "source,target,label\n=1+1,b,T\n")
        self.ok("match", "--graph", "g.csv", "--query", "one=(a)-[:T]->(b)", "--query", "two=(b)-[:T]->(z)", "--emit", "matches",
                "--out-format", "flat", "--out", "m.csv")
        rows = list(csv.reader(io.StringIO(self.read("m.csv"))))
        self.assertEqual(rows[0][5:], ["a", "b", "z"])
        self.assertEqual([(row[0], row[5:]) for row in rows[1:]], [("one", ["'=1+1", "b", ""]), ("two", ["", "'=1+1", "b"])])

    def test_a_sheet_opens_in_the_country_of_its_decimal_sign(self):
        self.write("p.csv", "at;from;to;amount\n05.01.2026 12:00:00;a;b;1.200,50\n")
        args = ["replay", "--updates", "p.csv", "--edges", "events", "--attributes", "amount:decimal(2)", "--columns", "source=from,target=to,time=at",
                "--time-format", "%d.%m.%Y %H:%M:%S", "--decimal", "comma", "--query", "one=(a)-[t]->(b) WHERE t.amount > 0", "--emit", "matches", "--out", "m.csv"]
        for sheet, mark, separator, amount in (("comma", "\ufeff", ";", "1200,50"), ("point", "\ufeff", ",", "1200.50")):
            self.ok(*args, "--sheet", sheet)
            text = self.read("m.csv")
            self.assertTrue(text.startswith(mark))
            rows = list(csv.reader(io.StringIO(text[1:]), delimiter=separator))
            self.assertEqual(rows[0], ["query", "sign", "time", "a", "b", "t.time", "t.amount", "id", "batch", "t.label", "t.ordinal"])
            self.assertEqual(rows[1][:7], ["one", "+", "2026-01-05 12:00:00", "a", "b", "2026-01-05 12:00:00", amount])

    def test_options_that_have_no_effect_are_refused(self):
        self.fails(2, *self.args, "--times", "iso", says="--times: no matches are written; add --emit matches")
        self.fails(2, *self.args, "--signs", "new", says="--signs: no matches are written; add --emit matches")
        for binary in (["--out", "m.dmm"], ["--out", "m", "--out-format", "binary"]):
            self.fails(2, *self.args, "--emit", "matches", *binary, "--times", "iso",
                       says="--times iso: binary matches have times in microseconds")
        self.fails(2, *self.args, "--sheet", "comma", says="--sheet: no CSV is written for a spreadsheet, and no page; add --emit matches")
        self.fails(2, *self.args, "--emit", "matches", "--out", "m.jsonl", "--sheet", "comma", says="--sheet: no CSV is written")
        self.fails(2, *self.args, "--emit", "matches", "--out", "m.csv", "--sheet", "comma", "--times", "iso",
                   says="--times: --sheet writes times as spreadsheets read them; leave one of the two out")
        self.fails(2, *self.args, "--emit", "matches", "--signs", "old", says="choose one of both|new|removed")


if __name__ == "__main__":
    harness.main()
