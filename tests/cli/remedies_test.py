"""Remedies lead to the right graph. Each test does what a refusal says, word for word, until the file is read, and looks at the
edges that it holds then."""

import gzip
import io
import json
import re
import shlex
import shutil
import subprocess
import tarfile
import unittest

import harness

EDGE = "e=(a)-->(b)"
VALUE = r"(?:'[^']*'|\\'|[^\s;,'])+"
OPTION = re.compile(rf"--(columns|format|ids|envelope|separator|header|op-values|time-format) (?!says)({VALUE}(?:,{VALUE})*)")
COMMAND = re.compile(r"convert the file: (.*?)(?: \(edges|, else |; --|$)|`(jq [^`]*)`", re.M)


class Remedies(harness.CliTest):
    def follow(self, content, *args, name="data"):
        """Does what each refusal says. Returns the edges (source, label, target), and the messages."""
        path = self.write(name, content)
        options = dict(zip(args[::2], args[1::2]))
        messages = []
        for _ in range(5):
            given = [word for option in options.items() for word in option]
            outcome = self.run_program("match", "--graph", path, "--query", EDGE, "--emit", "matches", *given)
            if outcome.code == 0:
                edges = [tuple(json.loads(line)["edges"][0]) for line in outcome.out.splitlines() if '"edges"' in line]
                return sorted(edges, key=str), messages
            messages.append(outcome.err)
            command = COMMAND.search(outcome.err)
            found = OPTION.findall(outcome.err)
            self.assertTrue(command or found, outcome)
            if command:
                text = command[1] or command[2] + " FILE"
                done = subprocess.run(["bash", "-c", text.replace("FILE", shlex.quote(path))], cwd=self.dir, capture_output=True, check=True)
                path = self.write(path + "x", done.stdout)
                continue
            for option, value in found:
                (options["--" + option],) = shlex.split(value)  # as a shell reads it
        self.fail(messages)

    def leads_to(self, content, edges, *args, says=None):
        found, messages = self.follow(content, *args)
        self.assertEqual(found, sorted(edges, key=str), messages)
        self.assertTrue(messages, "there was no refusal")
        if says:
            self.assertIn(says, messages[0])

    def test_names_between_tabs(self):
        self.leads_to("New York\tParis\nParis\tRome\n", [("New York", "", "Paris"), ("Paris", "", "Rome")], says="--format tsv")
        self.leads_to("New York\tParis\tflight\nParis\tRome\ttrain\n", [("New York", "flight", "Paris"), ("Paris", "train", "Rome")])

    def test_names_between_blanks(self):
        self.leads_to("ann bob\nbob eve\n", [("ann", "", "bob"), ("bob", "", "eve")], says="--format snap --ids string")
        self.leads_to("ann bob knows\nbob eve likes\n", [("ann", "knows", "bob"), ("bob", "likes", "eve")])

    def test_arrows(self):
        for arrow in ("->", "-->", "=>", "→", "--"):
            self.leads_to(f"1 {arrow} 2\n2 {arrow} 3\n", [(1, "", 2), (2, "", 3)], says="an edge with an arrow")
            self.leads_to(f"ann {arrow} bob\nbob {arrow} eve\n", [("ann", "", "bob"), ("bob", "", "eve")])
        self.leads_to("# c\n1->2\n2->3\n", [(1, "", 2), (2, "", 3)], says=":2: ")
        self.leads_to("1 <- 2\n3 <- 4\n", [(2, "", 1), (4, "", 3)])
        self.leads_to("1 -> 2\n2 -> 3\n", [("1", "", "2"), ("2", "", "3")], "--format", "snap", "--ids", "string")

    def test_parentheses(self):
        self.leads_to("(1, 2)\n(2, 3)\n", [(1, "", 2), (2, "", 3)], says="in parentheses")
        self.leads_to("[('ann', 'bob'), ('bob', 'eve')]\n", [("ann", "", "bob"), ("bob", "", "eve")])

    def test_a_label_in_the_middle(self):
        edges = [("a", "pp", "b"), ("b", "pd", "c")]
        self.leads_to("a pp b\nb pd c\n", edges, says="--format snap --ids string --columns source,label,target")
        self.leads_to("a\tpp\tb\nb\tpd\tc\n", edges, says="--format tsv --columns source,label,target")
        self.leads_to("x is y\nz is w\nu is v\n", [("x", "is", "y"), ("z", "is", "w"), ("u", "is", "v")])
        self.leads_to("<http://a> <http://p> <http://b> .\n<http://b> <http://p> \"x y\" .\n",
                      [("<http://a>", "<http://p>", "<http://b>"), ("<http://b>", "<http://p>", '"x y"')], says="a triple of RDF")

    def test_a_header_above_names(self):
        edges = [("ann", "", "bob"), ("bob", "", "eve")]
        for header in ("person friend", "user_id follower_id", "SourceName TargetName"):
            self.leads_to(f"{header}\nann bob\nbob eve\n", edges, says="the first line looks like a header: leave it out")
            source, target = header.split()
            self.leads_to(f"{source}\t{target}\nann\tbob\nbob\teve\n", edges, says=f"--format csv --columns source={source},target={target}")
        self.leads_to("payee_name\tpayer_name\nann\tbob\nbob\teve\n", [("bob", "", "ann"), ("eve", "", "bob")])
        text = ("SOURCE_SUBREDDIT\tTARGET_SUBREDDIT\tPOST_ID\tTIMESTAMP\tLINK_SENTIMENT\tPROPERTIES\n"
                "leagueoflegends\tteamredditteams\t1u4nrps\t2013-12-31 16:39:58\t1\t345.0,298.0\n"
                "theredlion\tsoccer\t1u4qkd\t2013-12-31 18:18:37\t-1\t101.0,98.0\n")
        self.leads_to(text, [("leagueoflegends", "", "teamredditteams"), ("theredlion", "", "soccer")])
        for args in (("--format", "snap", "--ids", "string"), ("--format", "tsv")):
            self.write("h", "user_id\tfollower_id\nann\tbob\nbob\teve\n")
            outcome = self.run_program("match", "--graph", "h", "--query", EDGE, *args)
            self.assertIn("are names of columns: it may be a header", outcome.err)

    def test_vertices_and_their_labels(self):
        self.write("e.txt", "A B\n")
        for text, says in (("A 1\nB 2\n", "--labels-format snap --ids string"), ("A red x\nB blue y\n", "--labels-columns vertex,label,-")):
            self.write("l", text)
            arguments = ["match", "--graph", "e.txt", "--format", "snap", "--labels", "l", "--query", "q=(a:`%s`)-->(b)" % text.split()[1]]
            outcome = self.fails(1, *arguments, says=["if the lines are vertices and their labels, give", says])
            self.assertNotIn("edges between names", outcome.err)
            options = re.findall(r"--(?:labels-format|labels-columns|ids) [a-z,-]+", outcome.err.split("give ")[-1])
            words = [word for option in options for word in option.split()]
            self.assertEqual(self.json(*arguments, *words)["queries"][0]["matches"], 1)

    def test_vertices_as_neo4j_exports_them(self):
        self.write("e.txt", "1 2\n")
        for header in ("id:ID,name,:LABEL", "name,:ID(Person),:LABEL,age:int", "id:ID,:LABEL"):
            cells = header.split(",")
            rows = "".join(",".join(vertex if ":ID" in cell else "Person" if cell == ":LABEL" else "x" for cell in cells) + "\n" for vertex in "12")
            self.write("l.csv", header + "\n" + rows)
            arguments = ["match", "--graph", "e.txt", "--labels", "l.csv", "--query", "q=(a:Person)-->(b:Person)"]
            self.assertEqual(self.json(*arguments)["queries"][0]["matches"], 1, header)

    def test_metis(self):
        ring = [(1, "", 2), (1, "", 3), (2, "", 3)]
        for text in ("3 3\n2 3\n1 3\n1 2\n", "% c\n3 3 0\n2 3\n1 3\n1 2\n"):
            self.leads_to(text, ring, says="begins a graph of METIS")
        self.leads_to("4 3\n2 3\n1 3\n1 2\n\n", ring)
        self.leads_to("4 4\n2 3\n1 3 4\n1 2\n2\n", [*ring, (2, "", 4)])
        self.leads_to("3 3 1\n2 5 3 6\n1 5 3 7\n1 6 2 7\n", ring)
        lattice = [[(i - 1) % 30000 + 1, (i + 1) % 30000 + 1] for i in range(30000)]
        text = "30000 30000\n" + "".join(f"{a} {b}\n" for a, b in lattice)
        self.assertEqual(len(self.follow(text)[0]), 30000)
        self.assertEqual(self.follow("3 3\n2 3\n1 3\n1 2\n", "--format", "snap")[1], [])

    def test_columns_that_are_not_needed(self):
        self.leads_to("1,2,3,4\n5,6,7,8\n", [(1, "", 2), (5, "", 6)], says="--columns source,target,-,-")
        self.leads_to("1,2,3,4\n5,6,7,8\n", [(1, "", 2), (5, "", 6)], "--columns", "source,target",
                      says="--columns source,target,-,- leaves the other columns out")
        self.leads_to("1 2 3 4\n5 6 7 8\n", [(1, "", 2), (5, "", 6)], "--columns", "source,target")

    def test_two_columns_of_one_name(self):
        self.leads_to("source,target,label,label\n1,2,a,b\n", [(1, "a", 2)], says="--header yes --columns source,target,label,-")
        self.leads_to("source,source,target\n1,2,3\n", [(1, "", 3)])
        self.leads_to("source,target,type,label\n1,2,T,b\n", [(1, "b", 2)], says="two columns for the label")
        self.leads_to("source,src,target\n1,2,3\n", [(2, "", 3)], says="--columns source=source or --columns source=src")

    def test_other_separators(self):
        self.leads_to("source|target|label\n1|2|A\n2|3|B\n", [(1, "A", 2), (2, "B", 3)], says="if | separates the fields, give --separator bar")
        self.leads_to("1|2\n2|3\n", [(1, "", 2), (2, "", 3)])
        self.leads_to("1::2::5::978300760\n2::3::3::978302109\n", [(1, "5", 2), (2, "3", 3)], says="if :: separates the fields")

    def test_written_times(self):
        for time, form in (("01/02/2023 03:04 PM", "%m/%d/%Y %I:%M %p"), ("13/02/23", "%d/%m/%y"), ("12/31/23 5:06", "%m/%d/%y %H:%M"),
                           ("1/31/2023 3:04", "%m/%d/%Y %H:%M"), ("31.1.2023", "%d.%m.%Y"), ("2 Jan 2023", "%d %b %Y"),
                           ("Jan 2, 2023", "%b %d, %Y"), ("2023/1/2 3:04:05", "%Y/%m/%d %H:%M:%S"), ("1/31/2023 12:04:05 am", "%m/%d/%Y %I:%M:%S %p")):
            for name, text in (("t.csv", f'source,target,time\n1,2,"{time}"\n'), ("t.jsonl", json.dumps({"source": 1, "target": 2, "time": time}) + "\n")):
                found, messages = self.follow(text, name=name)
                self.assertEqual(found, [(1, "", 2)])
                self.assertIn(f"--time-format {shlex.quote(form) if ' ' in form else form}", messages[0])
        found, messages = self.follow("source,target,time\n1,2,1/2/2023\n", name="t.csv")
        self.assertIn("--time-format %m/%d/%Y (the month first) or --time-format %d/%m/%Y (the day first) reads it", messages[0])
        stream = "+\t1\t2\t\t12/31/2023 11:59 PM\n"
        self.write("m.tsv", stream)
        self.run_program("replay", "--updates", "m.tsv", "--query", EDGE, "--time-format", "%m/%d/%Y %I:%M %p", "--emit", "matches", "--out", "o.jsonl")
        self.assertEqual(self.lines("o.jsonl")[0]["time"], 1_704_067_140_000_000)

    def test_a_date_and_a_clock_between_blanks(self):
        self.leads_to("1 2 2023-01-01 10:00:00\n2 3 2023-01-01 11:00:00\n", [(1, "", 2), (2, "", 3)], says="sed -E")
        self.leads_to("1 2 T 2023-01-01 10:00:00\n", [(1, "T", 2)])
        self.leads_to("1 2 12/31/2023 10:00\n", [(1, "", 2)])

    def test_dimacs(self):
        edges = [(1, "", 2), (2, "", 3)]
        self.leads_to("c a graph\np edge 3 2\ne 1 2\ne 2 3\n", edges, says="DIMACS")
        self.leads_to("c\np sp 3 2\nc\na 1 2 70\na 2 3 80\n", edges)
        self.write("d.col", "p col 3 2\ne 1 2\ne 2 3\n")
        self.fails(1, "match", "--graph", "d.col", "--query", EDGE, "--format", "tve", says="begins a graph of DIMACS")

    def test_change_events(self):
        rows = [{"before": None, "after": {"source": "a", "target": "b", "label": "T"}, "op": "c", "source": {"db": "x", "table": "t"}},
                {"before": None, "after": {"source": "b", "target": "c", "label": "T"}, "op": "r", "source": {"db": "x", "table": "t"}},
                {"before": {"source": "a", "target": "b", "label": "T"}, "after": None, "op": "d", "source": {"db": "x", "table": "t"}}]
        for wrap in (lambda row: row, lambda row: {"schema": {"type": "struct"}, "payload": row},
                     lambda row: {key: value for key, value in row.items() if key != "source"}):
            text = "".join(json.dumps(wrap(row)) + "\n" for row in rows)
            self.leads_to(text, [("b", "T", "c")], says="--envelope debezium reads a change event of Debezium")

    def test_ends_of_change_events_that_are_objects(self):
        row = {"before": None, "after": {"source": {"id": 1}, "target": {"id": 2}}, "op": "c"}
        self.leads_to(json.dumps(row), [(1, "", 2)], "--envelope", "debezium", says="--columns source=source.id,target=target.id")

    def test_rows_that_are_arrays(self):
        edges = [(1, "", 2), (2, "", 3)]
        self.leads_to("[[1,2],[2,3]]\n", edges, says="--columns source=0,target=1 reads it as a row")
        self.leads_to("[1,2]\n[2,3]\n", edges)
        self.leads_to("[[1,2],\n [2,3]]\n", edges)
        if shutil.which("jq"):
            self.leads_to("[[1,2]]\n[[2,3]]\n", edges)

    def test_a_file_that_is_one_row(self):
        for text in ("[1,2]", "[1,2]\n", "[1,\n 2]\n"):
            self.write("r.json", text)
            outcome = self.fails(1, "match", "--graph", "r.json", "--query", EDGE, says="--columns source=0,target=1 reads an array of such values as a row")
        self.leads_to("[1,2]\n", [(1, "", 2)])

    def test_a_header_in_rows_that_are_arrays(self):
        for header in (["source", "target"], ["From", "To"], ["dst", "src"]):
            for text in (json.dumps([header, [1, 2]]), json.dumps(header) + "\n[1,2]\n"):
                self.write("h.json", text)
                self.fails(1, "match", "--graph", "h.json", "--query", EDGE, "--columns", "source=0,target=1",
                           says=["the row looks like a header", "remove the row"])
        self.assertEqual(self.follow('[1,2]\n["source","target"]\n', "--columns", "source=0,target=1")[0],
                         sorted([(1, "", 2), ("source", "", "target")], key=str))

    def test_ends_that_are_objects(self):
        self.leads_to('{"source":{"id":1},"target":{"id":2}}\n', [(1, "", 2)], says="--columns source=source.id,target=target.id reads")
        self.leads_to('{"source":{"name":"x","ID":1},"target":2}\n', [(1, "", 2)])
        self.leads_to('{"from":{"user_id":"a","at":1},"to":{"user_id":"b","at":2}}\n', [("a", "", "b")])
        self.leads_to('{"src":{"account":{"no":"a"}},"dst":{"account":{"no":"b"}}}\n', [("a", "", "b")])
        self.leads_to('{"source":{"a.b":1},"target":2,"label":{"name":"T"}}\n', [(1, "T", 2)])
        self.write("several.jsonl", '{"source":{"a":1,"b":2},"target":3}\n')
        self.fails(1, "match", "--graph", "several.jsonl", "--query", EDGE, says="--columns source=source.NAME reads one of its fields, which are `a`, `b`")

    def test_names_that_a_shell_would_read(self):
        text = '{"source":{"$numberLong":"1"},"target":{"$numberLong":"2"},"time":{"$date":"2020-01-01T00:00:00Z"}}\n'
        self.leads_to(text, [("1", "", "2")], says="--columns 'source=source.$numberLong,target=target.$numberLong,time=time.$date'")
        self.leads_to('{"source":{"a\'b":1},"target":2}\n', [(1, "", 2)])
        self.leads_to('{"$from":1,"from":{"$oid":"x"},"to":{"$oid":"y"}}\n', [("x", "", "y")])

    @unittest.skipUnless(shutil.which("jq"), "there is no jq")
    def test_exports_of_other_programs(self):
        def canal(kind, *rows, old=None):
            return {"data": list(rows), "database": "d", "table": "t", "isDdl": False, "old": old, "type": kind, "ts": 1}
        insert, other, third = ({"source": str(i), "target": str(i + 1)} for i in (1, 2, 3))
        lines = [canal("INSERT", insert, other), {"data": None, "isDdl": True, "old": None, "type": "CREATE"},
                 canal("UPDATE", {"source": "2", "target": "9"}, old=[{"target": "3"}]), canal("DELETE", insert), canal("INSERT", third)]
        self.leads_to("".join(json.dumps(line) + "\n" for line in lines), [("2", "", "9"), ("3", "", "4")], says="a message of Canal")
        plain = [{"rows": [insert, other], "kind": "insert"}, {"rows": [insert], "kind": "delete"}]
        self.leads_to("".join(json.dumps(line) + "\n" for line in plain), [("2", "", "3")], says="jq -c '.kind as $op | .rows[] + {op: $op}'")
        maxwell = [{"database": "d", "type": kind, "data": insert} for kind in ("insert", "delete", "insert")]
        self.leads_to("".join(json.dumps(line) + "\n" for line in maxwell), [("1", "", "2")], says="op=type,label=")
        self.leads_to("".join(json.dumps(line) + "\n" for line in maxwell[:2]), [])

    def test_operations_in_metadata(self):
        for name, insert, delete in (("operation", "insert", "delete"), ("OperationName", "INSERT", "DELETE"), ("op", "c", "d")):
            rows = [(1, 2, insert), (2, 3, insert), (1, 2, delete)]
            text = "".join(json.dumps({"data": {"src": s, "dst": t}, "metadata": {"table": "e", name: word}}) + "\n" for s, t, word in rows)
            self.leads_to(text, [(2, "", 3)], says=f"--columns source=data.src,target=data.dst,op=metadata.{name} reads the edge in `data`")
        if shutil.which("jq"):
            rows = [{"metadata": {"operation": word}, "data": [{"src": s, "dst": t}]} for s, t, word in ((1, 2, "insert"), (2, 3, "insert"), (1, 2, "delete"))]
            self.leads_to("".join(json.dumps(row) + "\n" for row in rows), [(2, "", 3)], says="jq -c '.metadata.operation as $op | .data[] + {op: $op}'")

    @unittest.skipUnless(shutil.which("jq"), "there is no jq")
    def test_maxwell(self):
        def row(kind, source, target, **more):
            data = {"id": 1, "source": source, "target": target} if source else {}
            return json.dumps({"database": "d", "table": "t", "type": kind, "ts": 1700000000, "xid": 1, "data": data, **more}) + "\n"
        rows = [row("bootstrap-start", None, None), row("bootstrap-insert", "x", "y"), row("bootstrap-complete", None, None),
                row("insert", "a", "b"), row("insert", "b", "c"), row("update", "a", "c", old={"target": "b"}), row("delete", "b", "c")]
        self.leads_to("".join(rows), [("a", "", "c"), ("x", "", "y")], says="a message of Maxwell")
        self.leads_to("".join(rows[3:]), [("a", "", "c")])

    @unittest.skipUnless(shutil.which("jq"), "there is no jq")
    def test_a_document_that_says_undirected(self):
        edges = [{"source": 1, "target": 2}, {"source": 2, "target": 3}]
        for document in ({"directed": False, "nodes": [{"id": 1}], "links": edges}, {"graph": {"directed": False, "edges": edges}}):
            self.write("d.json", json.dumps(document))
            outcome = self.fails(1, "match", "--graph", "d.json", "--query", EDGE, says="(the edges have no direction: give --undirected)")
            text = re.search(r"`(jq [^`]*)`", outcome.err)[1] + " d.json"
            self.write("l.jsonl", subprocess.run(["bash", "-c", text], cwd=self.dir, capture_output=True, check=True).stdout)
            self.assertEqual(self.json("match", "--graph", "l.jsonl", "--undirected", "--query", "p=(a)--(b)--(c)")["queries"][0]["matches"], 1)
        self.write("d.json", json.dumps({"directed": True, "links": edges}))
        self.assertNotIn("direction", self.run_program("match", "--graph", "d.json", "--query", EDGE).err)

    def test_labels_of_edges_in_exports(self):
        edges = [("a", "KNOWS", "b"), ("b", "LIKES", "c")]
        rows = "a,b,KNOWS\nb,c,LIKES\n"
        for header, says in (("~from,~to,~label", "'source=~from,target=~to,label=~label'"),):
            self.leads_to(f"{header}\n{rows}", edges, "--format", "csv", says=f"--columns {says}")

    def test_an_export_of_a_bank_needs_one_refusal(self):
        rows = ["Buchungstag;Auftraggeber;Empfaenger;Betrag;Verwendungszweck", '30.03.2026 23:58:35;NL38;DE64;5.125,07;"Essen; Kino"']
        says = ("--columns source=Auftraggeber,target=Empfaenger,time=Buchungstag --time-format '%d.%m.%Y %H:%M:%S'; "
                "if patterns ask for amounts, add --edges events --attributes 'amount:decimal(2)=Betrag' --decimal comma\n")
        self.leads_to("\n".join(rows) + "\n", [("NL38", "", "DE64")], says=says)
        options = shlex.split(says.replace("; if patterns ask for amounts, add", ""))
        self.write("bank.csv", "\n".join(rows) + "\n")
        read = self.run_program("convert", "bank.csv", "-", "--to", "jsonl", *options)
        self.assertEqual(json.loads(read.out), {"source": "NL38", "target": "DE64", "time": 1774915115000000, "amount": "5125.07"})

    def test_convert_refuses_with_a_whole_command_that_converts(self):
        rows = ["Buchungstag;Auftraggeber;Empfaenger;Betrag;Verwendungszweck", '30.03.2026 23:58:35;NL38;DE64;5.125,07;"Essen; Kino"',
                '29.03.2026 23:58:35;NL 1;DE64;5,00;']
        self.write("my bank.csv", "\n".join(rows) + "\n")
        for given in ([], ["--edges", "events", "--attributes", "amount:decimal(2)=Betrag,purpose:symbol=Verwendungszweck", "--negative-ids"]):
            refused = self.fails(1, "convert", "my bank.csv", "-", "--to", "jsonl", *given)
            command = shlex.split(refused.err.split("; write ")[1])
            self.assertEqual(command[:7], ["deltamatch", "convert", "my bank.csv", "my bank.dmu", "--to", "binary", "--order"])
            self.ok(*command[1:])
            read = [json.loads(line) for line in self.run_program("convert", "my bank.dmu", "-", "--to", "jsonl").out.splitlines()]
            self.assertEqual([row["source"] for row in read], ["NL 1", "NL38"], "in order of time")
            self.assertEqual((read[1]["label"], read[1]["amount"], read[1].get("purpose")), ("TRANSFER", "5125.07", "Essen; Kino" if given else None))
        self.write("kinds.csv", "payer,payee,kind,type,date\na,b,x,CARD,2026-03-02\n")
        self.assertNotIn("--edge-label", self.fails(1, "convert", "kinds.csv", "k.jsonl", "--to", "jsonl", says="write deltamatch convert kinds.csv k.jsonl --to jsonl").err)
        for name, to in (("k.dmg", "graph"), ("k.tsv", "tsv")):
            self.fails(1, "convert", "kinds.csv", name, "--to", to, says="give --columns")

    def test_amounts_and_times_that_may_be_meant_either_way_are_not_guessed(self):
        for amount, reads in (("1,200", ""), ("1.200", ""), ("12,50", " --decimal comma"), ("1,200.50", " --decimal point"), ("12.50", "")):
            self.write("bank.csv", f"txn_id;payer;payee;date;amount\n7;a;b;01/02/2026;{amount}\n")
            self.fails(1, "match", "--graph", "bank.csv", "--query", EDGE,
                       says=f"--columns source=payer,target=payee,time=date; if patterns ask for amounts, add --edges keyed --attributes "
                            f"'amount:decimal(2)=amount'{reads}\n")

    def test_an_export_with_rows_of_vertices(self):
        text = '"_id","_labels","name","_start","_end","_type"\n"0",":P","Al, B",,,\n"1",":P","Bo",,,\n,,,"0","1","KNOWS"\n'
        self.leads_to(text, [(0, "KNOWS", 1)], says="--columns source=_start,target=_end,label=_type")

    def test_data_in_the_notation_of_python(self):
        edges = [(1, "", 2), (2, "", 3)]
        self.leads_to("1 2 {}\n2 3 {}\n", edges, says="--columns source,target,- leaves the empty data of edges out")
        for text in ("1 2 {'weight': 3}\n2 3 {'weight': 5}\n", "1 2 {}\n2 3 {'weight': 5, 'c': 'x y'}\n"):
            self.leads_to(text, edges, says="with data in the notation of Python")
        self.leads_to("ann bob {}\nbob eve {}\n", [("ann", "", "bob"), ("bob", "", "eve")])
        self.leads_to("ann bob {'weight': 3}\nbob eve {}\n", [("ann", "", "bob"), ("bob", "", "eve")])

    def test_a_header_of_unknown_words(self):
        for between in ("\t", " "):
            for columns in (2, 3):
                rows = [("tconst", "nconst", "category"), ("tt1", "nm1", "self"), ("tt1", "nm2", "director"), ("tt2", "nm1", "self")]
                text = "".join(between.join(row[:columns]) + "\n" for row in rows)
                self.leads_to(text, [(a, c if columns == 3 else "", b) for a, b, c in rows[1:]], says="the first line looks like a header")

    def test_comments_before_names_between_tabs(self):
        self.leads_to("# src dst label time\nann\tbob k\tA\t1289241911\nbob k\teve\tA\t1289241912\n", [("ann", "A", "bob k"), ("bob k", "A", "eve")],
                      says="grep -v '^[#%]' FILE")

    def test_a_line_of_words_above_numbers(self):
        for text in ("source target\n1 2\n", "+\tsource\ttarget\tlabel\t\n+\t1\t2\tA\t\n"):
            self.write("h.txt", text)
            outcome = self.run_program("match", "--graph", "h.txt", "--query", EDGE, "--format", "snap" if " " in text else "tsv", "--ids", "string")
            self.assertIn("looks like a header, whose words would be read as ids; remove the line", outcome.err)
            self.assertNotIn("move it", outcome.err)

    def converted(self, name, content, *args):
        """Follows the command of the warning until there is none. Returns the edges."""
        self.write(name, content)
        for _ in range(4):
            outcome = self.run_program("match", "--graph", name, "--query", EDGE, "--emit", "matches", *args)
            command = re.search(r"e\.g\. ((?:jq [^|]*\| )?sed [^']*'[^']*'(?: FILE)?)", outcome.err)
            if not command:
                self.assertNotIn("warning", outcome.err)
                return sorted((tuple(json.loads(line)["edges"][0]) for line in outcome.out.splitlines() if '"edges"' in line), key=str)
            done = subprocess.run(["bash", "-c", command[1].replace("FILE", shlex.quote(name))], cwd=self.dir, capture_output=True, check=True)
            self.write(name, done.stdout)
        return self.fail(outcome.err)

    def test_characters_that_nobody_sees(self):
        blanks = "\u00a0\u202f\u2002\u2003\u2009\u3000"
        for char in blanks + "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff":
            around = [("ann", "T", "bob"), ("eve", "T", "ann"), ("eve", "T", "bob")]
            rows = [(f"ann{char}", "bob", "T"), ("eve", f"{char}ann", "T"), ("eve", "bob", f"T{char}")]
            self.assertEqual(self.converted("i.csv", "source,target,label\n" + "".join(",".join(row) + "\n" for row in rows)), around, hex(ord(char)))
            self.assertEqual(self.converted("q.csv", "source,target,label\n" + "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)), around)
            if shutil.which("jq"):
                for escape in (True, False):
                    lines = "".join(json.dumps({"source": a, "target": b, "label": c}, ensure_ascii=escape) + "\n" for a, b, c in rows)
                    self.assertEqual(self.converted("i.jsonl", lines), around, hex(ord(char)))
        for char, between in (("\u00a0", " "), ("\u202f", " "), ("\u00ad", ""), ("\u2060", ""), ("\u200b", "")):
            self.assertEqual(self.converted("w.csv", f"source,target\nNew{char}York,Rome\n"), [(f"New{between}York", "", "Rome")])

    @unittest.skipUnless(shutil.which("jq"), "there is no jq")
    def test_wal2json(self):
        names = {"columnnames": ["source", "target"], "columntypes": ["int", "int"]}
        first = [{"change": [{"kind": "insert", "table": "e", **names, "columnvalues": [1, 2]}, {"kind": "insert", "table": "e", **names, "columnvalues": [2, 3]}]},
                 {"change": [{"kind": "update", "table": "e", **names, "columnvalues": [2, 4], "oldkeys": {"keynames": ["source", "target"], "keyvalues": [2, 3]}},
                             {"kind": "delete", "table": "e", "oldkeys": {"keynames": ["source", "target"], "keyvalues": [1, 2]}}]}]
        self.leads_to("".join(json.dumps(line) + "\n" for line in first), [(2, "", 4)], says="a transaction of wal2json")

        def row(source, target):
            return [{"name": "source", "type": "int", "value": source}, {"name": "target", "type": "int", "value": target}]
        second = [{"action": "B"}, {"action": "I", "columns": row(1, 2)}, {"action": "I", "columns": row(2, 3)}, {"action": "C"},
                  {"action": "U", "columns": row(2, 4), "identity": row(2, 3)}, {"action": "D", "identity": row(1, 2)}]
        for start in (0, 1):
            self.leads_to("".join(json.dumps(line) + "\n" for line in second[start:]), [(2, "", 4)], says="a message of wal2json")

    @unittest.skipUnless(shutil.which("jq"), "there is no jq")
    def test_lines_of_vertices_and_of_edges(self):
        user = {"labels": ["User"]}
        apoc = [{"type": "node", "id": "0", **user}, {"type": "node", "id": "1", **user},
                {"id": "0", "type": "relationship", "label": "KNOWS", "start": {"id": "0", **user}, "end": {"id": "1", **user}}]
        for rows in (apoc, apoc[::-1]):
            self.leads_to("".join(json.dumps(row) + "\n" for row in rows), [("0", "KNOWS", "1")], says="an export of neo4j's APOC")
        cytoscape = [{"data": {"id": "a"}}, {"data": {"id": "b"}}, {"data": {"id": "ab", "source": "a", "target": "b"}}]
        self.leads_to("".join(json.dumps(row) + "\n" for row in cytoscape), [("a", "", "b")], says="a vertex of Cytoscape")

    def test_an_edge_in_a_field(self):
        self.leads_to('{"id":"e1","data":{"id":"e1","source":1,"target":2,"type":"T"}}\n', [(1, "T", 2)],
                      says="--columns source=data.source,target=data.target,label=data.type reads the edge in `data`")

    @unittest.skipUnless(shutil.which("jq"), "there is no jq")
    def test_edges_in_a_document(self):
        edges = [{"source": 1, "target": 2}, {"source": 2, "target": 3}]
        vertices = [{"id": 1}, {"id": 2}, {"id": 3}]
        expected = [(1, "", 2), (2, "", 3)]
        self.leads_to(json.dumps({"directed": True, "nodes": vertices, "links": edges}), expected, says="jq -c '.links[]'")
        self.leads_to(json.dumps({"my edges": edges}, indent=1), expected)
        self.leads_to(json.dumps({"elements": {"nodes": [{"data": row} for row in vertices], "edges": [{"data": row} for row in edges]}}),
                      expected, says="jq -c '.elements.edges[]'")

    def test_archives(self):
        text = b"1 2\n2 3\n"
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            member = tarfile.TarInfo("g.txt")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
        for name, content in (("g.tar", packed.getvalue()), ("g.tgz", gzip.compress(packed.getvalue()))):
            self.write(name, content)
            for args in ((), ("--format", "snap")):
                outcome = self.fails(1, "match", "--graph", name, "--query", EDGE, *args, says=f"{name}: is a tar archive")
            command = re.search(r"tar -xOf \S+", outcome.err)[0]
            unpacked = subprocess.run(command.split(), cwd=self.dir, capture_output=True, check=True).stdout
            self.assertEqual(unpacked, text)
        self.write("g.gz", gzip.compress(gzip.compress(text)))
        self.fails(1, "match", "--graph", "g.gz", "--query", EDGE, says="g.gz: is packed twice: what it unpacks to is a gzip archive")
        self.write("once.gz", gzip.decompress((self.dir / "g.gz").read_bytes()))
        self.assertEqual(self.json("match", "--graph", "once.gz", "--query", EDGE)["queries"][0]["matches"], 2)

    def test_a_window_over_records_without_times(self):
        self.write("u.txt", "1 2\n2 3\n")
        self.fails(1, "replay", "--updates", "u.txt", "--query", EDGE, "--window", "1h", reports=True,
                   says=["missing_time", "if no record has a time, leave --window out; if some field holds it, name it in --columns"])
        self.assertEqual(self.json("replay", "--updates", "u.txt", "--query", EDGE)["queries"][0]["new"], 2)

    def test_options_have_the_prefix_of_their_input(self):
        self.write("u.txt", "1 2\n")
        replay = ["replay", "--updates", "u.txt", "--query", EDGE]
        for content, says in [("ann\tbob\n", "--graph-format tsv"), ("1\t2\t5\t\n", "give --graph-format tsv or --graph-format snap"),
                              ('{"source":{"id":1},"target":2}\n', "--graph-columns source=source.id"),
                              ('{"op":"c","after":{}}\n', "--graph-envelope debezium"), ("[[1,2]]\n", "--graph-columns source=0,target=1")]:
            self.write("g", content)
            self.fails(1, *replay, "--graph", "g", says=says)
        self.write("l", "hello\n")
        self.fails(1, *replay, "--labels", "l", says="--labels-format")


class TwoNames(harness.CliTest):
    """Two fields of JSON that may both be meant, and differ."""

    def warnings(self, text, *args):
        self.write("two.jsonl", text)
        result = self.run_program("replay", "--updates", "two.jsonl", "--query", EDGE, "--json", *args)
        self.assertEqual(result.code, 0, result)
        return [warning for warning in json.loads(result.out)["warnings"] if warning["code"] == "two_names"]

    def test_are_told_and_the_remedy_decides(self):
        for first, second, values in [("source", "src", (1, 9)), ("target", "to", (1, 9)), ("label", "type", ('"A"', '"B"')),
                                      ("time", "timestamp", (1_700_000_000_000_000, 1_700_000_001_000_000))]:
            others = {"source": 2, "target": 3}
            others.pop(first, None)
            text = "".join(f'{{"{first}":{values[0]},"{second}":{values[1]},' + json.dumps(others)[1:] + "\n" for _ in range(2))
            (warning,) = self.warnings(text)
            self.assertEqual((warning["count"], warning["where"]), (2, "two.jsonl:1"))
            self.assertIn(f"`{first}` and `{second}` may both be the {first}, and differ; `{first}` is read", warning["what"])
            self.assertEqual(warning["remedy"], f"--columns {first}={first} says so, --columns {first}={second} reads the other")
            for name in (first, second):
                self.assertEqual(self.warnings(text, "--columns", f"{first}={name}"), [])
            self.assertEqual(len(self.warnings("[" + text.replace("\n", ",").rstrip(",") + "]")), 1)
            event = '{"before":null,"op":"c","after":' + text.splitlines()[0] + "}\n"
            self.assertEqual(len(self.warnings(event, "--envelope", "debezium")), 1)

    def test_of_one_value_are_not(self):
        self.assertEqual(self.warnings('{"source":1,"src":"1","target":2,"label":"A","type":"A"}\n'), [])
        self.assertEqual(self.warnings('{"source":1,"src":null,"target":2,"v":7,"t":null}\n'), [])
        self.assertEqual(self.warnings('{"source":1,"target":2,"v":7}\n'), [])


if __name__ == "__main__":
    harness.main()
