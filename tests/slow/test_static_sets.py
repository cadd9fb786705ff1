"""labelled-tve: whole graphs with 5 to 307 vertex labels, and the queries commonly used for them. Every query of up to 8
vertices, and a sample of the larger ones, is counted with and without induced matching.

count_embeddings is a test program that shares no code with the tested one. The counts that it finishes in its time must be
equal. For the other counts, a sample of listed matches must be correct and distinct.
"""

import json
import lzma
import os
import pathlib
import random
import subprocess
import tarfile

import datasets
from reference import Edge, Graph, Index, Pattern
from streams import StreamTest, main
from test_labelled_tve import read_pattern

COUNTER = os.environ.get("DELTAMATCH_COUNTER", "")
SECONDS = float(os.environ.get("DELTAMATCH_SET_SECONDS", 150))  # CPU time for the counter's counts of a set
QUERY_SECONDS = float(os.environ.get("DELTAMATCH_QUERY_SECONDS", 4))  # CPU time for one count of the counter
PROGRAM_TIME = os.environ.get("DELTAMATCH_QUERY_TIME", "300ms")  # time limit of the program for one count
TIMEOUT = 400 + 2 * SECONDS  # time limit of a process
LISTED = 100         # matches to check per count that was not compared
LISTINGS = 12        # queries whose matches are listed
SMALL = ("dense_4", "dense_8", "sparse_8")
LARGE = ("dense_12", "sparse_12", "dense_16", "sparse_16", "dense_20", "sparse_20")


class Sets(StreamTest):
    def test_yeast(self):
        self.check("yeast", {**dict.fromkeys(SMALL, 200), "dense_16": 5, "sparse_16": 5}, share=0.9)

    def test_hprd(self):
        large = {f"{kind}_{size}": 40 for size in (16, 24, 32) for kind in ("dense", "sparse")}
        self.check("hprd", {**dict.fromkeys(SMALL, 200), **large}, share=0.95)

    def test_human(self):
        """Its queries have 12 to 20 vertices and up to 10^17 embeddings, so parts of them are counted as well."""
        self.check("human", dict.fromkeys(LARGE, 20), file="human.snu", parts=(3, 4, 5, 6), share=0.7)

    def test_wordnet(self):
        self.check("wordnet", {**dict.fromkeys(SMALL, 200), **dict.fromkeys(LARGE[:2], 10)}, share=0.35)

    def check(self, name, families, *, share, file=None, parts=()):
        """`families`: the number of queries of each family, all 200 or a sample. `parts`: sizes of connected parts of the
        queries that are counted as well. `share`: the share of counts of queries with up to 8 vertices that must be compared.
        It holds if the counter has 40 s, the program has the default time, and the machine is busy.
        """
        index = Index(self.graph(file or name))
        patterns = self.queries(name, families)
        for pattern in list(patterns.values()) if parts else []:
            size = parts[len(patterns) % len(parts)]
            part = part_of(pattern, size)
            patterns[part.name] = part
            self.write(f"q/{part.name}.graph", text_of(part))
        told = {}
        for induced in (False, True):
            for query in self.counts(induced):
                told[query["name"], induced] = None if query.get("partial") == "timeout" else query["matches"]
        self.assertEqual(len(told), 2 * len(patterns))
        expected = self.expected()
        compared = [key for key, count in told.items() if count is not None and key in expected]
        wrong = {key: (told[key], expected[key]) for key in compared if told[key] != expected[key]}
        print(coverage(name, patterns, told, expected, wrong), flush=True)
        self.assertEqual(wrong, {}, name)
        beyond = [key for key in told if key not in compared]
        random.Random(name).shuffle(beyond)
        listed = [self.check_listing(index, patterns[query], induced, expected.get((query, induced), told[query, induced]))
                  for query, induced in beyond[:LISTINGS]]
        small = [key for key in told if len(patterns[key[0]].labels) <= 8]
        reached = sum(key in compared for key in small) / len(small)
        print(f"{name}: {len(compared)} of {len(told)} counts compared, {reached:.1%} of those of up to 8 vertices, "
              f"{sum(map(expected.get, compared)):,} embeddings; the program reached {sum(count is not None for count in told.values())} in its "
              f"time, the counter {len(expected)}; of {len(listed)} others {sum(listed):,} matches checked", flush=True)
        self.assertTrue(not listed or sum(listed) > 0, f"{name}: no listed match was looked at")
        self.assertGreaterEqual(reached, share * min(1.0, SECONDS / 40), name)

    def expected(self):
        """{(query, whether induced): embeddings} for the counts that the counter finishes in its time."""
        self.assertTrue(os.access(COUNTER, os.X_OK), "DELTAMATCH_COUNTER does not name the built counter")
        done = subprocess.run([COUNTER, "g.graph", "q", str(SECONDS), str(QUERY_SECONDS)], capture_output=True, cwd=self.dir, timeout=TIMEOUT,
                              check=False, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        counts = {}
        for line in done.stdout.splitlines():
            query, induced, count = line.split()
            counts[query, induced == "1"] = int(count)
        return counts

    def graph(self, name):
        with lzma.open(datasets.path(f"labelled-tve/{name}.graph.xz"), "rt") as file:
            text = file.read()
        self.write("g.graph", text)
        graph = Graph(directed=False)
        for line in text.splitlines():
            kind, *fields = line.split()
            if kind == "v":
                graph.vertex_label[int(fields[0])] = fields[1]
            elif kind == "e":
                graph.insert(int(fields[0]), int(fields[1]))
        return graph

    def queries(self, name, families):
        """{name: pattern}. The files are in the folder q."""
        patterns = {}
        with tarfile.open(datasets.path(f"labelled-tve/{name}.query_graph.tar.xz")) as archive:
            numbers = {f"query_{family}_{number}" for family, count in families.items()
                       for number in random.Random(family).sample(range(1, 201), count)}
            for member in archive:  # in the archive's order, because seeking in compressed data is slow
                query = pathlib.Path(member.name).stem
                if query in numbers:
                    data = archive.extractfile(member).read()
                    self.write(f"q/{query}.graph", data.decode())
                    patterns[query] = read_pattern(query, data)
        return patterns

    def counts(self, induced):
        outcome = self.run_program("match", "--graph", "g.graph", "--query", "q", "--count", "embeddings", "--timeout", PROGRAM_TIME,
                                   "--threads", "1", "--json", *(["--induced"] if induced else []), timeout=TIMEOUT)
        self.assertIn(outcome.code, (0, 1), outcome.err[-500:])
        return json.loads(outcome.out)["queries"]

    def check_listing(self, index, pattern, induced, known):
        """Checks that listed matches are correct and distinct. Returns their number. `known` is the number of embeddings, if
        known.
        """
        outcome = self.run_program("match", "--graph", "g.graph", "--query", f"q/{pattern.name}.graph", "--count", "embeddings", "--emit",
                                   "matches", "--out", "matches.jsonl", "--limit", LISTED, "--timeout", "2s", "--threads", "1", "--json",
                                   *(["--induced"] if induced else []))
        self.assertIn(outcome.code, (0, 1), outcome.err)
        joined = {frozenset((edge.source, edge.target)) for edge in pattern.edges}
        seen = set()
        matches = [line for line in self.lines("matches.jsonl") if "bindings" in line]
        for match in matches:
            image = [match["bindings"][str(vertex)] for vertex in range(len(pattern.labels))]
            self.assertEqual(len(set(image)), len(pattern.labels))
            for u, v in ((u, v) for v in range(len(image)) for u in range(v)):
                near = image[v] in index.around()[image[u]]
                self.assertTrue(near if {u, v} in joined else not (induced and near), (pattern.name, induced, match))
            self.assertTrue(all(index.bears(vertex, labels) for vertex, labels in zip(image, pattern.labels)), (pattern.name, match))
            seen.add(tuple(image))
        self.assertEqual(len(seen), len(matches), pattern.name)
        in_time = json.loads(outcome.out)["queries"][0].get("partial") != "timeout"
        if known is not None and in_time:
            self.assertEqual(len(matches), min(known, LISTED), (pattern.name, induced))
        return len(matches)


def coverage(name, patterns, told, expected, wrong):
    """For each class of queries, how many counts both programs finished, and how many of those are equal. Returns rows of a
    Markdown table.
    """
    classes = {}
    for query, induced in told:
        classes.setdefault((len(patterns[query].labels), class_of(query), induced), []).append((query, induced))
    rows = ["| set | class | vertices | matches | queries | compared | equal |", "|---|---|---|---|---|---|---|"]
    for (size, kind, induced), keys in sorted(classes.items()):
        compared = [key for key in keys if told[key] is not None and key in expected]
        rows.append(f"| {name} | {kind} | {size} | {'induced' if induced else 'all'} | {len(keys)} | {len(compared)} | "
                    f"{sum(key not in wrong for key in compared)} |")
    return "\n".join(rows)


def class_of(query):
    """The class of a query: dense for query_dense_8_17, and part for a part of a query."""
    return "part" if "_first_" in query else query.split("_")[1]


def part_of(pattern, size):
    """The subgraph induced by the first vertices of a breadth-first walk."""
    kept = [0]
    for vertex in kept:
        if len(kept) < size:
            near = {edge.source + edge.target - vertex for edge in pattern.edges if vertex in (edge.source, edge.target)}
            kept += sorted(near - set(kept))
    kept = kept[:size]
    edges = tuple(Edge(kept.index(edge.source), kept.index(edge.target), directed=False)
                  for edge in pattern.edges if edge.source in kept and edge.target in kept)
    return Pattern(f"{pattern.name}_first_{size}", tuple(pattern.labels[vertex] for vertex in kept), edges)


def text_of(pattern):
    return "\n".join([f"t {len(pattern.labels)} {len(pattern.edges)}",
                      *(f"v {vertex} {label}" for vertex, (label,) in enumerate(pattern.labels)),
                      *(f"e {edge.source} {edge.target}" for edge in pattern.edges)]) + "\n"


if __name__ == "__main__":
    main()
