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
OPTION = re.compile(r"--(columns|format|ids|envelope) ('[^']*'|[^\s;,]+(?:,[^\s;,]+)*)")
COMMAND = re.compile(r"convert the file: (.*?)(?: \(edges|$)|`(jq [^`]*)`", re.M)


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
                options["--" + option] = value.strip("'")
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
