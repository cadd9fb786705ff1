"""motifs, cliques and quasi-cliques as a user runs them: what they print, list and refuse."""

import csv
import io
import itertools
import json
import math

from harness import CliTest, main

# Two triangles that share the vertex c, and a tail: bowtie a-b-c-d-e with f on e.
EDGES = ["ab", "bc", "ca", "cd", "de", "ec", "ef"]
BOWTIE = "source,target\n" + "".join(f"{u},{v}\n" for u, v in EDGES)
K5 = "".join(f"{u} {v}\n" for u, v in itertools.combinations(range(5), 2))


class Mine(CliTest):
    def counts(self, result, rows="motifs", key="pattern"):
        return {row[key]: row["count"] for row in result[rows]}

    def mine(self, command, graph, *args, name="graph.txt"):
        self.write(name, graph)
        return self.json(command, "--graph", name, *args)

    def test_motifs_are_named_drawn_and_counted(self):
        result = self.mine("motifs", BOWTIE, "-k", "3")
        self.assertEqual(self.counts(result), {"Bo": 6, "Bw": 2})
        self.assertEqual(result["motifs"][1], {"pattern": "Bw", "name": "triangle", "edges": [[0, 1], [0, 2], [1, 2]], "count": 2})
        self.assertEqual((result["k"], result["method"], result["total"]), (3, "formulas", 8))
        self.assertEqual(list(result), ["v", "version", "mode", "counting", "threads", "graph", "ignored", "warnings", "k", "method", "motifs", "total", "seconds"])
        self.assertEqual(result["graph"]["edges"], 7)
        table = self.ok("motifs", "--graph", "graph.txt", "-k", "3").out
        self.assertRegex(table, r"(?m)^Bw +2  triangle  0-1 0-2 1-2$")
        self.assertIn("6 vertices, 7 edges (undirected, simple)", table)
        out = self.ok("motifs", "--graph", "graph.txt", "-k", "3", "--csv").out
        self.assertEqual(list(csv.reader(io.StringIO(out)))[1:], [["Bo", "6", "path", "0-1 0-2"], ["Bw", "2", "triangle", "0-1 0-2 1-2"]])

    def test_methods_agree(self):
        self.write("graph.txt", BOWTIE + "".join(f"{u},{v}\n" for u, v in itertools.combinations("adxyz", 2) if u + v != "ad"))
        for k in range(3, 9):
            methods = ["auto", "pairs", "extend"] + (["formulas"] if k <= 5 else [])
            answers = [self.counts(self.json("motifs", "--graph", "graph.txt", "-k", k, "--method", m)) for m in methods]
            self.assertTrue(all(a == answers[0] for a in answers), k)
            self.assertEqual(len(answers[0]), {3: 2, 4: 6, 5: 21, 6: 112, 7: 853, 8: 11117}[k])

    def test_direction_labels_and_parallel_edges_play_no_part(self):
        plain = self.counts(self.mine("motifs", BOWTIE, "-k", "4"))
        stream = "source,target,label\n" + "".join(f"{u},{v},{l}\n{v},{u},x\n" for l, (u, v) in zip("xyxyxyx", EDGES))
        for direction in ("--directed", "--undirected"):
            self.assertEqual(self.counts(self.mine("motifs", stream, "-k", "4", direction, name="graph.csv")), plain)

    def test_conditions_choose_patterns(self):
        result = self.mine("motifs", BOWTIE, "-k", "5", "--where", "triangles = 2 and leaves = 0")
        self.assertEqual([(m["name"], m["count"]) for m in result["motifs"] if m["count"]], [("bowtie", 1)])
        self.assertLess(len(result["motifs"]), 21)
        grown = self.mine("motifs", BOWTIE, "-k", "4", "--growing", "triangles = 0")
        every = self.mine("motifs", BOWTIE, "-k", "4", "--where", "triangles = 0")
        self.assertEqual(grown["method"], "extend")
        self.assertEqual({p: n for p, n in self.counts(grown).items() if n}, {p: n for p, n in self.counts(every).items() if n})

    def test_listed_subgraphs_are_those_counted(self):
        self.write("graph.txt", BOWTIE)
        result = self.json("motifs", "--graph", "graph.txt", "-k", "3", "--emit", "subgraphs", "--out", "found.jsonl")
        found = self.lines("found.jsonl")
        self.assertEqual((result["listed"], len(found)), (8, 8))
        self.assertEqual({frozenset(f["vertices"]) for f in found if f["pattern"] == "Bw"}, {frozenset("abc"), frozenset("cde")})
        edges = {frozenset(edge) for edge in EDGES}
        drawn = {m["pattern"]: m["edges"] for m in result["motifs"]}
        for each in found:  # the vertices of a line are in the pattern's order
            for i, j in itertools.combinations(range(3), 2):
                self.assertEqual(frozenset((each["vertices"][i], each["vertices"][j])) in edges, [i, j] in drawn[each["pattern"]])
        outcome = self.run_program("motifs", "--graph", "graph.txt", "-k", "3", "--emit", "subgraphs", "--out-format", "csv")
        self.assertEqual((outcome.code, outcome.out.splitlines()[0], outcome.out.count("\n")), (0, "pattern,v0,v1,v2", 9))
        self.assertIn("listed   8", outcome.err)

    def test_limit_marks_the_answer_as_partial(self):
        self.write("graph.txt", K5)
        outcome = self.run_program("motifs", "--graph", "graph.txt", "-k", "3", "--emit", "subgraphs", "--out", "x", "--limit", "4",
                                   "--json")
        found = self.lines("x")
        self.assertEqual((outcome.code, len(found), found[-1]), (1, 5, {"partial": "limit", "listed": 4}))
        told = json.loads(outcome.out)
        self.assertEqual((told["complete"], told["partial"]), (False, "limit"))
        self.assertIn("stopped by --limit", outcome.err)
        self.fails(1, "motifs", "--graph", "graph.txt", "-k", "3", "--emit", "subgraphs", "--out", "x.csv", "--limit", "4", reports=True)
        self.assertEqual(self.read("x.csv").splitlines()[5:], ["partial:limit,,,"])
        self.ok("cliques", "--graph", "graph.txt", "-k", "3", "--emit", "subgraphs", "--out", "x", "--limit", "10", "--json")

    def test_a_csv_list_has_its_header_also_where_nothing_is_listed(self):
        self.write("graph.txt", "1 2\n2 3\n3 4\n")
        for args, header in ((["cliques", "-k", 3], "v0,v1,v2"), (["motifs", "-k", 4, "--where", "triangles = 1"], "pattern,v0,v1,v2,v3"),
                             (["quasi-cliques", "-k", 3, "--density", 1], "edges,v0,v1,v2")):
            self.ok(*args, "--graph", "graph.txt", "--emit", "subgraphs", "--out", "x.csv", "--json")
            self.assertEqual(self.read("x.csv"), header + "\n")
        self.write("bipartite.txt", "".join(f"{u} {v}\n" for u in range(300) for v in range(300, 600)))
        self.fails(1, "motifs", "-k", 3, "--where", "triangles = 1", "--graph", "bipartite.txt", "--emit", "subgraphs", "--out", "x.csv",
                   "--timeout", "1us", reports=True)
        self.assertEqual(self.read("x.csv").splitlines(), ["pattern,v0,v1,v2", "partial:timeout,,,"])
        # A size beyond any graph does not fill the disk.
        self.ok("cliques", "-k", 2 * 10**9, "--graph", "graph.txt", "--emit", "subgraphs", "--out", "x.csv", "--json")
        self.assertLess(len(self.read("x.csv")), 1000)

    def test_timeout_marks_the_answer_as_partial(self):
        self.write("big.txt", "".join(f"{u} {v}\n" for u in range(300) for v in range(u) if (u * v + u + v) % 3))
        for args in (["motifs", "-k", "7"], ["cliques"], ["quasi-cliques", "-k", "9", "--density", "0.5"]):
            self.fails(1, args[0], "--graph", "big.txt", *args[1:], "--timeout", "1ms", reports=True, says="stopped by --timeout")
            self.fails(1, args[0], "--graph", "big.txt", *args[1:], "--timeout", "1ms", "--json", reports=True)

    def test_progress_is_shown_when_asked_for(self):
        self.write("big.txt", "".join(f"{u} {v}\n" for u in range(300) for v in range(u) if (u * v + u + v) % 3))
        outcome = self.run_program("motifs", "--graph", "big.txt", "-k", "6", "--timeout", "900ms", "--progress", "always")
        self.assertIn("starting points", outcome.err)

    def test_cliques(self):
        result = self.mine("cliques", K5)
        self.assertEqual(self.counts(result, "cliques", "k"), {1: 5, 2: 10, 3: 10, 4: 5, 5: 1})
        self.assertEqual(self.counts(self.mine("cliques", K5, "-k", "4"), "cliques", "k"), {4: 5})
        self.assertEqual(self.counts(self.mine("cliques", K5, "-k", "6"), "cliques", "k"), {6: 0})
        self.assertEqual(self.counts(self.mine("cliques", K5, "-k", "2000000000"), "cliques", "k"), {2000000000: 0})
        self.write("bowtie.txt", BOWTIE)
        self.json("cliques", "--graph", "bowtie.txt", "-k", "3", "--emit", "subgraphs", "--out", "found.csv")
        self.assertEqual(sorted(self.read("found.csv").splitlines()), ["a,b,c", "c,d,e", "v0,v1,v2"])

    def test_a_total_beyond_128_bits_is_left_out(self):
        def complete(n):
            return "".join(f"{u} {v}\n" for u, v in itertools.combinations(range(n), 2))

        self.assertEqual(self.mine("cliques", complete(128))["total"], 2**128 - 1)
        result = self.mine("cliques", complete(129))
        self.assertIs(result["total"], None)
        self.assertEqual(self.counts(result, "cliques", "k"), {k: math.comb(129, k) for k in range(1, 130)})
        self.assertRegex(self.ok("cliques", "--graph", "graph.txt").out, r"(?m)^total +beyond 2\^128-1$")

    def test_a_size_beyond_128_bits_is_an_error_that_names_it(self):
        graph = "".join(f"{u} {v}\n" for u, v in itertools.combinations(range(200), 2))
        self.write("large.txt", graph)
        self.fails(1, "cliques", "--graph", "large.txt", "-k", "100", says="cliques of 100 vertices: more than 2^128-1; count a size of which")
        self.fails(1, "cliques", "--graph", "large.txt", says="cliques: more than 2^128-1; count only one size, with -k")
        self.assertEqual(self.counts(self.mine("cliques", graph, "-k", "17"), "cliques", "k"), {17: math.comb(200, 17)})

    def test_so_is_one_of_quasi_cliques(self):
        self.write("large.txt", "".join(f"{u} {v}\n" for u, v in itertools.combinations(range(460), 2)))
        self.fails(1, "quasi-cliques", "--graph", "large.txt", "-k", "24", "--density", "1",
                   says="quasi-cliques of 24 vertices: more than 2^128-1; count a size of which there are fewer")

    def test_quasi_cliques(self):
        graph = K5.replace("3 4\n", "")
        result = self.mine("quasi-cliques", graph, "-k", "4", "--density", "0.8")
        self.assertEqual((result["k"], result["least"]), (4, 5))
        self.assertEqual(self.counts(result, "quasi_cliques", "edges"), {6: 2, 5: 3})
        listed = self.mine("quasi-cliques", graph, "-k", "5", "--density", "0.9", "--emit", "subgraphs", "--out", "found.jsonl")
        self.assertEqual(self.counts(listed, "quasi_cliques", "edges"), {10: 0, 9: 1})
        self.assertEqual(self.lines("found.jsonl"), [{"edges": 9, "vertices": [0, 1, 2, 3, 4]}])

    def test_empty_graphs_and_graphs_smaller_than_k(self):
        for graph in ("", "1 2\n"):
            self.assertEqual(self.mine("motifs", graph, "-k", "4")["total"], 0)
            self.assertEqual(self.mine("motifs", graph, "-k", "8")["total"], 0)
            self.assertEqual(self.mine("quasi-cliques", graph, "-k", "4", "--density", "0.5")["total"], 0)
            self.assertEqual(self.mine("cliques", graph, "-k", "3")["total"], 0)
        self.assertEqual(self.mine("cliques", "")["cliques"], [])

    def test_wrong_usage(self):
        self.write("graph.txt", K5)
        graph = ("--graph", "graph.txt")
        wrong = [
            (["motifs", *graph], "-k is required"),
            (["motifs", "-k", "4"], "name one with --graph"),
            (["motifs", *graph, "-k", "1"], "whole number from 2 to 8"),
            (["motifs", *graph, "-k", "9"], "whole number from 2 to 8"),
            (["motifs", *graph, "-k", "x"], "whole number from 2 to 8"),
            (["motifs", *graph, "-k", "4", "--where", "edges >> 5"], "--where, column 8: a feature or a number is needed"),
            (["motifs", *graph, "-k", "4", "--where", "edges / 0 > 1"], "--where, column 7: '/' is not expected here"),
            (["motifs", *graph, "-k", "4", "--where", "hubs > 1"], "--where, column 1: 'hubs' is not known"),
            (["motifs", *graph, "-k", "4", "--growing", ""], "--growing, column 1"),
            (["motifs", *graph, "-k", "6", "--method", "formulas"], "there are formulas only up to -k 5"),
            (["motifs", *graph, "-k", "4", "--method", "pairs", "--growing", "edges > 0"], "does not grow each subgraph"),
            (["motifs", *graph, "-k", "4", "--method", "pairs", "--emit", "subgraphs"], "leave --method out"),
            (["motifs", *graph, "-k", "4", "--limit", "3"], "add --emit subgraphs"),
            (["motifs", *graph, "-k", "4", "--out", "x"], "add --emit subgraphs"),
            (["motifs", *graph, "-k", "4", "--json", "--csv"], "choose one of them"),
            (["motifs", *graph, "-k", "4", "--emit", "subgraphs", "--json"], "write the subgraphs to a file"),
            (["motifs", *graph, "-k", "4", "--emit", "subgraphs", "--out", "graph.txt"], "--out"),
            (["motifs", *graph, "-k", "4", "--method", "formulas", "--backend", "gpu"], "formulas are evaluated on CPU cores"),
            (["motifs", *graph, "-k", "6", "--emit", "subgraphs", "--backend", "gpu"], "lists are made on CPU cores"),
            (["cliques", *graph, "-k", "4", "--emit", "subgraphs", "--backend", "gpu"], "lists are made on CPU cores"),
            (["quasi-cliques", *graph, "-k", "5", "--density", "0.5", "--backend", "gpu"], "the CPU counts sets that may lack more than k - 2 edges"),
            (["cliques", *graph, "-k", "4", "--backend", "cpu", "--devices", "0"], "options of GPUs have no effect with it"),
            (["cliques", *graph, "-k", "3", "--emit", "subgraphs", "--out", "x.dmm"], "--out x.dmm: .dmm means binary; subgraphs need jsonl or csv"),
            (["cliques", *graph, "-k", "0"], "whole number from 1"),
            (["cliques", *graph, "--emit", "subgraphs"], "add -k K"),
            (["quasi-cliques", *graph, "-k", "4"], "--density is required"),
            (["quasi-cliques", *graph, "-k", "25", "--density", "0.5"], "whole number from 2 to 24"),
            (["quasi-cliques", *graph, "-k", "4", "--density", "1.5"], "--density"),
        ]
        for args, says in wrong:
            with self.subTest(args):
                self.fails(2, *args, says=says)
        self.assertEqual(self.read("graph.txt"), K5)
        self.assertFalse((self.dir / "x.dmm").exists())
        self.ok("cliques", *graph, "-k", "3", "--emit", "subgraphs", "--out", "x.dmm", "--out-format", "jsonl")
        self.fails(1, "motifs", "--graph", "absent.txt", "-k", "3", says="absent.txt")
        self.write("loop.txt", "1 1\n1 2\n")
        told = self.json("motifs", "--graph", "loop.txt", "-k", "2")
        self.assertEqual((told["total"], told["ignored"]["self_loop"]), (1, 1))
        self.assertIn("\nignored  self_loop 1\n", self.ok("motifs", "--graph", "loop.txt", "-k", "2").out)


if __name__ == "__main__":
    main()
