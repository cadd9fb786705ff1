#!/usr/bin/env python3
"""What do many standing queries cost beside a few, if they rarely match?

The queries are rings of five vertices with random labels, in a labelled power-law graph into which a tenth of its edges is inserted.
All are asked in one run: first the few, then all. `bench_count` counts the matches before and after independently. The figure of a run
is the least of several in turns, because other work on the machine only adds to it. `all steps` has apply, match and settle."""

import pathlib
import random
import tempfile

from harness import script

STEPS = ("apply", "match", "settle")


def body():
    options = arguments()
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        graph, updates = folder / "start.graph", folder / "stream"
        script.Run([script.program(options), "generate", "chung-lu", "--vertices", options.vertices, "--edges", options.edges,
                    "--vertex-labels", options.labels, "--graph", graph, "--updates", updates])
        queries = make_queries(options, folder)
        expected = script.independent_counts(options, graph, updates, queries)
        seconds = {options.few: [], options.many: []}
        for _ in range(options.repeat):
            for count, runs in seconds.items():
                chosen = folder / f"{count}-queries"
                chosen.mkdir(exist_ok=True)
                for query in queries[:count]:
                    (chosen / query.name).write_text(query.read_text())
                report, _ = script.replay(options, graph, updates, chosen, batch=options.batch)
                script.check(report, expected)
                runs.append({step: report["seconds"][step] for step in STEPS} | {"matches": sum(query["new"] for query in report["queries"])})
    least = {count: min(runs, key=lambda run: run["match"]) for count, runs in seconds.items()}
    rows = [[str(count), f"{run['matches']:,}", f"{run['match']:.4f}", f"{total(run):.4f}"] for count, run in least.items()]
    few, many = least.values()
    script.table([["queries", "new matches", "match, s", "all steps, s"], *rows,
                  ["ratio", "", f"{many['match'] / few['match']:.2f}", f"{total(many) / total(few):.2f}"]])
    script.write_results(options, least)


def total(run):
    return sum(run[step] for step in STEPS)


def arguments():
    parser = script.parser(__doc__)
    parser.add_argument("--vertices", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=50, help="of vertices")
    parser.add_argument("--few", type=int, default=8)
    parser.add_argument("--many", type=int, default=100)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    return parser.parse_args()


def make_queries(options, folder):
    """Rings as t/v/e files, the few first."""
    draw = random.Random(3)
    files = []
    for number in range(options.many):
        labels = [draw.randrange(options.labels) for _ in range(5)]
        lines = ["t 5 5", *(f"v {v} {label} 2" for v, label in enumerate(labels)), *(f"e {v} {(v + 1) % 5} 0" for v in range(5))]
        files.append(folder / f"ring{number:03}.graph")
        files[-1].write_text("\n".join(lines) + "\n")
    return files


if __name__ == "__main__":
    script.main(body)
