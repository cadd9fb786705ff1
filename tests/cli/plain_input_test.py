"""Inputs that are plain give no warning. Each is one that a rule about doubtful readings might take for another. A rule that is too
eager fails here."""

import glob
import itertools
import json
import pathlib
import random

import harness

EDGE = "e=(a)-->(b)"
IN_2023 = 1_700_000_000
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Plain(harness.CliTest):
    def silent(self, name, content, *args):
        self.write(name, content)
        for command in (["match", "--graph"], ["replay", "--updates"]):
            result = self.json(*command, name, "--query", EDGE, *args)
            self.assertEqual(result["warnings"], [], content[:300])

    def test_tables_with_other_columns(self):
        columns = {"status": ["ok", "pending", "shipped"], "state": ["NY", "CA", "TX"], "event": ["click", "view", "purchase"],
                   "action": ["buy", "sell", "hold"], "channel": ["web", "app", "mail"], "amount": ["1", "2.50", "1,000"],
                   "currency": ["EUR", "USD", "CHF"], "note": ["deleted scene", "see above", ""], "valid": ["a", "b", "c"],
                   "removed": ["3", "0", "17"], "active": ["12", "0", "7"], "valid_to": ["", "NULL", "9999-12-31"], "deleted_at": ["", "", ""],
                   "is_deleted": ["false", "f", "0"], "is_active": ["true", "t", "1"], "voided": ["0", "no", ""], "comment": ["...", "Total", "-"],
                   "created_at": ["2023-01-01", "2023-01-02", ""], "link": ["http://a", "http://b", "c"], "open": ["1.5", "1.6", "1.7"],
                   "close": ["1.4", "1.6", "1.8"], "change": ["0.1", "-0.2", "0"], "verb": ["run", "walk", "sit"], "cmd": ["ls", "cat", "dd"],
                   "diff": ["-1", "1", "0.5"], "delta": ["1", "1", "1"], "mz_diff": ["1", "+1", "1"], "kind": ["left", "down", "off"],
                   "exists": ["true", "yes", "1"], "live": ["0", "14", "2"], "current": ["0", "1", "2.5"], "present": ["3", "0", "1"],
                   "valid_until": ["2099-12-31", "4712-12-31", "9999-12-31"], "end_date": ["2020-01-01", "2021-01-01", "2022-01-01"],
                   "ended_at": ["", "", ""], "left_at": ["5", "6", "7"], "archived": ["", "no", "0"], "archive": ["x", "", "y"],
                   "description": ["deleted", "undo this", "no longer friends"], "message": ["please remove it", "undo", "reverted"],
                   "opcode": ["JMP", "MOV", "RET"], "del": ["3", "1", "0"], "gone": ["1", "7", "2"], "RecordStatus": ["A", "B", "C"], "directed": ["TRUE", "FALSE", "TRUE"], "oneway": ["yes", "no", "no"],
                   "RECORDMODE": ["", "N", "A"], "ENTTYP": ["PT", "PX", "UP"], "LOEKZ": ["", "", ""], "ROCANCEL": ["", "", ""], "dml_flag": ["I", "U", "I"],
                   "s": ["1", "2", "3"], "t": ["1", "2", "3"], "grade": ["A", "R", "F"]}
        for name, values in columns.items():
            cells = ['"%s"' % value if "," in value else value for value in values]
            self.silent("t.csv", f"source,target,{name}\n" + "".join(f"a{i},b{i},{cell}\n" for i, cell in enumerate(cells)))
            self.silent("t.jsonl", "".join(json.dumps({"source": i, "target": i + 1, name: value}) + "\n" for i, value in enumerate(values)
                                           if not (name in ("removed", "active") and value == "0")))

    def test_objects_beside_the_ends(self):
        for meta in ({"operation": "insert"}, {"op": "c"}, {"status": "closed"}, {"state": "removed"}, {"x": {"op": "d"}}, {"tags": ["delete"]}, {}, "delete", None,
                     ["op", "d"], {"deleted": False}, {"a.op": "d"}):
            for name in ("metadata", "_meta", "header", "properties", "attrs"):
                self.silent("m.jsonl", "".join(json.dumps({"source": i, name: meta, "target": i + 1}) + "\n" for i in range(3)))
        self.silent("m.jsonl", '{"source":1,"target":2,"properties":{"op":"delete"}}\n{"source":2,"target":3,"old":{"target":7}}\n')

    def test_two_columns_that_count(self):
        rows = [{"source": i, "target": i + 1, "diff": diff, "delta": delta, "ended_at": "2021-01-01", "left_at": "2021-02-03"}
                for i, (diff, delta) in enumerate([(3, 5), (-1, 1), (1, -1), (7, 0)])]
        self.silent("d.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.silent("d.csv", "source,target,diff,delta\n" + "".join(f"{row['source']},{row['target']},{row['diff']},{row['delta']}\n" for row in rows))

    def test_numbers_with_signs(self):
        """Edge lists whose ids are numbers below zero, or have a sign for another reason."""
        for text in ("-1 2\n1 2\n-3 -1\n", "1 2\n+ 1 2\n- 1 2\n", "+1 2\n+2 3\n", "-1 +1\n+1 -1\n", "+ 1 2\n+ 2 3\n- 1 2\n", "1 2\n2 -3\n"):
            self.silent("n.txt", text)
            self.silent("n.tsv", text.replace(" ", "\t"))

    def test_labels(self):
        for labels in (["PAYS", "KNOWS"], ["FRIEND_OF", "CLOSE_TO"], ["open", "close"][:1], ["follows", "likes"], ["READ", "WRITE"],
                       ["CREATED_BY", "REMOVED_BY"], ["left", "right"], ["up", "down"], ["in", "out"], ["GET", "POST", "DELETE"],
                       ["Nominee", "Nun", "null-hypothesis", "nano"], ["NA", "-"], ["Type A", "Straße"], ["active", "open"]):
            for name in ("label", "type"):
                self.silent("l.csv", f"source,target,{name}\n" + "".join(f"{i},{i + 1},{label}\n" for i, label in enumerate(labels)))
                self.silent("l.jsonl", "".join(json.dumps({"source": i, "target": i + 1, name: label}) + "\n" for i, label in enumerate(labels)))

    def test_ids(self):
        for ids in (["acct-1", "acct-2"], ["Tom", "Sue"], ["Totalenergies", "Summer"], [".net", "_id"], ["東京", "Zürich"], ["0xff", "-5"],
                    ["a.b", "a,b"], ["1.5", "2.5"], ["user@x", "#1"], ["ann@x.com", "Bob, B <b@x.com>"], ["a@b@c.example", "x;y@z.example"], ["grand hotel", "Subway"], ["x--y", "a...b"], ["10,5", "1,2,3"]):
            self.silent("i.csv", "source,target\n" + f'"{ids[0]}","{ids[1]}"\n' * 3 + f'"{ids[1]}",z\n')
            self.silent("i.jsonl", json.dumps({"source": ids[0], "target": ids[1]}) + "\n")
            self.silent("i.tsv", f"+\t{ids[0]}\t{ids[1]}\tT\t\n" if ids[0][0] != "#" else "+\ta\tb\tT\t\n")

    def test_small_graphs(self):
        """Rings, paths, stars and cliques, in several orders: few of their first edges pass for sizes."""
        graphs = []
        for n in (3, 4, 5):
            path = [(i, i + 1) for i in range(1, n)]
            graphs += [path, path + [(n, 1)], [(1, i) for i in range(2, n + 1)], [(n, i) for i in range(1, n)],
                       list(itertools.combinations(range(1, n + 1), 2))]
        for edges in graphs:
            orders = [edges, edges[::-1], [(b, a) for a, b in edges], [(b, a) for a, b in edges[::-1]]]
            for order in orders:
                for less in (0, 1):
                    self.write("g.txt", "".join(f"{a - less} {b - less}\n" for a, b in order))
                    outcome = self.run_program("match", "--graph", "g.txt", "--query", EDGE, "--json")
                    self.assertEqual(json.loads(outcome.out)["warnings"], [], order)

    def test_random_graphs(self):
        draw = random.Random(7)
        warned = 0
        for _ in range(40):
            n = draw.randint(3, 12)
            edges = [(draw.randint(1, n), draw.randint(1, n)) for _ in range(draw.randint(2, 20))]
            self.write("g.txt", "".join(f"{a} {b}\n" for a, b in edges))
            warned += len(json.loads(self.run_program("match", "--graph", "g.txt", "--query", EDGE, "--json").out)["warnings"])
        self.assertLessEqual(warned, 2)

    def test_what_the_program_writes(self):
        self.ok("generate", "payments", "--records", 5000, "--accounts", 1000, "--planted", 5, "--updates", "p.csv", "--truth", "t.csv")
        self.assertEqual(self.json("replay", "--updates", "p.csv", "--query", EDGE, "--window", "24h")["warnings"], [])
        for to in ("jsonl", "binary"):
            self.ok("convert", "p.csv", "x." + to, "--to", to)
            self.assertEqual(self.json("replay", "--updates", "x." + to, "--query", EDGE, "--window", "24h")["warnings"], [], to)

    def test_the_data_of_tests_and_queries(self):
        files = [path for kind in ("tve", "graph") for path in glob.glob(f"{ROOT}/tests/**/*.{kind}", recursive=True)]
        for path in sorted(files)[:50]:
            outcome = self.run_program("match", "--graph", path, "--query", "e=(a)--(b)", "--json")
            if outcome.code == 0:
                self.assertEqual(json.loads(outcome.out)["warnings"], [], path)

    def test_every_code_is_described(self):
        """A new kind of warning comes with its row in the table, and with a test that names it."""
        page = (ROOT / "docs/reference/formats.md").read_text()
        tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*_test.*") if path.name != "plain_input_test.py")
        for code in CODES:
            self.assertIn(f"`{code}`", page)
            self.assertIn(code, tests)


CODES = ["time_unit", "mixed_times", "date_as_number", "empty_times", "time_ahead", "weight_as_time", "number_as_label", "sizes_as_edge",
         "ids_alike", "id_shortened", "id_grouped", "missing_as_id", "null_as_label", "invisible_in_id", "invisible_in_label",
         "footer_as_record", "quotes_as_id", "comment_as_record", "ids_of_two_kinds", "two_names", "operation_unread", "header_repeated",
         "header_as_record", "several_labels", "sign_in_id", "undirected_comment", "bipartite_comment", "late", "absent_deletes", "refused", "time_as_id", "undirected_column",
         "several_ids", "labels_unused"]


if __name__ == "__main__":
    harness.main()
