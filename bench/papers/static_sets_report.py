"""The tables and plots of bench/papers/static_sets.py, from its records of queries."""

import statistics

from harness import script
from harness.tables import Writer, table

GROUP = ("graph", "label_count", "size", "shape")
TELLING = 0.05  # seconds
HEAD = ("graph", "labels", "vertices", "shape")


def grouped(records, keys):
    groups = {}
    for record in records:
        groups.setdefault(tuple(record[key] for key in keys), []).append(record)
    return groups


def ways_of(records):
    return list(records[0]["seconds"])


def name_of(way):
    return (way or "default").replace("--", "")


def answered(records, limit):
    """Heading and rows, for each group and way: the number of answered queries, and the seconds of all, with the limit for
    unanswered ones.

    The last column is the largest time of a query over that of the first way."""
    rows = [["graph", "labels", "vertices", "shape", "way", "answered", "seconds of all", "of those that all answer", "worst query"]]
    for group, those in grouped(records, GROUP).items():
        common = [one for one in those if None not in one["seconds"].values()]
        first, *_ = ways_of(records)
        for way in ways_of(records):
            times = [one["seconds"][way] for one in those]
            pairs = [[limit if one["seconds"][key] is None else one["seconds"][key] for key in (way, first)] for one in those]
            rows.append([*map(str, group), name_of(way), f"{sum(t is not None for t in times)} of {len(those)}",
                         f"{sum(limit if t is None else t for t in times):.2f}",
                         f"{sum(one['seconds'][way] for one in common):.3f} ({len(common)})",
                         f"{max((seconds / before for seconds, before in pairs if before >= TELLING), default=1):.2f}"])
    return rows


def write(options, records):
    out = Writer(options.out)
    out.add("Run", script.conditions(options, f"Medians of {options.repeat} runs that took turns, {options.timeout:g} s for a query. Every "
                                      "count, and every digest that was found, was the same in all ways that finished."))
    solved(options, records, out)
    if any(record["kernel_seconds"] for record in records):
        kernels(records, out)
    if len(ways_of(records)) > 1:
        techniques(records, out)
    if any("refine" in way for way in ways_of(records)):  # `auto` filters only if matching takes long
        filtering(records, out)
        memory(records, out)
    against_matches(records, out)
    print(out.write(options.title))


def solved(options, records, out):
    """EGSM's figures 8 and 11."""
    ways = ways_of(records)
    rows = []
    for group, those in grouped(records, GROUP).items():
        cells = []
        for way in ways:
            times = [one["seconds"][way] for one in those if one["seconds"][way] is not None]
            cells.append(f"{len(times)}" + (f" ({1000 * statistics.fmean(times):.3g})" if times else ""))
        rows.append([*group, len(those), *cells])
    out.add("Answered within the limit", "In brackets the mean milliseconds of those that were answered.\n\n" +
            table([*HEAD, "queries", *map(name_of, ways)], rows))
    if options.x:
        over_x(options.x, records, out)


def kernels(records, out):
    """The time that is left on a GPU once the device is open and the graph is on it."""
    ways = [way for way in ways_of(records) if any(way in one["kernel_seconds"] for one in records)]
    rows = []
    for group, those in grouped(records, GROUP).items():
        cells = [[1000 * one["kernel_seconds"][way] for one in those if way in one["kernel_seconds"]] for way in ways]
        rows.append([*group, *(f"{statistics.median(times):.3g} ({statistics.fmean(times):.3g})" if times else "" for times in cells)])
    out.add("Time of kernels", "Milliseconds, of what was answered on a GPU: median, and in brackets mean. Opening the device, sending the graph and "
            "what the host does are left out.\n\n" + table([*HEAD, *map(name_of, ways)], rows))


def over_x(x, records, out):
    name = {"label_count": "number of labels", "size": "vertices of the query", "edges": "edges of the graph"}[x]
    keys = ("shape",) if x == "edges" else ("graph", "shape")
    groups = grouped(records, keys)
    values = sorted({record[x] for record in records})
    way = ways_of(records)[0]

    def rows(cell):
        return [["x", *(", ".join(map(str, key)) for key in groups)],
                *([value, *(cell([one["seconds"][way] for one in those if one[x] == value]) for those in groups.values())]
                  for value in values)]

    def share(times):
        return f"{100 * sum(t is not None for t in times) / len(times):.0f}" if times else "NaN"

    def mean(times):
        times = [t for t in times if t is not None]
        return f"{1000 * statistics.fmean(times):.4g}" if times else "NaN"

    columns = f"for [i=2:{len(groups) + 1}] DATA using 1:i with linespoints title columnhead(i)"
    out.plot(f"answered-by-{x}", f"Answered within the limit (%), by {name}", rows(share), ["set yrange [0:105]"], columns)
    out.plot(f"time-by-{x}", f"Mean time of those answered (ms), by {name}", rows(mean),
             ["set logscale xy" if x == "edges" else "set logscale y"], columns)


def techniques(records, out):
    """EGSM's table 4: the time of each way over that of the first, for the queries that both answer."""
    first, *others = ways_of(records)
    groups = grouped(records, ("graph",))
    rows, data = [], []
    for way in others:
        cells, means = [], []
        for those in groups.values():
            ratios = [one["seconds"][way] / one["seconds"][first] for one in those if one["seconds"][way] and one["seconds"][first]]
            lost = sum(one["seconds"][way] is None and one["seconds"][first] is not None for one in those)
            won = sum(one["seconds"][first] is None and one["seconds"][way] is not None for one in those)
            means.append(f"{script.geometric_mean(ratios):.4g}" if ratios else "NaN")
            mean = f"{script.geometric_mean(ratios):.2f} ({statistics.fmean(ratios):.2f}), {len(ratios)}" if ratios else "–"
            cells.append(mean + (f", −{lost}" if lost else "") + (f", +{won}" if won else ""))
        rows.append([name_of(way), *cells])
        data.append([name_of(way), *means])
    out.add("Each technique switched off", f"Times as multiples of those of `{name_of(first)}`. A cell has the geometric mean over the "
            "queries that both answer, in brackets the arithmetic mean, and how many queries these are. −n stands for n queries that only "
            f"`{name_of(first)}` answers, +n for n queries that it does not answer.\n\n" +
            table(["way", *(key[0] for key in groups)], rows))
    # gnuplot fails on a histogram without a point.
    columns = [0, *(i for i in range(1, len(groups) + 1) if any(row[i] != "NaN" for row in data))]
    data = [[row[i] for i in columns] for row in [["way", *(key[0] for key in groups)], *data]]
    if len(columns) == 1:
        return
    out.plot("techniques", f"Time as a multiple of that of {name_of(first)} (geometric mean)",
             data,
             ["set style data histograms", "set style fill solid 0.7", "set logscale y", "set xtics rotate by -20", "set yrange [0.05:*]"],
             f"for [i=2:{len(columns)}] DATA using i:xtic(1) title columnhead(i), 1 notitle with lines lc rgb 'black'")


def steps_of(record):
    """Candidates by label, by degree and by round of refinement, of the way with the most rounds. Empty if none got so far."""
    report = [[step for step in report["steps"] if step["step"] in ("label", "degree", "refine")]
            for way, report in record["filters"].items() if "--filter-without" not in way]
    steps = max(report, key=len, default=[])
    return steps if len(steps) > 2 else []


def lists_of(record, last):
    """The report of the way that filters up to this step and made lists, or None."""
    return next((report for way, report in record["filters"].items() if f"--filter {last}" in way and "--filter-without" not in way and "entries" in report), None)


def filtering(records, out):
    """EGSM's figure 10: the candidates that each step leaves, its time, and the size of their lists."""
    rows, data = [], []
    for (graph,), those in grouped(records, ("graph",)).items():
        filtered = [steps for steps in map(steps_of, those) if steps]
        if not filtered:
            continue
        left = [statistics.fmean(statistics.fmean(steps[step]["candidates"]) for steps in filtered) for step in (0, 1, -1)]
        spent = [statistics.median(sum(step["seconds"] for step in steps[part]) for steps in filtered)
                 for part in (slice(0, 1), slice(1, 2), slice(2, None))]
        lists = [found for found in ([lists_of(one, last) for last in ("label", "degree", "refine")] for one in those) if None not in found]
        entries = [f"{statistics.median(report['entries'] for report in column):,.0f}" for column in zip(*lists)] or ["–"] * 3
        rounds = statistics.fmean(len(steps) - 2 for steps in filtered)
        rows.append([graph, len(filtered), *(f"{value:,.1f}" for value in left), f"{rounds:.1f}",
                     *(f"{1e6 * seconds:,.0f}" for seconds in spent), *entries, len(lists)])
        data.append([graph, *(f"{value:.4g}" for value in left)])
    out.add("Filtering by step", "Means: candidates of a query vertex after each step, and rounds of refinement. Medians: microseconds of each "
            "step (refinement: all rounds), and entries of the lists made of what a step leaves. The entries are those of queries for which "
            "lists were made after each step. Lists are made in both directions of a query edge. Query edges with equal candidates share "
            "them.\n\n" +
            table(["graph", "queries", "by label", "by degree", "refined", "rounds", "label, µs", "degree, µs", "refine, µs",
                   "entries by label", "by degree", "refined", "queries"], rows))
    out.plot("filtering", "Mean candidates of a query vertex after each step", [["graph", "label", "degree", "refine"], *data],
             ["set style data histograms", "set style fill solid 0.7", "set logscale y", "set xtics rotate by -20"],
             "for [i=2:4] DATA using i:xtic(1) title columnhead(i)")


def memory(records, out):
    """EGSM's table 3."""
    rows = []
    for (graph, count), those in grouped(records, ("graph", "label_count")).items():
        found = [report["bytes"] for report in (lists_of(one, "refine") for one in those) if report]
        if found:
            whole = those[0]["graph_bytes"]
            sizes = statistics.median(found), max(found)
            rows.append([graph, count, len(found), f"{whole / 2**20:.1f}", *(f"{size / 1024:,.0f}" for size in sizes),
                         *(f"{100 * size / whole:.0f} %" for size in sizes)])
    if rows:
        out.add("Memory of the candidates' lists", "Of refined candidates: what the lists and their index take, median and largest of the "
                "queries, against the graph in memory.\n\n" +
                table(["graph", "labels", "queries", "graph MiB", "lists KiB, median", "largest", "of the graph, median", "largest"], rows))


def against_matches(records, out):
    """EGSM's figure 11g."""
    way = ways_of(records)[0]
    points = [(one["graph"], one["matches"], 1000 * one["seconds"][way]) for one in records if one["seconds"][way]]
    if len(points) < 2:
        return
    names = sorted({graph for graph, *_ in points})
    rows = [["matches", *names],
            *([matches, *(f"{ms:.4g}" if graph == name else "NaN" for name in names)] for graph, matches, ms in points)]
    out.plot("time-by-matches", "Time (ms) by number of matches", rows, ["set logscale xy"],
             f"for [i=2:{len(names) + 1}] DATA using 1:i with points pt 7 title columnhead(i)")
