"""The base of the tests on real streams. A replay is compared with the reference at several points of the stream. The final
graph is also matched as a whole, and both results must agree.

$DELTAMATCH_MATCH_OPTIONS: options added to every replay and match. If $DELTAMATCH_NEEDS_GPU is set, each of these must report
that it ran on a GPU.
"""

import itertools
import json
import os
import shlex
import sys
import unittest

import harness
from reference import Graph, Index, embeddings, subgraphs

INSERT, DELETE = "+", "-"
UNREADABLE = ("?",)  # a record that is refused
SKIPPED = 77  # the exit code that ctest counts as skipped
MATCH_OPTIONS = shlex.split(os.environ.get("DELTAMATCH_MATCH_OPTIONS", ""))
NEEDS_GPU = bool(os.environ.get("DELTAMATCH_NEEDS_GPU"))


class StreamTest(harness.CliTest):
    maxDiff = None
    WARNED = ()  # codes of the warnings that the data may cause

    def run_program(self, *args, **options):
        if args[0] not in ("replay", "match"):
            return super().run_program(*args, **options)
        outcome = super().run_program(*args, *MATCH_OPTIONS, **options)
        if NEEDS_GPU and "--json" in args and outcome.out:
            self.assertEqual(json.loads(outcome.out).get("backend"), "gpu", outcome)
        return outcome

    def program(self, *args, stdin=b"", timeout=580):
        """The --json object of a command that must succeed."""
        outcome = self.run_program(*args, "--json", stdin=stdin, timeout=timeout)
        self.assertEqual(outcome.code, 0, outcome)
        told = json.loads(outcome.out)
        warned = [warning["code"] for warning in told.get("warnings", [])]
        self.assertLessEqual(set(warned), set(self.WARNED), outcome)
        lines = outcome.err.splitlines()
        self.assertEqual(len(lines), len(warned), outcome)
        self.assertTrue(all(line.startswith("deltamatch: warning: ") for line in lines), outcome)
        return told

    def replay(self, args, patterns, **options):
        return self.program("replay", *args, *queries(patterns), **options)

    def check_replay(self, args, records, patterns, graph, *, checkpoints=4, count="subgraphs", stdin=b""):
        """Replays the input that `args` name, and compares counts after the last batch and some others. `records` are the same
        input, and `graph` is the reference before it. Returns the --json object.
        """
        start = counts(graph, patterns, count)
        told = self.replay([*args, "--count", count, "--batches", "batches.jsonl", "--save-snapshot", "end.dms"], patterns,
                           stdin=stdin)
        batches = self.lines("batches.jsonl")
        self.assertEqual(told["batches"], len(batches))
        self.assertEqual(told["updates"], sum(b["updates"] for b in batches))
        points = {len(batches) * (i + 1) // checkpoints for i in range(checkpoints)}
        net = dict(start)
        records = iter(records)
        loops = refused = 0
        for number, batch in enumerate(batches, 1):
            for query in batch["queries"]:
                net[query["name"]] += query["new"] - query["removed"]
            these = list(itertools.islice(records, batch["updates"]))
            refused += these.count(UNREADABLE)
            loops += apply(graph, these)
            if number in points:
                expected = counts(graph, patterns, count)
                self.assertEqual(net, expected, f"after batch {number} of {len(batches)}")
        self.assertIsNone(next(records, None), "records that the program did not see")
        self.assertEqual(told["graph"]["edges"], len(graph.edges()))
        rejects = {name: told["ignored"][name] for name in harness.REJECTS if told["ignored"][name]}
        self.assertEqual((told["ignored"]["self_loop"], sum(rejects.values())), (loops, refused), rejects)
        self.assertEqual({q["name"]: start[q["name"]] + q["new"] - q["removed"] for q in told["queries"]}, net)
        static = self.program("match", "--snapshot", "end.dms", "--count", count, *queries(patterns))
        self.assertEqual({q["name"]: q["matches"] for q in static["queries"]}, net, "the graph matched as a whole")
        return told

    def check_digests(self, args, patterns, variants, stdin=b""):
        """Starts from an empty graph. For every variant of the arguments, the digests of the matches, not only their number,
        must be those of the final graph.
        """
        for number, variant in enumerate(variants):
            told = self.replay([*args, *variant, "--emit", "digest", "--save-snapshot", "end.dms"], patterns, stdin=stdin)
            net = {q["name"]: (q["new"] - q["removed"], digest(q["new_digest"]) - digest(q["removed_digest"]))
                   for q in told["queries"]}
            static = self.program("match", "--snapshot", "end.dms", "--emit", "digest", *queries(patterns))
            for query in static["queries"]:
                matches, difference = net[query["name"]]
                self.assertEqual((matches, difference % 2**128), (query["matches"], digest(query["digest"])),
                                 f"{query['name']} with {variant}")
            if number == 0:
                first = static["queries"]
            self.assertEqual([q["digest"] for q in static["queries"]], [q["digest"] for q in first], f"with {variant}")

    def check_triangles(self, args, expected, stdin=b""):
        """Checks the number of triangles in a stream of insertions, read as an undirected graph without labels."""
        told = self.program("replay", *args, "--undirected", "--on-error", "skip", "--query", "triangle=(a)--(b)--(c)--(a)",
                            stdin=stdin)
        (query,) = told["queries"]
        self.assertEqual((query["new"], query["removed"]), (expected, 0))


def queries(patterns):
    return [argument for pattern in patterns for argument in ("--query", pattern.text())]


def counts(graph, patterns, count="subgraphs"):
    index = Index(graph)
    return {p.name: (embeddings if count == "embeddings" else subgraphs)(index, p) for p in patterns}


def apply(graph, records):
    """Applies records (sign, source, target, label, time). Returns the number of self-loops among them."""
    loops = 0
    for sign, *edge in records:
        if sign == UNREADABLE[0]:
            continue
        loops += not (graph.insert(*edge) if sign == INSERT else graph.delete(*edge))
    return loops


def digest(text):
    return int(text, 16)


def microseconds(text):
    """Exact conversion from seconds with a fraction."""
    whole, _, fraction = text.partition(".")
    return int(whole) * 1_000_000 + int((fraction + "000000")[:6])


def main():
    result = unittest.main(exit=False, verbosity=2).result
    if result.testsRun and result.testsRun == len(result.skipped):
        sys.exit(SKIPPED)
    sys.exit(not result.wasSuccessful())


__all__ = ["DELETE", "INSERT", "Graph", "StreamTest", "UNREADABLE", "apply", "counts", "digest", "main", "microseconds", "queries"]
