"""Words of other programs that would be read in silence: operations that nobody has named, flags, sums below a table. Each gives a
warning with its place, and what the remedy says is read rightly."""

import json
import re
import shlex

import harness

EDGE = "e=(a)-->(b)"
OPTION = re.compile(r"--(columns|op-values) ('[^']*'|[^\s;,]+(?:,[^\s;,]+)*)")


class Names(harness.CliTest):
    def warnings(self, name, content, *args):
        """The warnings of match, which must be those of replay too."""
        self.write(name, content)
        told = []
        for command in (["match", "--graph"], ["replay", "--updates"]):
            outcome = self.run_program(*command, name, "--query", EDGE, "--json", *args)
            self.assertEqual(outcome.code, 0, outcome)
            told.append(json.loads(outcome.out)["warnings"])
            self.assertEqual(outcome.err.count("deltamatch: warning: "), len(told[-1]), outcome)
        self.assertEqual(told[0], told[1])
        return told[0]

    def warned(self, name, content, code, *args, line=None, what=""):
        (warning,) = self.warnings(name, content, *args)
        self.assertEqual(warning["code"], code, content)
        self.assertIn(what, warning["what"])
        if line:
            self.assertEqual(warning["where"], f"{name}:{line}")
        return warning

    def silent(self, name, content, *args):
        self.assertEqual(self.warnings(name, content, *args), [], content)

    def edges(self, name, *args):
        outcome = self.run_program("match", "--graph", name, "--query", EDGE, "--emit", "matches", *args)
        if outcome.code != 0:
            return None, outcome.err
        return [tuple(json.loads(line)["edges"][0]) for line in outcome.out.splitlines() if line.startswith("{")], outcome.err

    def follow(self, name, remedy, *args):
        """Does what the first part of a remedy says, and then what refusals say. Returns the edges."""
        options = {option: shlex.split(value)[0] for option, value in OPTION.findall(remedy.split(" read")[0])}
        self.assertTrue(options, remedy)
        for _ in range(6):
            found, err = self.edges(name, *args, *(word for option, value in options.items() for word in ("--" + option, value)))
            if found is not None:
                return sorted(found, key=str)
            advised = OPTION.findall(err)
            self.assertTrue(advised, err)
            options[advised[0][0]] = shlex.split(advised[0][1])[0]
        return self.fail(err)


class Operations(Names):
    WORDS = [("add_edge", "remove_edge"), ("EdgeAdded", "EdgeRemoved"), ("edge.create", "edge.delete"), ("friended", "unfriended"),
             ("FriendshipAdded", "FriendshipRemoved"), ("opened", "terminated")]
    ENDS = [("join", "leave"), ("link.up", "link.down"), ("activated", "deactivated")]

    def test_words_in_a_column_with_a_telling_name(self):
        for insert, delete in self.WORDS + self.ENDS:
            for name in ("action",) if insert != "join" else ("event", "status"):
                text = f"source,target,{name}\n1,2,{insert}\n2,3,{insert}\n1,2,{delete}\n"
                warning = self.warned("a.csv", text, "operation_unread", line=4, what=f"`{name}` is ignored; its value `{delete}` looks like")
                self.assertEqual(self.follow("a.csv", warning["remedy"]), [(2, "", 3)], (warning, insert))
                self.silent("a.csv", text, "--columns", "op=")
                rows = [{"source": 1, "target": 2, name: insert}, {"source": 2, "target": 3, name: insert}, {"source": 1, "target": 2, name: delete}]
                lines = "".join(json.dumps(row) + "\n" for row in rows)
                warning = self.warned("a.jsonl", lines, "operation_unread", line=3)
                self.assertEqual(self.follow("a.jsonl", warning["remedy"]), [(2, "", 3)])

    def test_words_in_any_column_that_has_nothing_else(self):
        for insert, delete in self.WORDS:
            warning = self.warned("a.csv", f"source,target,what\n1,2,{insert}\n2,3,{insert}\n1,2,{delete}\n", "operation_unread", line=4)
            self.assertEqual(self.follow("a.csv", warning["remedy"]), [(2, "", 3)])
            self.silent("a.csv", f"source,target,what\n1,2,{insert}\n1,2,{delete}\n2,3,other\n")
            self.silent("a.csv", f"source,target,what\n1,2,{insert}\n2,3,{insert}\n")

    def test_words_that_are_the_label(self):
        for insert, delete in self.WORDS:
            for name in ("type", "label"):
                rows = [(1, 2, insert), (2, 3, insert), (1, 2, delete)]
                self.write("a.csv", f"source,target,{name}\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
                warning = self.warned("a.csv", self.read("a.csv"), "operation_unread", line=4)
                self.assertEqual(self.follow("a.csv", warning["remedy"]), [(2, "", 3)])
                self.silent("a.csv", self.read("a.csv"), "--columns", f"label={name}")

    def test_a_type_that_says_a_removal_among_other_types_or_alone(self):
        for types in (("PAYS", "drop"), ("PAYS", "KNOWS", "expired"), ("terminated",), ("expired", "expired"), ("transfer", "edge.deleted")):
            lines = "".join(json.dumps({"source": i, "target": i + 1, "type": word}) + "\n" for i, word in enumerate(types))
            self.warned("t.jsonl", lines, "operation_unread", what="looks like a deletion; the record inserts")
            self.silent("t.jsonl", lines, "--columns", "label=type")
            self.silent("t.jsonl", lines.replace('"type"', '"label"'))

    def test_labels_that_name_relations(self):
        for labels in (("FRIEND_OF", "CLOSE_TO"), ("CREATED_BY", "DELETED_BY"), ("GET", "POST", "DELETE"), ("open", "closed", "PAYS"),
                       ("KNOWS", "LIKES"), ("not_deleted", "added"), ("read", "write")):
            self.silent("l.csv", "source,target,type\n" + "".join(f"1,{i},{label}\n" for i, label in enumerate(labels)))

    def test_other_values_of_such_columns(self):
        for name, values in (("event", ("click", "view", "purchase")), ("status", ("undeleted", "ok")), ("state", ("NY", "CA")),
                             ("action", ("down_payment", "leave_a_note")), ("what", ("close", "far")), ("note", ("left-handed", "endless"))):
            self.silent("a.csv", f"source,target,{name}\n" + "".join(f"1,{i},{value}\n" for i, value in enumerate(values)))

    def test_signs_of_changes(self):
        for name in ("_sign", "diff", "mz_diff", "delta", "sign"):
            for plus in ("1", "+1"):
                text = f"source,target,{name}\n1,2,{plus}\n2,3,{plus}\n1,2,-1\n"
                self.write("s.csv", text)
                remedy = self.fails(1, "match", "--graph", "s.csv", "--query", EDGE).err if name == "sign" else self.warned(
                    "s.csv", text, "operation_unread", line=4)["remedy"]
                self.assertIn(f"--op-values '{plus}=+;-1=-'", remedy)
        self.silent("s.csv", "source,target,diff\n1,2,1\n1,3,-1\n1,4,5\n")

    def test_a_sign_that_may_be_an_operation_or_none(self):
        """Networks of friends and enemies have signs too."""
        self.write("s.csv", "source,target,sign\n1,2,1\n2,3,1\n1,2,-1\n")
        outcome = self.fails(1, "match", "--graph", "s.csv", "--query", EDGE, says="if it says no operation, leave it out with --columns op=")
        self.assertEqual(self.follow("s.csv", outcome.err.split("; if it says no")[0]), [(2, "", 3)])
        self.assertEqual(sorted(self.edges("s.csv", "--columns", "op=")[0]), [(1, "", 2), (2, "", 3)])
        self.write("n.csv", self.read("s.csv").replace("source", "payer"))
        self.fails(1, "match", "--graph", "n.csv", "--query", EDGE, "--columns", "source=payer", says="--columns source=payer,op=")

    def test_changes_by_one(self):
        for plus in ("1", "+1"):
            warning = self.warned("c.csv", f"source,target,change\n1,2,{plus}\n2,3,{plus}\n1,2,-1\n", "operation_unread", line=4)
            self.assertIn(f"--op-values '{plus}=+;-1=-'", warning["remedy"])
            self.assertEqual(self.follow("c.csv", warning["remedy"]), [(2, "", 3)])
        self.warned("c.jsonl", '{"source":1,"target":2,"change":1}\n{"source":1,"target":2,"change":-1}\n', "operation_unread")
        self.silent("c.csv", "source,target,change\n1,2,1\n1,3,-1\n1,4,0.5\n")
        self.warned("c.csv", "source,target,change\n1,2,add\n1,2,remove\n", "operation_unread", line=3)

    def test_a_third_column_of_ones_in_an_edge_list(self):
        for rows in ("1 2 1\n2 3 1\n1 2 -1\n", "1 2 1\n1 2 -1\n"):
            warning = self.warned("o.txt", rows, "weight_as_time", line=1)
            words = shlex.split(re.search(r"deletes, (.*) read it", warning["remedy"])[1])
            self.assertEqual(words, ["--columns", "source,target,op", "--op-values", "1=+;-1=-"])
            self.assertEqual(self.edges("o.txt", *words)[0], [(2, "", 3)] if "2 3" in rows else [])
        self.assertNotIn("deletes", self.warned("o.txt", "1 2 2\n2 3 1\n1 2 -1\n", "weight_as_time")["remedy"])

    CHANGE_DATA = (("SYS_CHANGE_OPERATION", "I", "D"), ("VERSIONS_OPERATION", "I", "D"), ("DML_FLAG", "I", "D"), ("dms_op", "I", "D"),
                   ("transact_op", "I", "D"), ("IUD", "I", "D"), ("RECORD_METADATA_OP", "c", "d"), ("ODQ_CHANGEMODE", "C", "D"),
                   ("RECORDMODE", "N", "D"), ("0RECORDMODE", "", "R"), ("ENTTYP", "PT", "DL"), ("ROCANCEL", "", "X"), ("RecordStatus", "A", "D"),
                   ("_PEERDB_IS_DELETED", "false", "true"), ("__hevo__marked_deleted", "false", "true"), ("_snowflake_deleted", "FALSE", "TRUE"),
                   ("x_deleted", "0", "1"), ("del_flag", "0", "1"), ("delete_flag", "N", "Y"), ("del", "0", "1"), ("gone", "no", "yes"),
                   ("LOEKZ", "", "X"), ("LOEKZ", "", "L"), ("DELFLG", "", "X"))

    def test_columns_of_change_data(self):
        for name, insert, delete in self.CHANGE_DATA:
            rows = [(1, 2, insert), (2, 3, insert), (1, 2, delete)]
            warning = self.warned("k.csv", f"source,target,{name}\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows), "operation_unread", line=4)
            self.assertEqual(self.follow("k.csv", warning["remedy"]), [(2, "", 3)], warning)
            self.silent("k.csv", f"source,target,{name}\n" + "".join(f"{a},{b},{insert}\n" for a, b, c in rows))
            lines = "".join(json.dumps({"source": a, "target": b, name: c}) + "\n" for a, b, c in rows)
            warning = self.warned("k.jsonl", lines, "operation_unread", line=3)
            self.assertEqual(self.follow("k.jsonl", warning["remedy"]), [(2, "", 3)], warning)

    def test_operations_in_an_object_beside_the_ends(self):
        for outer, inner, insert, delete in (("metadata", "operation", "insert", "delete"), ("_meta", "op", "c", "d"), ("header", "changeType", "INSERT", "DELETE"),
                                             ("headers", "operation", "I", "D"), ("meta", "deleted", False, True)):
            rows = [(1, 2, insert), (2, 3, insert), (1, 2, delete)]
            for order in (1, -1):
                lines = "".join(json.dumps(dict([("source", a), ("target", b), (outer, {"x": {"op": "d"}, inner: c, "y": 1})][::order])) + "\n" for a, b, c in rows)
                warning = self.warned("m.jsonl", lines, "operation_unread", line=3, what=f"`{outer}.{inner}` is ignored")
                self.assertEqual(self.follow("m.jsonl", warning["remedy"]), [(2, "", 3)], warning)
                self.silent("m.jsonl", lines, "--columns", "op=")
            self.assertEqual(self.warned("m.jsonl", lines.replace('"y": 1', '"t": 1700000000000000'), "operation_unread", "--columns", f"time={outer}.t")["count"], 1)

    def test_signs_before_sources(self):
        warning = self.warned("s.txt", "+1 2\n+2 3\n-1 2\n", "sign_in_id", line=1)
        self.assertIn("sed 's/^[+-]/& /' FILE", warning["remedy"])
        self.silent("s.txt", "-1 2\n1 2\n")

    def test_ends_in_some_rows_and_free_text(self):
        self.warned("e.csv", "source,target,ended_at\n1,2,\n2,3,2021-01-01\n", "operation_unread", line=3)
        self.silent("e.csv", "source,target,end_date\n1,2,2020-01-01\n2,3,2021-01-01\n")
        self.silent("e.csv", "source,target,comment\n1,2,please delete\n2,3,removed\n")

    def test_an_operation_column_whose_words_are_unknown(self):
        self.write("o.csv", "source,target,op\n1,2,add_edge\n2,3,add_edge\n1,2,remove_the_edge_from_the_graph\n")
        outcome = self.fails(1, "match", "--graph", "o.csv", "--query", EDGE, says="--op-values 'add_edge=+' (inserts) or add_edge=- (deletes)")
        self.assertEqual(self.follow("o.csv", OPTION.search(outcome.err)[0] + " reads"), [(2, "", 3)])


class Flags(Names):
    def test_flags_that_are_true_as_long_as_the_edge_is_there(self):
        for name in ("_fivetran_active", "is_active", "active", "isCurrent", "is_valid", "enabled"):
            for yes, no in (("true", "false"), ("TRUE", "FALSE"), ("True", "False"), ("1", "0"), ("Y", "N")) if name == "is_active" else (("yes", "no"),):
                text = f"source,target,{name}\n1,2,{yes}\n2,3,{yes}\n1,2,{no}\n"
                warning = self.warned("f.csv", text, "operation_unread", line=4)
                self.assertIn(f"--op-values '{yes}=+;{no}=-'", warning["remedy"])
                self.assertEqual(self.follow("f.csv", warning["remedy"]), [(2, "", 3)])
                self.silent("f.csv", f"source,target,{name}\n1,2,{yes}\n2,3,\n")
        for no in (False, "false", 0):
            lines = json.dumps({"source": 1, "target": 2, "is_active": no}) + "\n"
            self.assertEqual(self.follow("f.jsonl", self.warned("f.jsonl", lines, "operation_unread")["remedy"]), [])
        self.silent("f.csv", "source,target,active\n1,2,17\n2,3,0\n")  # it counts something

    def test_flags_that_are_true_once_it_is_gone(self):
        for name in ("voided", "is_cancelled", "inactive"):
            text = f"source,target,{name}\n1,2,false\n2,3,false\n1,2,true\n"
            warning = self.warned("f.csv", text, "operation_unread", line=4)
            self.assertIn(f"--columns deleted={name} reads it", warning["remedy"])
            self.assertEqual(self.follow("f.csv", warning["remedy"]), [(2, "", 3)])
        self.warned("f.csv", "source,target,voided\n1,2,0\n2,3,1\n", "operation_unread")

    def test_ends_of_validity(self):
        for name in ("valid_to", "dbt_valid_to", "revokedAt"):
            text = f"source,target,valid_from,{name}\n1,2,2020-01-01,\n2,3,2020-01-01,2021-01-01\n"
            self.assertIn("leave such records out", self.warned("v.csv", text, "operation_unread", line=3)["remedy"])
            for none in ("", "NULL", "9999-12-31", "9999-12-31 00:00:00", "infinity", "2262-04-11"):
                self.silent("v.csv", text.replace("2021-01-01", none))
            self.warned("v.jsonl", json.dumps({"source": 1, "target": 2, name: "2021-01-01"}) + "\n", "operation_unread")


class Tables(Names):
    def test_a_sum_in_the_last_line(self):
        for word in ("Total", "Grand total", "SUM"):
            for rest in ("", "\n"):
                self.warned("s.csv", f"source,target\n1,2\n2,3\n{word},2\n{rest}", "footer_as_record", line=4, what=f"`{word}` in the last line")
            self.silent("s.csv", f"source,target\n1,2\n2,3\n{word},2\n", "--ids", "string")
            self.silent("s.csv", f"source,target\n{word},2\n2,3\n3,4\n4,5\n")  # an oil company, say
        self.warned("s.tsv", "+\ta\tb\tT\t\n+\tTotal\t1\t\t\n", "footer_as_record", line=2)
        self.silent("s.csv", "source,target\n1,Total\nSummer,2\n")

    def test_lines_that_a_program_draws(self):
        for mark in ("...", "\u2026", "------"):
            for row in (f"{mark},{mark}", f"{mark},5"):
                self.warned("d.csv", f"source,target\n1,2\n{row}\n2,3\n", "footer_as_record", line=3, what="a line that a program draws")
            self.silent("d.csv", f"source,target\n1,2\n{mark},{mark}\n", "--ids", "string")
        self.silent("d.csv", "source,target\n.a,_b\n-x,=y\n1.5,-2\n")

    def test_thousands_as_a_spreadsheet_writes_them(self):
        codes = [w["code"] for w in self.warnings("t.csv", 'source,target\n1001,2\n"1,001",2\n')]
        self.assertEqual(codes, ["ids_alike"])
        self.warned("t.csv", 'source,target\n"1,001","12,002,003"\n1,2\n', "id_grouped", line=2, what="the id `1,001` is the text")
        self.silent("t.csv", 'source,target\n"1,001",2\n1001,2\n', "--ids", "string")
        self.silent("t.csv", 'source,target\n"1,2","1,0011"\n"1234,567","a,100"\n')

    def test_characters_that_nobody_sees(self):
        for char, name in (("\u00a0", "a no-break space"), ("\u200b", "a zero-width space"), ("\ufeff", "a byte order mark")):
            for spelt in (f"{char}a", f"a{char}", f"a{char}b"):
                text = f"source,target,label\na,b,T\n{spelt},c,T\n"
                warning = self.warned("i.csv", text, "invisible_in_id", line=3, what=name)
                self.silent("i.csv", text, "--ids", "string")
                self.warned("i.jsonl", json.dumps({"source": spelt, "target": "b"}) + "\n", "invisible_in_id", what=name)
                self.warned("i.tsv", f"+\t{spelt}\tc\tT\t\n+\ta\tb\tT\t\n", "invisible_in_id", line=1)
            self.warned("l.csv", f"source,target,label\na,b,T\na,c,T{char}\n", "invisible_in_label", line=3)
        self.assertIn("e.g. sed -E 's/", warning["remedy"])
        self.silent("i.csv", "source,target,label\nÉmile,東京,ärger\nنام‌ه,👩‍💻,T\n")  # joiners within words belong there

    def test_words_for_a_missing_label(self):
        for word in ("NULL", "NaN", "None", "\\N"):
            text = f"source,target,label\na,b,{word}\na,c,T\nb,c,{word}\n"
            self.assertEqual(self.warned("n.csv", text, "null_as_label", line=2, what=f"label `{word}` may mean")["count"], 2)
            self.silent("n.csv", f'source,target,label\na,b,"{word}"\n')
            self.silent("n.csv", "source,target,label\na,b,\n")
            self.warned("n.csv", f"source,target,source_label\na,b,{word}\n", "null_as_label")
            self.warned("n.jsonl", json.dumps({"source": 1, "target": 2, "label": word}) + "\n", "null_as_label")
            self.warned("n.tsv", f"+\ta\tb\t{word}\t\n", "null_as_label")
        self.silent("n.jsonl", '{"source":1,"target":2,"label":null}\n')
        self.silent("n.csv", "source,target,label\na,b,NA\na,c,Nil\na,d,Nunc\na,e,-\n")
        self.write("e.txt", "1 2\n")
        self.write("l.csv", "id,label\n1,NULL\n2,B\n")
        outcome = self.run_program("match", "--graph", "e.txt", "--labels", "l.csv", "--query", EDGE, "--json")
        self.assertEqual([w["code"] for w in json.loads(outcome.out)["warnings"]], ["null_as_label"])


if __name__ == "__main__":
    harness.main()
