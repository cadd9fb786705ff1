#!/usr/bin/env python3
"""Reproduces rows of the README's table on this machine, with one command.

It builds the program if it is not built, and generates what it needs. It runs each row in turns and checks every answer. Then it
prints one table: what was published and where, what was measured here, and the ratio. Progress and the time left go to standard
error. On a machine that has built nothing yet, run scripts/setup first.

  bench/reproduce.py                     the rows that any machine can run: insertions and deletions
  bench/reproduce.py service             Kafka to Kafka; starts a broker
  bench/reproduce.py houses              needs email-Enron (https://snap.stanford.edu/data/email-Enron.html) in --data, as edges or jlg
  bench/reproduce.py --quick             a small graph, to see that everything works. Nothing is compared with published times

Other programs are no part of this: papers/compare.py compares with RapidFlow, if you have it. The row of a billion edges needs
a GPU: scripts/gpu-run."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from harness import script

RAW = script.ROOT / "bench" / "results" / "raw"
HOUSE = "house=(a)--(b)--(c)--(d)--(a)--(r)--(b)"
SMALL = "2 busy virtual cores, AMD EPYC"


class Progress:
    """Tells on standard error which step runs, how many are done, and how long the others will take.

    The time left follows from the weights: what each step is expected to take beside the others."""

    def __init__(self, weights):
        self.weights, self.done, self.begin = weights, 0, time.monotonic()

    def step(self, name):
        """Call it before each step."""
        spent, past = time.monotonic() - self.begin, sum(self.weights[:self.done])
        left = ""
        if past > 0:
            left = f", about {clock(spent / past * (sum(self.weights) - past))} left"
        text = f"[{self.done + 1}/{len(self.weights)}] {name}{left}"
        end = "\n"
        if sys.stderr.isatty():
            text, end = f"\r\033[K{text}", ""
        print(text, end=end, file=sys.stderr, flush=True)
        self.done += 1

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def clock(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def body():
    options = arguments()
    build(options)
    rows = []
    for name in options.row:
        rows += ROWS[name](options)
    print(f"{heading(options)}\n")
    print_table([["what", "answer", "published", "on", "here, median (range)", "here / published"], *rows])
    script.write_results(options, rows)


def arguments():
    parser = script.parser(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("row", nargs="*", help="insertions, deletions, service, houses (default: the first two)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, of which the median counts (default: 5)")
    parser.add_argument("--quick", action="store_true", help="small inputs, one run each")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("DELTAMATCH_DATA", script.ROOT.parent / "shared" / "data")),
                        help="a folder, in which, and in whose folders, a file email-enron.* is looked for; or that file "
                             "(default: $DELTAMATCH_DATA, else shared/data beside the repository)")
    options = parser.parse_args()
    options.row = options.row or ["insertions", "deletions"]
    for name in options.row:
        if name not in ROWS:
            parser.error(f"'{name}' is not a row; choose from {', '.join(ROWS)}")
    if options.quick:
        options.repeat = 1
    if options.repeat < 1:
        parser.error("--repeat: there must be at least one run")
    return options


def build(options):
    """Builds the programs that are missing, if --build is the folder of the preset."""
    tools = ["deltamatch", "bench_count", *(["service_load"] if "service" in options.row else [])]
    missing = [tool for tool in tools if not os.access(options.build / "bin" / tool, os.X_OK)]
    if not missing:
        return
    if options.build.resolve() != script.ROOT / "build" / "release":
        raise script.Refused(f"{options.build}/bin lacks {', '.join(missing)}; build them there, or leave --build out")
    lacking = [tool for tool in ("cmake", "ninja", "c++") if not shutil.which(tool)]
    if lacking:
        raise script.Refused(f"{', '.join(lacking)} missing, which building takes; run scripts/setup, then this again")
    print(f"building {', '.join(missing)}; the first time this takes 10 to 15 minutes on 2 cores", file=sys.stderr, flush=True)
    for command in (["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release", "--target", *(f"bin/{tool}" for tool in missing)]):
        if subprocess.run(command, cwd=script.ROOT, stdout=sys.stderr, check=False).returncode != 0:  # ninja shows [n/N]
            raise script.Refused(f"{' '.join(command)} failed, as said above; if something is missing, run scripts/setup")


def heading(options):
    """Machine, commit and caveats: what a figure needs to mean anything."""
    of = script.machine()
    busy = of["load"] > of["threads"] / 2
    lines = [f"{of['processor']}, {of['threads']} threads, {of['memory_gib']} GiB, load {of['load']:.1f}. {script.made_of(options)}",
             f"Medians of {options.repeat}." if options.repeat > 1 else "One run each."]
    if busy:
        lines.append("The machine is busy: times are longer than they need be.")
    if options.quick:
        lines.append("Small inputs, so nothing is compared with what was published.")
    else:
        lines.append("Only counts must be equal to what was published: each row names its machine, and this is another.")
    return " ".join(lines)


def print_table(rows):
    script.table([[str(cell) for cell in row] for row in rows])


def spread(values):
    return f"{statistics.median(values):.4f} s ({min(values):.4f} to {max(values):.4f})"


def published(kind):
    """{query: what was measured} from the raw lines behind bench/results/cpu-vs-rapidflow.md."""
    lines = [json.loads(line) for line in (RAW / "cpu-vs-rapidflow" / f"{kind}.jsonl").read_text().splitlines()]
    return {line["query"]: line["deltamatch"] for line in lines if "query" in line}


def stream(options, kind):
    """The nine labelled queries on a graph of a million edges, of which a tenth is inserted or deleted."""
    known = published(kind)
    queries = sorted((script.QUERIES / "labelled").glob("*.graph"))
    weights = [0.6, *(0.4 + known[query.stem]["match"] for query in queries for _ in range(options.repeat))]
    progress = Progress(weights)
    progress.step(f"{kind}: generating")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        graph, updates = generate(options, pathlib.Path(folder), kind)
        expected = script.independent_counts(options, graph, updates, queries) if options.quick else None
        for query in queries:
            reports = []
            for number in range(options.repeat):
                progress.step(f"{kind}: {query.stem}, run {number + 1} of {options.repeat}")
                report, _ = script.replay(options, graph, updates, query, batch=1000)
                check_stream(report, known[query.stem], kind, expected)
                reports.append(report)
            (change,) = reports[0]["queries"]
            of = known[query.stem]
            for what, parts, before in (("matching", ("match",), of["match"]),
                                        ("all steps", ("match", "apply", "settle"), of["match"] + of["apply"])):
                times = [sum(report["seconds"][part] for part in parts) for report in reports]
                rows.append([f"{kind}: {query.stem}, {what}", f"{change['new'] + change['removed']:,} embeddings",
                             *compared(times, None if options.quick else before, SMALL)])
    progress.end()
    return rows


def generate(options, folder, kind):
    graph, updates = folder / "start.graph", folder / "stream"
    small = ["--vertices", 3000, "--edges", 30_000] if options.quick else []
    script.Run([script.program(options), "generate", "chung-lu", *small, "--graph", graph, "--updates", updates])
    if kind == "deletions":  # the start graph holds all edges, and the stream deletes them
        inserted = updates.read_text().splitlines()
        lines = graph.read_text().splitlines()
        vertices, edges = lines[0].split()[1:3]
        lines[0] = f"t {vertices} {int(edges) + len(inserted)}"
        graph.write_text("\n".join([*lines, *inserted]) + "\n")
        updates.write_text("".join(f"-{line}\n" for line in inserted))
    return graph, updates


def check_stream(report, known, kind, expected):
    """All edges of the stream count. The published counts are those of RapidFlow, too; small inputs are counted by bench_count."""
    (change,) = report["queries"]
    if report["ignored"]["duplicate_insert"] or report["ignored"]["absent_delete"]:
        raise script.Refused(f"{change['name']}: some updates changed nothing: {report['ignored']}")
    if expected is not None:
        return script.check(report, expected)
    found, wanted = (change["new"], change["removed"]), (known["matches"], 0) if kind == "insertions" else (0, known["matches"])
    if found != wanted:
        raise script.Refused(f"{change['name']}: {found[0]:,} new and {found[1]:,} removed embeddings, not {wanted[0]:,} and {wanted[1]:,}")
    return None


def compared(times, known, machine):
    if known is None:
        return ["–", "–", spread(times), "–"]
    return [f"{known:.4f} s", machine, spread(times), f"{statistics.median(times) / known:.2f}"]


def service(options):
    """From Kafka to Kafka, with eight patterns: the part `throughput` of programs/service_load.py, which checks the commits."""
    count = 100_000 if options.quick else 4_000_000
    progress = Progress([1] * options.repeat)
    rates = []
    for number in range(options.repeat):
        progress.step(f"service: run {number + 1} of {options.repeat}, with a broker of its own")
        run = script.Run([sys.executable, script.ROOT / "bench" / "programs" / "service_load.py", "--build", options.build, "--only", "throughput",
                          "--updates", count])
        (line,) = [json.loads(line) for line in run.out.splitlines() if line.startswith("{")]
        if line["updates"] != count:
            raise script.Refused(f"service: {line['updates']:,} updates instead of {count:,}")
        rates.append(line["updates_per_second"])
    progress.end()
    known = None if options.quick else json.loads((RAW / "service" / "load.jsonl").read_text().splitlines()[2])["updates_per_second"]
    return [["service: eight patterns", f"{count:,} updates", f"{known:,} updates/s" if known else "–", SMALL if known else "–",
             f"{statistics.median(rates):,.0f} updates/s ({min(rates):,} to {max(rates):,})",
             f"{statistics.median(rates) / known:.2f}" if known else "–"]]


def houses(options):
    """The houses in email-enron, one thread."""
    files = [options.data] if options.data.is_file() else sorted(options.data.rglob("*"))
    graph = next((path for path in files if path.is_file() and (path == options.data or path.name.lower().startswith("email-enron."))), None)
    if graph is None:
        raise script.Refused(f"houses: there is no email-Enron in {options.data}; get https://snap.stanford.edu/data/email-Enron.txt.gz, "
                             "and name it or its folder with --data")
    progress = Progress([1] * options.repeat)
    times = []
    for number in range(options.repeat):
        progress.step(f"houses: run {number + 1} of {options.repeat}")
        run = script.Run([script.program(options), "match", "--graph", graph, "--undirected", "--on-error", "skip", "--query", HOUSE, "--threads", 1,
                          "--backend", "cpu", "--json"])
        (query,) = run.json()["queries"]
        if query["matches"] != 5_677_082_981:
            raise script.Refused(f"houses: {query['matches']:,} instead of 5,677,082,981; is {graph} another graph?")
        times.append(query["seconds"])
    progress.end()
    return [["houses in email-enron", "5,677,082,981 matches", *compared(times, 0.584, "the host of an H200")]]


ROWS = {"insertions": lambda options: stream(options, "insertions"), "deletions": lambda options: stream(options, "deletions"),
        "service": service, "houses": houses}

if __name__ == "__main__":
    script.main(body)
