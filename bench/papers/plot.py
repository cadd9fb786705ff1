#!/usr/bin/env python3
"""Tables and plots from the results files of scripts/gpu-run: the figures and tables of the GCSM paper, for our graphs.

Writes DIR/tables.md, and with gnuplot DIR/*.png. Lines with the same graph, labels, query, policy, batch and settings measure
the same thing. Of these, the last run counts, and within a run the line with the most batches.
"""

import argparse
import collections
import json
import pathlib
import statistics
import sys

from harness.script import Refused
from harness.tables import Writer, milliseconds, table

POLICIES = ["cpu-1", "cpu", "managed", "none", "degree", "k-hop", "random-walk", "automatic", "resident"]
STEPS = ["apply", "estimate", "cache", "match", "settle"]


class Results:
    """The lines of several files. A run that was cut short may leave half a line; the tables then say so."""

    def __init__(self, paths):
        self.runs, self.graphs, self.troubles, self.profiles, lines = [], {}, [], {}, {}
        self.wholes, self.streams, self.tests, self.sanitized = {}, {}, [], []
        for path in paths:
            commit = "unknown"
            for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    line = json.loads(text)
                except json.JSONDecodeError:
                    self.troubles.append(f"{path.name}:{number}: not readable")
                    continue
                kind = line.get("kind")
                line.setdefault("commit", commit)
                if kind == "run":
                    commit = line["commit"]
                    self.runs.append(line | {"file": path.name})
                elif kind == "graph":
                    self.graphs[name_of(line)] = line
                elif kind == "bench":
                    kept = ("measured", line.get("memory")) if "coverage" in line else ("timed",)
                    key = (name_of(line), line["query"], line["policy"], line["batch"], settings_of(line), *kept)
                    if key not in lines or lines[key]["commit"] != commit or lines[key]["batches"] <= line["batches"]:
                        lines[key] = line
                elif kind == "whole":
                    self.wholes[name_of(line), line["query"], line["policy"], line["part"]] = line
                elif kind == "streams":
                    self.streams.update({(row["stream"], row["query"]): row for row in line["measured"]})
                elif kind == "tests":
                    self.tests.append(line)
                elif kind == "sanitize" and "clean" in line:
                    self.sanitized.append(line)
                elif kind == "profile":
                    self.profiles[line.get("graph"), line.get("query"), line["policy"]] = line
                elif kind in ("mismatch", "failure", "missing", "test"):
                    self.troubles.append(f"{path.name}:{number}: {text[:200]}")
        self.measured = [line for key, line in lines.items() if key[5] == "measured"]
        timed = [line for key, line in lines.items() if key[5] == "timed" and line["batches"] > 0]
        self.timed = [line for line in timed if not settings_of(line)]
        self.fresh = [line for line in timed if settings_of(line) == "forgotten"]
        self.varied = [line for line in timed if settings_of(line) not in ("", "forgotten")]
        for key, line in lines.items():
            if "trouble" in line or line["agrees"] is False:
                what = line.get("trouble") or "counts differ"
                self.troubles.append(f"{', '.join(str(word) for word in key[:5] if word)}: {what}")

        for key, line in self.wholes.items():
            if line["agrees"] is False:
                self.troubles.append(f"{', '.join(str(word) for word in key)}: counts differ")
        self.alone = alone(lines, lambda line: (name_of(line), line["query"], line["batch"], line["batches"], line.get("new"), line.get("removed")))
        self.alone += alone(self.wholes, lambda line: (name_of(line), line["query"], line["matches"]))

    def graph_names(self):
        return sorted({name_of(line) for line in self.timed + self.measured})

    def select(self, graph, query=None, policy=None, batch=None):
        return [line for line in self.timed
                if name_of(line) == graph and query in (None, line["query"]) and policy in (None, line["policy"])
                and batch in (None, line["batch"])]

    def complete(self, **wanted):
        """As select, without results that were stopped early: their times are of fewer batches."""
        return [line for line in self.select(**wanted) if "trouble" not in line]


def alone(lines, count_of):
    """Lists results that nothing was compared with, neither in their run nor by another line here."""
    lines = {key: line for key, line in lines.items() if "trouble" not in line}
    counted = collections.Counter(map(count_of, lines.values()))
    return [", ".join(str(word) for word in key[:5] if word) for key, line in lines.items()
            if (line["agrees"] is None or line["kind"] == "bench" and "compared" not in line) and counted[count_of(line)] == 1]


def name_of(line):
    return line["graph"] + (f", {line['labels']} labels" if line["labels"] else "") + (", directed" if line["directed"] else "")


def settings_of(line):
    """The settings of a run that differ from the default; empty if none does."""
    words = ["forgotten"] if line.get("fresh") else []
    if line.get("ahead"):
        words.append("next batch looked up")
    if line.get("reuse") is False:
        words.append("sets found anew")
    if "tables" in line:
        words.append(f"tables {line['tables']}")
    if "idle_share" in line:
        words.append(f"idle share {line['idle_share']:g}")
    if line.get("walk_count", "even") != "even":
        words.append(f"walks {line['walk_count']}")
    if "walks" in line:
        words.append(f"{line['walks']:g} walks")
    return ", ".join(words)


def way_of(line):
    return ", ".join(word for word in (line["policy"], settings_of(line)) if word)


def file_of(name):
    return name.replace(", ", "-").replace(" ", "-")


def short(commit):
    return commit[:7] + ("-dirty" if commit.endswith("-dirty") else "")


def rank(policy):
    return (POLICIES.index(policy), "") if policy in POLICIES else (len(POLICIES), policy)


def policies_of(lines):
    return sorted({line["policy"] for line in lines}, key=rank)


def geometric(values):
    return statistics.geometric_mean(values) if values else None


def main_batch(lines):
    """The batch size that most results have. If several have as many, the largest."""
    counts = collections.Counter(line["batch"] for line in lines)
    return max(counts, key=lambda batch: (counts[batch], batch))


def sources(results, out):
    """The commit of each time."""
    found = collections.defaultdict(set)
    for line in results.timed + results.measured + results.fresh + results.varied:
        what = "measured" if "coverage" in line else settings_of(line)
        found[name_of(line), short(line["commit"]), line["policy"], what].add((line["batch"], line["batches"]))
    together = collections.defaultdict(list)
    for (graph, commit, policy, what), sizes in found.items():
        batches_of = ", ".join(f"{batches} of {batch}" for batch, batches in sorted(sizes))
        together[graph, commit, what, batches_of].append(policy)
    if together:
        out.add("Which commit the times of batches are of", table(["graph", "commit", "policies", "other settings", "batches"],
                [[graph, commit, ", ".join(sorted(policies, key=rank)), what, batches_of]
                 for (graph, commit, what, batches_of), policies in sorted(together.items())]))


def times(results, out):
    """Figures 8 to 11, and 14 if there are times of the CPU."""
    for graph in results.graph_names():
        lines = results.select(graph)
        if not lines:
            continue
        batch = main_batch(lines)
        lines = results.select(graph, batch=batch)
        policies, queries = policies_of(lines), sorted({line["query"] for line in lines})
        found = {(line["query"], line["policy"]): line for line in lines}

        def cell(query, policy):
            line = found.get((query, policy))
            return "" if line is None else milliseconds(line["mean"]["total"]) + (" stopped" if "trouble" in line else "")

        text = table(["query", *policies], [[query, *(cell(query, policy) for policy in policies)] for query in queries])
        ratios = []
        for ours in ("random-walk", "resident"):
            for theirs in policies:
                pairs = [found[q, theirs]["mean"]["total"] / found[q, ours]["mean"]["total"] for q in queries
                         if (q, theirs) in found and (q, ours) in found
                         and "trouble" not in found[q, theirs] and "trouble" not in found[q, ours]]
                if theirs != ours and pairs:
                    ratios.append([ours, theirs, f"{geometric(pairs):.2f}", f"{min(pairs):.2f} to {max(pairs):.2f}", len(pairs)])
        if ratios:
            text += "\nTimes as fast (geometric mean over queries):\n\n" + table(["policy", "than", "mean", "range", "queries"], ratios)
        out.add(f"Time per batch of {batch} (ms, mean): {graph}", text)
        rows = [["query", *policies]]
        for query in queries:
            rows.append([query, *(found[query, p]["mean"]["total"] * 1000 if (query, p) in found else "NaN" for p in policies)])
        columns = ", ".join(f"{'DATA' if i == 0 else chr(39) * 2} using {i + 2}:xtic(1) title columnheader({i + 2})"
                            for i in range(len(policies)))
        rows = [[cell if cell != "NaN" else float("nan") for cell in row] for row in rows]
        out.plot(f"time-{file_of(graph)}", f"Time per batch of {batch}, {graph}", rows,
                 ["set style data histogram", "set style histogram clustered gap 1", "set style fill solid 0.8", "set logscale y",
                  "set ylabel 'ms'", "set xtics rotate by -25 noenhanced"], columns)


def sweep(results, out):
    """Figure 12."""
    for graph in results.graph_names():
        for query in sorted({line["query"] for line in results.select(graph)}):
            lines = results.complete(graph=graph, query=query)
            batches, policies = sorted({line["batch"] for line in lines}), policies_of(lines)
            if len(batches) < 3:
                continue
            found = {(line["batch"], line["policy"]): line["mean"]["total"] for line in lines}
            rows = [[batch, *(found.get((batch, policy)) for policy in policies)] for batch in batches]
            out.add(f"Batch size (ms, mean): {graph}, {query}",
                    table(["batch", *policies], [[row[0], *("" if cell is None else milliseconds(cell) for cell in row[1:])] for row in rows]))
            data = [["batch", *policies]] + [[row[0], *(float("nan") if c is None else c * 1000 for c in row[1:])] for row in rows]
            columns = ", ".join(f"{'DATA' if i == 0 else chr(39) * 2} using 1:{i + 2} title columnheader({i + 2})"
                                for i in range(len(policies)))
            out.plot(f"batch-{file_of(graph)}-{query}", f"Time by batch size, {graph}, {query}", data,
                     ["set style data linespoints", "set logscale xy", "set xlabel 'updates in a batch'", "set ylabel 'ms'"], columns)


def k_hop(results, out):
    """Figure 13: the time of each step if everything that matches can reach is copied."""
    for graph in results.graph_names():
        for batch in sorted({line["batch"] for line in results.select(graph, policy="k-hop")}):
            lines = [line for line in results.complete(graph=graph, batch=batch) if line["policy"] in ("k-hop", "random-walk")]
            lines.sort(key=lambda line: (line["query"], line["policy"]))
            if {line["policy"] for line in lines} != {"k-hop", "random-walk"}:
                continue
            rows = [[line["query"], line["policy"], *(milliseconds(line["mean"][step]) for step in STEPS),
                     f"{line['copied_bytes'] / 2**20:.3g}"] for line in lines]
            out.add(f"Steps of a batch of {batch} (ms, mean), k-hop and random walks: {graph}",
                    table(["query", "policy", *STEPS, "copied MiB"], rows))
            data = [["query", *STEPS]]
            data += [[f"{line['query']} {line['policy']}", *(line["mean"][step] * 1000 for step in STEPS)] for line in lines]
            columns = ", ".join(f"{'DATA' if i == 0 else chr(39) * 2} using {i + 2}:xtic(1) title columnheader({i + 2})"
                                for i in range(len(STEPS)))
            out.plot(f"k-hop-{file_of(graph)}-{batch}", f"Steps of a batch of {batch}, {graph}", data,
                     ["set style data histogram", "set style histogram rowstacked", "set style fill solid 0.8", "set boxwidth 0.7",
                      "set ylabel 'ms'", "set xtics rotate by -35 noenhanced"], columns)


def overhead(results, out):
    """Table II: estimation and copying as shares of the batch's time."""
    rows = []
    for graph in results.graph_names():
        lines = results.complete(graph=graph, policy="random-walk")
        batch = main_batch(lines) if lines else 0
        for line in sorted(lines, key=lambda line: line["query"]):
            if line["batch"] != batch:
                continue
            mean = line["mean"]
            shares = [100 * mean[step] / mean["total"] for step in ("estimate", "cache")]
            rows.append([graph, batch, line["query"], *(f"{share:.1f}" for share in shares), f"{sum(shares):.1f}"])
    if rows:
        out.add("Estimation and copying (% of the time of a batch)", table(["graph", "batch", "query", "estimate", "cache", "both"], rows))


def coverage(results, out):
    """Figure 15b, and the share of look-ups that hit."""
    rows = []
    for line in sorted(results.measured, key=lambda line: (name_of(line), line["query"], way_of(line))):
        if "trouble" in line:
            continue
        rows.append([name_of(line), line["batch"], line["query"], way_of(line), f"{100 * line['coverage']:.1f}",
                     hit_share(line), f"{line['copied_bytes'] / 2**20:.3g}"])
    if rows:
        out.add("Coverage: share of the most accessed lists that were cached (%)",
                table(["graph", "batch", "query", "policy", "coverage", "hits %", "copied MiB"], rows))
    rows = []
    for graph in results.graph_names():
        for line in sorted(results.complete(graph=graph), key=lambda line: (line["batch"], line["query"], rank(line["policy"]))):
            if "hits" in line:
                rows.append([graph, line["batch"], line["query"], line["policy"], f"{line['hits'] + line['misses']:.3g}", hit_share(line),
                             f"{line['copied_bytes'] / 2**20:.3g}", f"{line['cached_bytes'] / 2**20:.3g}"])
    if rows:
        out.add("Look-ups in a batch", table(["graph", "batch", "query", "policy", "look-ups", "hits %", "copied MiB", "cached MiB"], rows))


def mebibytes(count):
    return "–" if count is None else f"{count / 2**20:.0f}"


def distribution(results, out):
    """Figure 15: the share of look-ups on few lists (a), and how many of these lists were cached (b)."""
    found = collections.defaultdict(list)
    for line in results.measured:
        if "trouble" not in line and line.get("top"):
            found[name_of(line), line["batch"]].append(line)
    for (graph, batch), lines in sorted(found.items()):
        lines.sort(key=lambda line: (line["query"], rank(line["policy"]), settings_of(line), line.get("memory", 0)))
        shares = [top["share"] for top in lines[0]["top"]]
        percent = [f"{100 * share:g} %" for share in shares]
        # Look-ups do not depend on the policy.
        queries = {line["query"]: line for line in lines}
        rows = [[query, *(f"{100 * top['accesses']:.1f}" for top in line["top"])] for query, line in queries.items()]
        out.add(f"Share of the look-ups that fall on the most accessed lists (%), batches of {batch}: {graph}", table(["query", *percent], rows))
        data = [["lists", *queries]] + [[100 * share, *(100 * line["top"][i]["accesses"] for line in queries.values())]
                                        for i, share in enumerate(shares)]
        columns = ", ".join(f"{'DATA' if i == 0 else chr(39) * 2} using 1:{i + 2} title columnheader({i + 2})" for i in range(len(queries)))
        settings = ["set style data linespoints", "set xlabel 'most accessed lists (%)'", "set yrange [0:100]"]
        out.plot(f"accesses-{file_of(graph)}-{batch}", f"Look-ups on the most accessed lists, {graph}", data,
                 [*settings, "set ylabel 'look-ups (%)'"], columns)
        few = [i for i, share in enumerate(shares) if share <= 0.05]
        rows = [[line["query"], way_of(line), mebibytes(line.get("memory")), *(f"{100 * line['top'][i]['coverage']:.1f}" for i in few),
                 mebibytes(line["top"][few[-1]].get("bytes"))] for line in lines]
        out.add(f"Share of the most accessed lists that were cached (%), batches of {batch}: {graph}",
                table(["query", "policy", "cache MiB", *(percent[i] for i in few), f"{percent[few[-1]]} take MiB"], rows))
        names = [f"{line['query']} {way_of(line)} {mebibytes(line.get('memory'))} MiB" for line in lines]
        data = [["lists", *names]] + [[100 * shares[i], *(100 * line["top"][i]["coverage"] for line in lines)] for i in few]
        columns = ", ".join(f"{'DATA' if i == 0 else chr(39) * 2} using 1:{i + 2} title columnheader({i + 2})" for i in range(len(names)))
        out.plot(f"coverage-{file_of(graph)}-{batch}", f"Most accessed lists that were cached, {graph}", data,
                 [*settings, "set ylabel 'cached (%)'"], columns)


def survival(results, out):
    """What is saved by lists that stay in the cache from batch to batch, compared with a cache filled anew for each."""
    rows = []
    for line in sorted(results.fresh, key=lambda line: (name_of(line), line["batch"], line["query"], line["policy"])):
        for kept in results.complete(graph=name_of(line), query=line["query"], policy=line["policy"], batch=line["batch"]):
            rows.append([name_of(line), line["batch"], line["query"], line["policy"],
                         *(milliseconds(one["mean"][step]) for step in ("cache", "total") for one in (line, kept)),
                         *(f"{one['copied_bytes'] / 2**20:.3g}" for one in (line, kept))])
    if rows:
        out.add("Caches that are forgotten before every batch, and caches that last (ms, mean)",
                table(["graph", "batch", "query", "policy", "cache, forgotten", "lasting", "total, forgotten", "lasting", "copied MiB, forgotten",
                       "lasting"], rows))


def settings(results, out):
    """What other settings cost or save, compared with the default."""
    rows = []
    for line in sorted(results.varied, key=lambda line: (name_of(line), line["batch"], line["query"], line["policy"], settings_of(line))):
        for kept in results.complete(graph=name_of(line), query=line["query"], policy=line["policy"], batch=line["batch"]):
            rows.append([name_of(line), line["batch"], line["query"], line["policy"], settings_of(line),
                         *(milliseconds(one["mean"][step]) for step in ("apply", "estimate", "match", "total") for one in (kept, line))])
    if rows:
        out.add("Other settings (ms, mean)",
                table(["graph", "batch", "query", "policy", "setting", *(head for step in ("apply", "estimate", "match", "total")
                                                                         for head in (step, "so"))], rows))


def profiles(results, out):
    """Where the time of the kernels goes."""
    rows = []
    for (graph, query, policy), line in sorted(results.profiles.items(), key=str):
        if "trouble" in line:
            results.troubles.append(f"profile of {policy}: {line['trouble']}")
            continue
        states = ", ".join(f"{state} {share}" for state, share in list(line["warps_percent"].items())[:5])
        rows.append([graph, query, policy, milliseconds(line["seconds"] / line["launches"]),
                     *(line.get(key, "") for key in ("dram_gb_s", "pcie_read_gb_s", "occupancy_percent", "issue_active_percent")), states])
    if rows:
        out.add("Matching kernels, by ncu", table(["graph", "query", "policy", "ms", "DRAM GB/s", "read over PCIe GB/s", "occupancy %",
                                                   "issuing %", "warps are (%)"], rows))


def wholes(results, out):
    """Counts in whole graphs whose caches hold a part: seconds by query, policy and part."""
    for graph in sorted({key[0] for key in results.wholes}):
        found = {key[1:]: line for key, line in results.wholes.items() if key[0] == graph}
        runs = sorted({key[1:] for key in found}, key=lambda run: (rank(run[0]), run[1]))
        queries = sorted({key[0] for key in found})

        def cell(query, run):
            line = found.get((query, *run))
            return "" if line is None else line["trouble"] if "trouble" in line else f"{line['seconds']:.3f}"

        heads = [policy + (f" 1/{part}" if part else "") for policy, part in runs]
        out.add(f"Counts of a whole graph (s): {graph}",
                table(["query", "matches", *heads],
                      [[query, next((line["matches"] for key, line in found.items() if key[0] == query and "trouble" not in line), ""),
                        *(cell(query, run) for run in runs)] for query in queries]))
        rows = [[query, head, hit_share(line), f"{line['cached_bytes'] / 2**20:.3g}", f"{line['copied_bytes'] / 2**20:.3g}",
                 f"{line['kernel']:.3f}"] for query in queries for run, head in zip(runs, heads)
                if "hits" in (line := found.get((query, *run), {}))]
        if rows:
            out.add(f"Look-ups in a whole graph: {graph}", table(["query", "policy", "hits %", "cached MiB", "copied MiB", "kernels, s"], rows))


def real_streams(results, out):
    """Real streams, beside the CPU: seconds of matching, seconds of all steps, and updates a second."""
    rows = []
    for (stream, query), row in sorted(results.streams.items()):
        for way, report in sorted(row["ways"].items(), key=lambda item: POLICIES.index(item[0])):
            rows.append([stream, query, row["batches"], row["new"], row["removed"], way, f"{report['seconds']['match']:.3f}", f"{report['busy']:.3f}",
                         report["updates_per_second"], hit_share(report["cache"]) if "cache" in report else ""])
    if rows:
        out.add("Real streams (s)", table(["stream", "query", "batches", "new", "removed", "policy", "match", "all steps", "updates/s", "hits %"], rows))


def hit_share(line):
    looked_up = line["hits"] + line["misses"]
    return f"{100 * line['hits'] / looked_up:.1f}" if looked_up else ""


def settle(results, out):
    """Table III."""
    found = collections.defaultdict(list)
    for line in results.timed:
        found[name_of(line), line["batch"]].append(line["median"])
    rows = [[graph, batch, *(milliseconds(statistics.median(m[step] for m in medians)) for step in ("apply", "settle"))]
            for (graph, batch), medians in sorted(found.items())]
    if rows:
        out.add("Applying and settling a batch (ms, median over queries)", table(["graph", "batch", "apply", "settle"], rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("plots"), metavar="DIR")
    options = parser.parse_args()
    results = Results(options.results)
    if not any((results.timed, results.measured, results.wholes, results.streams, results.tests)):
        print("plot.py: no result of scripts/gpu-run in these files", file=sys.stderr)
        return 1
    out = Writer(options.out)
    heads = [f"- {run['file']}: {run['date']}, commit {short(run['commit'])}: {run['gpu']}, driver {run['driver']}, CUDA {run['cuda']}; {run['cores']} cores, {run['cpu']}"
             for run in results.runs]
    graphs = [[name, line["vertices"], line["edges"], line["max_degree"], f"{line['mean_degree']:.1f}", line["degrees_ok"]]
              for name, line in sorted(results.graphs.items())]
    out.add("Runs", "\n".join(heads) + "\n")
    if results.troubles:
        out.add("What went wrong", "\n".join("- " + trouble for trouble in results.troubles) + "\n")
    if results.alone:
        out.add("Counts that nothing was compared with", "\n".join("- " + line for line in results.alone) + "\n")
    if results.tests:
        out.add("Tests", table(["program", "tests", "failed", "skipped", "s", "passed only by themselves"],
                               [[line["program"], line["tests"], line["failed"], line["skipped"], line["seconds"],
                                 ", ".join(line.get("passed_alone", []))] for line in results.tests]))
    if results.sanitized:
        names = ("errors", "failed", "not_ended", "not_begun")
        out.add("Tests under compute-sanitizer",
                table(["commit", "program", "tool", "tests", "clean", "without calls", "skipped", *(name.replace("_", " ") for name in names), "s"],
                      [[short(line["commit"]), line["program"], line["tool"], line["tests"], line["clean"], line.get("without_calls", 0), line["skipped"],
                        *(len(line[name]) for name in names), line["seconds"]] for line in results.sanitized]))
    if graphs:
        out.add("Graphs", table(["graph", "vertices", "edges", "max degree", "mean degree", "as expected"], graphs))
    for part in (sources, times, sweep, k_hop, overhead, coverage, distribution, survival, settings, settle, wholes, real_streams, profiles):
        part(results, out)
    try:
        print(out.write("Results"))
    except Refused as refusal:
        print(f"plot.py: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
