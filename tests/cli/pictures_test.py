"""Pictures of matches: html, dot and graphml. tests/slow/test_pictures.py opens them with the programs that they are for."""

import html.parser
import json
import re
import xml.etree.ElementTree as xml

import harness

NS = "{http://graphml.graphdrawing.org/xmlns}"
HOSTILE = ["</script><script>alert(1)</script>", "a\"b\\N&lt;<!--", "'; drop", "<img src=x onerror=alert(1)>", "\u202egnirts", "]]>"]
RING = "ring=(a)-[t1:TRANSFER]->(b)-[t2:TRANSFER]->(c)-[t3:TRANSFER]->(a)"


class Page(html.parser.HTMLParser):
    """The texts of scripts, by their type, and every tag."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.kind = [], {}, None
        self.feed(text)
        self.close()
        self.data = json.loads(self.scripts["application/json"])

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self.kind = dict(attributes).get("type", "text/javascript")
            self.scripts.setdefault(self.kind, "")

    def handle_endtag(self, tag):
        if tag == "script":
            self.kind = None

    def handle_data(self, data):
        if self.kind:
            self.scripts[self.kind] += data


def tokens(text):
    """The tokens of a graph for Graphviz, with quoted strings as (text,). Fails on what is none."""
    found, at = [], 0
    pattern = re.compile(r'\s+|"((?:[^"\\]|\\.)*)"|[\w.]+|->|[{}\[\];,=]', re.DOTALL)
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            raise ValueError(f"no token at {text[at:at + 40]!r}")
        at = match.end()
        if match[1] is not None:
            found.append((match[1],))
        elif not match[0].isspace():
            found.append(match[0])
    return found


class Pictures(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.write("s.csv", "op,edge,source,target,label,time,amount,channel\n"
                            "+,t1,ann,bob,TRANSFER,1767607200,1200.00,web\n+,t2,bob,9,TRANSFER,1767607260,1100.50,\n"
                            "+,t3,9,ann,TRANSFER,1767607320.5,1000.00,web\n+,t4,9,ann,TRANSFER,1767607321,7.00,app\n-,t4,9,ann,TRANSFER,1767607400,,\n")
        self.args = ["replay", "--updates", "s.csv", "--edges", "keyed", "--attributes", "amount:decimal(2),channel:symbol", "--batch", 4, "--query",
                     RING, "--emit", "matches"]

    def page(self, name="m.html"):
        return Page(self.read(name))

    def test_a_page_holds_each_match_with_amounts_and_times(self):
        self.ok(*self.args, "--out", "m.html")
        page = self.page()
        self.assertEqual(page.data["queries"], ["ring"])
        self.assertEqual(page.data["attributes"], ["amount", "channel"])
        self.assertEqual(page.data["missing"], [])
        self.assertEqual([match[1] for match in page.data["matches"]], ["+", "+", "-"])
        first = min((match for match in page.data["matches"] if match[1] == "+"), key=lambda match: match[4])
        self.assertEqual(first[4], "2026-01-05T10:02:00.500000Z")
        self.assertEqual(sorted(vertex[1] for vertex in first[5]), ["9", "ann", "bob"])
        self.assertEqual({edge[4]: edge[6] for edge in first[6]}, {"t1": [[0, "1200.00"], [1, "web"]], "t2": [[0, "1100.50"]],
                                                                    "t3": [[0, "1000.00"], [1, "web"]]})
        self.assertEqual({edge[2] for edge in first[6]}, {"t1", "t2", "t3"}, "the names of the pattern's edges")
        lost = page.data["matches"][2]
        self.assertEqual([edge[4] for edge in lost[6] if edge[7]], ["t4"], "the edge that the batch deleted")

    def test_a_page_for_people_has_their_decimal_sign_and_plain_times(self):
        self.ok(*self.args, "--out", "m.html", "--sheet", "comma")
        first = min((match for match in self.page().data["matches"] if match[1] == "+"), key=lambda match: match[4])
        self.assertEqual(first[4], "2026-01-05 10:02:00,500")
        self.assertEqual({edge[4]: (edge[5], edge[6][0][1]) for edge in first[6]},
                         {"t1": ("2026-01-05 10:00:00", "1200,00"), "t2": ("2026-01-05 10:01:00", "1100,50"), "t3": ("2026-01-05 10:02:00,500", "1000,00")})

    def test_only_what_was_taken_back_is_bold(self):
        self.ok(*self.args, "--out", "m.html")
        self.assertEqual([[edge[4] for edge in match[6] if edge[7]] for match in self.page().data["matches"]], [[], [], ["t4"]])

    def test_several_files_in_one_run(self):
        done = self.run_program(*self.args, "--out", "m.html", "--out", "m.csv", "--out", "m.jsonl", "--out", "m.dot", "--sheet", "comma", "--draw", 2)
        self.assertEqual(done.err, "deltamatch: ring: 2 of 3 matches are drawn; raise --draw for more\n")
        self.assertEqual(len(self.page().data["matches"]), 2)
        alone = {}
        for name in ("m.csv", "m.jsonl"):
            alone[name] = self.read(name)
            self.ok(*self.args, "--out", name, *(["--sheet", "comma"] if name == "m.csv" else []))
        self.assertEqual({name: self.read(name) for name in alone}, alone)
        self.assertEqual(len(alone["m.jsonl"].splitlines()), 3)
        self.fails(2, *self.args, "--out", "m.csv", "--out", "./m.csv", says="this is also the file of --out m.csv")
        self.fails(2, *self.args, "--out", "-", "--out", "-", says="--out -: standard output is named more than once")
        self.fails(2, *self.args, "--out", "m.csv", "--out", "m.html", "--out-format", "csv", says="--out-format: several files would have one format")
        self.fails(2, *self.args, "--out", "m.csv", "--out", "-", "--json", says="both go to standard output")
        self.fails(2, *self.args, "--out", "m.csv", "--out", "m.xyz", says="no format of matches has the ending '.xyz'")

    def test_a_page_loads_nothing(self):
        self.ok(*self.args, "--out", "m.html")
        page = self.page()
        self.assertEqual([attributes for _, attributes in page.tags if "src" in attributes or "href" in attributes], [])
        policy = [attributes["content"] for tag, attributes in page.tags if attributes.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(len(policy), 1)
        self.assertIn("default-src 'none'", policy[0])
        self.assertNotIn("innerHTML", page.scripts["text/javascript"])

    def test_a_page_begins_with_all_matches_and_labels_stand_before_lines(self):
        self.ok(*self.args, "--out", "m.html")
        script = self.page().scripts["text/javascript"]
        self.assertRegex(script, r"\} else \{\s+overview\(\);")
        self.assertIn('draw("rect"', script)
        self.assertIn("...edgesInWords(match)", script, "with the times and attributes of edges")
        self.assertRegex(self.read("m.html"), r"\bth \{[^}]*white-space: nowrap", "no header breaks within a word")

    def test_dot_has_a_cluster_for_each_match(self):
        self.ok(*self.args, "--out", "m.dot")
        text = self.read("m.dot")
        words = tokens(text)
        self.assertEqual(words[:3], ["digraph", "matches", "{"])
        self.assertEqual(words.count("subgraph"), 3)
        self.assertEqual(words.count("->"), 9)
        self.assertIn(("t2:TRANSFER\\namount 1200.00\\nchannel web\\n2026-01-05T10:00:00Z\\nt1",), words)
        self.assertEqual(words.count(("#cf222e",)), 2 + 3, "the removed match is red")

    def test_graphml_has_each_vertex_and_edge_once_with_types(self):
        self.ok(*self.args, "--out", "m.graphml")
        root = xml.fromstring(self.read("m.graphml").encode())
        keys = {key.get("id"): (key.get("for"), key.get("attr.name"), key.get("attr.type")) for key in root.iter(NS + "key")}
        self.assertEqual({name: kind for _, name, kind in keys.values() if name in ("amount", "channel", "key", "new", "time")},
                         {"amount": "double", "channel": "string", "key": "string", "new": "long", "time": "string"})
        values = lambda element: {keys[data.get("key")][1]: data.text for data in element.iter(NS + "data")}
        vertices = {node.get("id"): values(node) for node in root.iter(NS + "node")}
        self.assertEqual(sorted((node["label"], node["id_type"], node["new"], node["removed"]) for node in vertices.values()),
                         [("9", "integer", "2", "1"), ("ann", "text", "2", "1"), ("bob", "text", "2", "1")])
        edges = [(edge, values(edge)) for edge in root.iter(NS + "edge")]
        self.assertEqual({value["key"]: (value["amount"], value["new"], value["removed"]) for _, value in edges},
                         {"t1": ("1200.00", "2", "1"), "t2": ("1100.50", "2", "1"), "t3": ("1000.00", "1", "0"), "t4": ("7.00", "1", "1")})
        self.assertTrue(all(edge.get("source") in vertices and edge.get("target") in vertices for edge, _ in edges))
        self.assertNotIn("channel", next(value for _, value in edges if value["key"] == "t2"), "NULL is left out")

    def test_hostile_ids_are_texts_everywhere(self):
        rows = [{"source": HOSTILE[i], "target": HOSTILE[(i + 1) % 3], "label": HOSTILE[3 + i]} for i in range(3)]
        self.write("h.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        query = "q=(a)-->(b)-->(c)-->(a)"
        for name in ("h.html", "h.dot", "h.graphml"):
            self.ok("match", "--graph", "h.jsonl", "--query", query, "--emit", "matches", "--out", name)
        page = self.page("h.html")
        self.assertEqual(sorted(vertex[1] for vertex in page.data["matches"][0][5]), sorted(HOSTILE[:3]))
        self.assertEqual([tag for tag, _ in page.tags].count("script"), 2)
        self.assertNotIn("img", [tag for tag, _ in page.tags])
        between = self.read("h.html").split('id="data">', 1)[1].split("</script>", 1)[0]
        self.assertNotIn("<", between)
        root = xml.fromstring(self.read("h.graphml").encode())
        texts = {data.text for data in root.iter(NS + "data")}
        self.assertLessEqual(set(HOSTILE[:6]), texts)
        labels = "".join(word[0] for word in tokens(self.read("h.dot")) if isinstance(word, tuple))
        self.assertIn(r'a\"b\\N&amp;lt;<!--', labels)

    def test_bytes_that_are_no_text_are_replaced(self):
        self.write("b.tsv", b"+\tx\xff\xc3\ty\tT\n+\ty\tx\xff\xc3\tT\n")
        for name in ("b.html", "b.dot", "b.graphml"):
            self.ok("replay", "--updates", "b.tsv", "--format", "tsv", "--columns", "op,source,target,label", "--query", "q=(a)-->(b)-->(a)", "--emit", "matches", "--out", name)
            self.assertIn("x\ufffd\ufffd", (self.dir / name).read_bytes().decode())
        xml.fromstring(self.read("b.graphml").encode())

    def test_the_first_matches_of_each_query_are_drawn_and_the_others_counted(self):
        self.write("star.txt", "".join(f"{i} {(i + 1) % 30}\n" for i in range(30)))
        args = ["match", "--graph", "star.txt", "--query", "path=(a)-->(b)-->(c)", "--query", "edge=(a)-->(b)", "--emit", "matches", "--json"]
        for name in ("p.html", "p.dot", "p.graphml"):
            done = self.run_program(*args, "--out", name, "--draw", 7)
            self.assertEqual(done.code, 0, done)
            self.assertEqual(done.err, "deltamatch: path: 7 of 30 matches are drawn; raise --draw for more\n"
                                       "deltamatch: edge: 7 of 30 matches are drawn; raise --draw for more\n")
            self.assertEqual([query["matches"] for query in json.loads(done.out)["queries"]], [30, 30])
            self.assertIn("path: 7 of 30 matches are drawn", self.read(name))
        self.assertEqual(len(self.page("p.html").data["matches"]), 14)
        self.ok(*args, "--out", "all.html", "--draw", 30)
        self.assertEqual(len(self.page("all.html").data["matches"]), 60)

    def test_a_thousand_are_drawn_if_nothing_is_said(self):
        self.write("many.txt", "".join(f"{i} {i + 1}\n" for i in range(1001)))
        done = self.run_program("match", "--graph", "many.txt", "--query", "e=(a)-->(b)", "--emit", "matches", "--out", "m.html")
        self.assertIn("e: 1000 of 1001 matches are drawn", done.err)
        self.assertEqual(len(self.page().data["matches"]), 1000)

    def test_what_ended_early_says_so(self):
        self.write("e.txt", "".join(f"{i} {i + 1}\n" for i in range(9)))
        done = self.run_program("match", "--graph", "e.txt", "--query", "e=(a)-->(b)", "--emit", "matches", "--limit", 4, "--out", "m.html")
        self.assertEqual(done.code, 1)
        self.assertEqual(self.page().data["missing"], ["e: the list of its matches ended early (limit)"])

    def test_an_error_in_the_stream_leaves_the_picture_of_what_was_found(self):
        self.write("bad.txt", "1 2\n2 3\n3 1\n4 x\n")
        done = self.run_program("replay", "--updates", "bad.txt", "--query", harness.TRIANGLE, "--batch", 3, "--emit", "matches", "--out", "m.html")
        self.assertEqual(done.code, 1)
        page = self.page()
        self.assertEqual(len(page.data["matches"]), 1)
        self.assertEqual(page.data["missing"], ["triangle: the list of its matches ended early (stopped)"])

    def test_signs_and_times_hold_for_pictures(self):
        self.ok(*self.args, "--out", "m.html", "--signs", "removed", "--times", "us")
        (match,) = self.page().data["matches"]
        self.assertEqual((match[1], match[4]), ("-", "1767607321000000"))

    def test_paths_and_doubled_vertices_are_drawn(self):
        self.ok("replay", "--updates", "s.csv", "--edges", "keyed", "--query", "p=(a)-[t]->{2,3}(b)", "--mode", "homomorphism", "--emit", "matches",
                "--out", "m.html")
        names = {edge[2] for match in self.page().data["matches"] for edge in match[6]}
        self.assertEqual(names, {"t[1]", "t[2]", "t[3]"})
        back = [match for match in self.page().data["matches"] if len(match[6]) == 3 and match[5][0][0] == "a, b"]
        self.assertTrue(back, "no match leads back to its beginning")

    def test_an_empty_picture_is_one(self):
        for name in ("m.html", "m.dot", "m.graphml"):
            self.run_program("match", "--graph", "s.csv", "--query", "none=(a)-[:NONE]->(b)", "--emit", "matches", "--out", name)
        self.assertEqual(self.page().data["matches"], [])
        self.assertIn(("no match\\l",), tokens(self.read("m.dot")))
        xml.fromstring(self.read("m.graphml").encode())

    def test_undirected_graphs_have_no_arrows(self):
        self.write("u.txt", "1 2\n2 3\n3 1\n")
        args = ["match", "--graph", "u.txt", "--undirected", "--query", "t=(a)--(b)--(c)--(a)", "--emit", "matches", "--out"]
        self.ok(*args, "u.graphml")
        self.ok(*args, "u.gv")
        self.ok(*args, "u.htm")
        self.assertEqual(xml.fromstring(self.read("u.graphml")).find(NS + "graph").get("edgedefault"), "undirected")
        self.assertIn("dir=none", self.read("u.gv"))
        self.assertFalse(self.page("u.htm").data["directed"])

    def test_a_picture_may_go_to_standard_output(self):
        done = self.run_program(*self.args, "--out-format", "dot")
        self.assertEqual(done.code, 0)
        self.assertTrue(done.out.startswith("digraph matches {"))
        self.assertIn("ring", done.err)

    def test_wrong_usage_is_refused(self):
        self.fails(2, *self.args, "--draw", 5, "--out", "m.jsonl", says="nothing is drawn")
        self.fails(2, *self.args, "--draw", 0, "--out", "m.html", says="write a whole number")
        self.fails(2, "replay", "--updates", "s.csv", "--query", RING, "--out", "m.html", says="no matches are written; add --emit matches")


if __name__ == "__main__":
    harness.main()
