"""Vertices with several labels, and labels that change while edges live: all inputs, outputs and formats."""

import json

import harness

EDGES = "source,target,label\na,b,T\nb,c,T\nc,a,T\n"
NODES = "accountId:ID,name,:LABEL\na,x,Account;Flagged\nb,y,Account\nc,z,\n"
RELATIONS = ":START_ID,:END_ID,:TYPE,amount:float\na,b,TRANSFER,10\nb,c,TRANSFER,9\nc,a,TRANSFER,8\n"
FLAGGED = "f=(a:Flagged)-[:T]->(b)"


class VertexLabels(harness.CliTest):
    def deltas(self, *args):
        told = self.json("replay", *args)
        return [(query["new"], query["removed"]) for query in told["queries"]]

    def matches(self, pattern, *args):
        return self.json("match", "--query", "q=" + pattern, *args)["queries"][0]["matches"]

    def test_tables_of_neo4j_are_recognised(self):
        self.write("nodes.csv", NODES)
        self.write("relations.csv", RELATIONS)
        inputs = ["--graph", "relations.csv", "--labels", "nodes.csv"]
        for pattern, count in (("(a:Account)-[:TRANSFER]->(b:Account)", 1), ("(a:Account&Flagged)-[:TRANSFER]->(b)", 1),
                               ("(a:!Flagged)-->(b)", 2), ("(a:Account|Flagged)-->(b)", 2), ("(a:``)-->(b)", 1), ("(a:%)-->(b)", 2),
                               ("(a:!(Account&Flagged))-->(b)", 2), ("(a:Account:Flagged)-->(b)", 1)):
            self.assertEqual(self.matches(pattern, *inputs), count, pattern)
        # Spaces of ids, another separator, and a name in front.
        self.write("nodes.csv", NODES.replace(":ID", ":ID(Account)").replace(",", "\t"))
        self.write("relations.csv", RELATIONS.replace(":START_ID", "from:START_ID(Account)").replace(":END_ID", "to:END_ID(Account)"))
        self.assertEqual(self.matches("(a:Account&Flagged)-[:TRANSFER]->(b)", *inputs), 1)
        self.assertEqual(self.matches("(a)-[t:TRANSFER]->(b) WHERE t.amount > 8", "--graph", "relations.csv", "--edges", "events",
                                      "--attributes", "amount:float"), 2)

    def test_json_and_csv_state_sets_in_the_same_ways(self):
        self.write("e.csv", EDGES)
        for name, text in (("l.jsonl", '{"vertex":"a","labels":["Flagged","Account","Flagged"]}\n{"id":"b","labels":["Account"]}\n'),
                           ("l.jsonl", '{"vertex":"a","label":["Account","Flagged"]}\n{"vertex":"b","label":"Account"}\n'),
                           ("l.jsonl", '[{"id":"a","add_labels":["Account","Flagged"]},{"id":"b","labels":["X"],"add_labels":["Account"],"remove_labels":["X"]}]\n'),
                           ("l.csv", "id,labels\na,Account;Flagged\nb,Account\n"), ("l.csv", "id,labels\na,:Flagged:Account\nb,:Account\n"),
                           ("l.csv", "id,labels,add_labels\na, Account ; Flagged,\nb,,Account\n"),
                           ("l.csv", "vertex,add_labels,remove_labels\na,Account;Flagged;X,X\nb,Account,\n")):
            self.write(name, text)
            inputs = ["--graph", "e.csv", "--labels", name]
            self.assertEqual([self.matches(p, *inputs) for p in ("(a:Account)-->(b)", "(a:Account&Flagged)-->(b)", "(a:Account&!Flagged)-->(b)")],
                             [2, 1, 1], text)

    def test_a_record_of_a_vertex_changes_labels_while_edges_live(self):
        self.write("s.jsonl", '{"vertex":"A","label":"Account"}\n{"source":"A","target":"B","label":"T"}\n'
                              '{"vertex":"A","label":"Flagged"}\n{"vertex":"A","add_labels":["Account"]}\n{"vertex":"A","labels":[]}\n')
        queries = ["--query", FLAGGED, "--query", "g=(a:Account)-->(b)", "--query", "h=(a)-->(b)"]
        for batch, expected in ((1, [(1, 1), (2, 2), (1, 0)]), (3, [(1, 1), (0, 0), (1, 0)]), (5, [(0, 0), (0, 0), (1, 0)])):
            self.assertEqual(self.deltas("--updates", "s.jsonl", "--batch", batch, *queries), expected, batch)
        self.ok("replay", "--updates", "s.jsonl", "--batch", 1, *queries, "--emit", "matches", "--out", "o.jsonl")
        alerts = [(line["batch"], line["query"], line["sign"]) for line in self.lines("o.jsonl")]
        self.assertEqual(alerts, [(2, "g", "+"), (2, "h", "+"), (3, "f", "+"), (3, "g", "-"), (4, "g", "+"), (5, "f", "-"), (5, "g", "-")])

    def test_small_cases(self):
        self.write("after.jsonl", '{"source": "A", "target": "B", "label": "T"}\n{"vertex": "A", "label": "Flagged"}\n')
        self.write("later.jsonl", '{"vertex": "A", "label": "Account"}\n{"source": "A", "target": "B", "label": "T"}\n'
                                  '{"vertex": "A", "label": "Flagged"}\n')
        for name in ("after.jsonl", "later.jsonl"):
            for batch in (1, 2, 8):
                self.assertEqual(self.deltas("--updates", name, "--batch", batch, "--query", FLAGGED), [(1, 0)], (name, batch))

    def test_a_record_of_an_edge_may_state_a_part(self):
        start = '{"vertex":"a","labels":["Account","Flagged"]}\n{"source":"a","target":"b"}\n'
        self.write("s.jsonl", start + '{"source":"a","target":"c","source_label":"Flagged"}\n{"source":"a","target":"d","source_label":["Flagged","Account"]}\n')
        self.assertEqual(self.deltas("--updates", "s.jsonl", "--query", "q=(a:Account&Flagged)-->(b)"), [(3, 0)])
        self.write("s.jsonl", start + '{"source":"a","target":"c","source_label":"Closed"}\n')
        self.fails(1, "replay", "--updates", "s.jsonl", "--query", FLAGGED, reports=True, says="s.jsonl:3: label_conflict: edge from `a` to `c`")

    def test_a_whole_graph_states_a_vertex_once(self):
        self.write("g.jsonl", '{"source":"a","target":"b","source_label":"Account"}\n{"vertex":"a","labels":["Account","Flagged"]}\n'
                              '{"vertex":"a","labels":["Flagged"]}\n{"vertex":"a","add_labels":["Seen"]}\n')
        self.assertEqual(self.matches("(a:Account&Flagged&Seen)-->(b)", "--graph", "g.jsonl"), 1)
        self.write("h.jsonl", '{"vertex":"a","labels":["Account","Flagged"]}\n{"vertex":"a","labels":["Closed"]}\n')
        self.fails(1, "match", "--graph", "h.jsonl", "--query", FLAGGED, says="h.jsonl:2: label_conflict: vertex `a` has another label already")

    def test_all_formats_keep_sets_and_changes(self):
        self.write("s.jsonl", '{"vertex":"a","labels":["B","A"]}\n{"source":"a","target":"b","source_label":["A","B"],"time":5}\n'
                              '{"vertex":"b","label":"A"}\n{"vertex":"b","add_labels":["C"],"remove_labels":["A"]}\n')
        self.ok("convert", "s.jsonl", "s.dmu", "--to", "binary")
        self.ok("convert", "s.dmu", "t.jsonl", "--to", "jsonl")
        self.assertEqual(self.lines("t.jsonl"), [
            {"vertex": "a", "labels": ["A", "B"]}, {"source": "a", "target": "b", "source_label": ["A", "B"], "time": 5},
            {"vertex": "b", "label": "A"}, {"vertex": "b", "add_labels": ["C"], "remove_labels": ["A"]}])
        query = "q=(a:A&B)-->(b:C&!A)"
        for name in ("s.jsonl", "s.dmu", "t.jsonl"):
            self.assertEqual(self.deltas("--updates", name, "--batch", 2, "--query", query), [(1, 0)], name)
        self.ok("convert", "s.jsonl", "g.dmg", "--to", "graph")
        self.assertEqual(self.matches("(a:B)-->(b:C)", "--graph", "g.dmg"), 1)
        self.assertEqual(self.matches("(a:!C)-->(b:A|C)", "--graph", "g.dmg"), 1)
        self.ok("replay", "--updates", "s.jsonl", "--query", query, "--save-snapshot", "s.dms")
        self.assertEqual(self.matches("(a:B)-->(b:C)", "--snapshot", "s.dms"), 1)
        exported = [json.loads(line) for line in self.ok("snapshot", "export", "s.dms").out.splitlines()]
        self.assertEqual(exported[:2], [{"vertex": "a", "labels": ["A", "B"]}, {"vertex": "b", "label": "C"}])

    def test_what_is_no_list_is_told(self):
        self.write("e.csv", EDGES)
        for text, says in (('{"vertex":"a","labels":[["A"]]}\n', "field `labels` has a label that is neither a string nor a number"),
                           ('{"vertex":"a","labels":{"A":1}}\n', "field `labels` is neither a string nor a number"),
                           ('{"source":"a","target":"b","label":["S","T"]}\n', "label are several labels, but an edge has one")):
            self.write("l.jsonl", text)
            self.fails(1, "match", "--graph", "l.jsonl", "--query", FLAGGED, says="l.jsonl:1: malformed: " + says)
        # Of an edge, a field `labels` means nothing.
        self.write("l.jsonl", '{"source":"a","target":"b","label":"T","labels":{"x":1}}\n')
        self.assertEqual(self.matches("(a)-[:T]->(b)", "--graph", "l.jsonl"), 1)

    def test_more_sets_than_the_limit(self):
        self.write("l.csv", "id,labels\na,A;B\nb,B;A\nc,A\nd,B\n")
        self.write("e.csv", EDGES)
        self.fails(1, "match", "--graph", "e.csv", "--labels", "l.csv", "--max-labels", 2, "--query", FLAGGED, says="l.csv:5: label_limit")

    def test_explain_shows_the_expression(self):
        self.write("e.csv", EDGES)
        self.write("l.csv", "id,labels\na,A;B\nb,A\nc,C\n")
        text = self.ok("explain", "--graph", "e.csv", "--labels", "l.csv", "--query", "q=(a:A)-->(b:!B|C)").out
        self.assertIn("query q: (a:A)-->(b:!B|C)", text)
        self.assertIn("anchor (a:A)-->(b:!B|C)", text)


if __name__ == "__main__":
    harness.main()
