"""What the benchmark scripts share: they run programs, take their time and memory, and write the results file.

Standard library only."""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERIES = ROOT / "bench" / "queries"


class Refused(Exception):
    """A result that must not be reported: a program failed, or counts differ."""


class Run:
    """A finished program: its output, its seconds, and those of processors in user mode. Also its largest resident set and what
    it read from disks, in MiB.

    Raises Refused unless its exit code is one of `fine`."""

    def __init__(self, command, fine=(0,)):
        self.command = [str(part) for part in command]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            begin = time.monotonic()
            with subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.wall = time.monotonic() - begin
            self.user = usage.ru_utime
            self.peak_mib = usage.ru_maxrss / 1024
            self.disk_mib = usage.ru_inblock / 2048
            out.seek(0)
            err.seek(0)
            self.out, errors = out.read(), err.read()
        if process.returncode not in fine:
            raise Refused(f"{shlex.join(self.command)}\nexit {process.returncode}: {errors.strip() or self.out.strip()[-500:]}")

    def json(self):
        return json.loads(self.out)


def parser(description):
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    result.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="build directory with bin/deltamatch")
    result.add_argument("--machine", default="Two virtual cores, shared with other work: only ratios within this run mean much.",
                        help="what stands above tables that are written")
    result.add_argument("--results", type=pathlib.Path, help="write everything measured to this JSON file")
    return result


def program(options):
    return _tool(options, "deltamatch")


def counter(options):
    return _tool(options, "bench_count")


def _tool(options, name):
    path = options.build / "bin" / name
    if not os.access(path, os.X_OK):
        raise Refused(f"{path} is missing; build it with: cmake --preset release && cmake --build --preset release")
    return path


def replay(options, graph, updates, queries, *, batch=8192, threads=1, more=()):
    """One replay that counts embeddings. Returns the --json object and the run."""
    run = Run([program(options), "replay", "--graph", graph, "--updates", updates, "--query", queries, "--batch", batch, "--threads",
               threads, "--count", "embeddings", "--json", *more])
    return run.json(), run


def independent_counts(options, graph, updates, queries):
    """{query name: (embeddings before, embeddings after)} by bench/programs/count.cpp."""
    counts = {}
    for line in Run([counter(options), graph, updates, *queries]).out.splitlines():
        path, before, after = line.rsplit(" ", 2)
        counts[pathlib.Path(path).stem] = int(before), int(after)
    return counts


def check(report, expected):
    """Refuses a replay whose changes do not lead from the counts before to the counts after."""
    for query in report["queries"]:
        before, after = expected[query["name"]]
        if before + query["new"] - query["removed"] != after:
            raise Refused(f"{query['name']}: {before} + {query['new']} - {query['removed']} is not {after}, "
                          "the number of embeddings by bench_count")


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def table(rows):
    """Prints rows of text, the first column to the left, the others to the right; the first row is the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip())


def write_results(options, measured):
    """Writes one JSON file for a run, with machine, compiler, commit and command."""
    if options.results is None:
        return
    report = {"command": sys.argv, "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": machine(), "compiler": compiler(options), "commit": commit(options), "measured": measured}
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(json.dumps(report, indent=1) + "\n")


def conditions(options, text):
    """The Markdown above tables: command line, machine, the text of the script, revision, compiler and processor.

    The command line names files without their folders."""
    words, skip, without = [], False, ("--build", "--machine", "--out", "--results")
    for word in sys.argv[1:]:
        if not skip and word not in without:
            words.append("=".join(pathlib.Path(part).name for part in word.split("=")) if word.startswith("/") else word)
        skip = word in without
    return f"    {shlex.join([name_of_script(), *words])}\n\n{options.machine} {text}\n\n{made_of(options)}\n"


def name_of_script():
    """Its path in the repository."""
    path = pathlib.Path(sys.argv[0]).resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name)


def made_of(options):
    """One line: the revision, the compiler if it is known (a bundle does not say), and the processor."""
    of, by = commit(options), compiler(options)
    revision = "Revision " + (of["id"][:7] or "unknown") + (" with changes" if of["changed"] else "")
    name = " ".join(filter(None, [pathlib.Path(by["path"]).name, by["version"]]))
    return ", ".join(filter(None, [revision, name, machine()["processor"]])) + "."


def machine():
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"processor": model, "threads": os.cpu_count(), "memory_gib": round(memory / 2**30, 1), "system": platform.platform(),
            "load": os.getloadavg()[0]}


def compiler(options):
    """The compiler of the build directory."""
    values = {}
    cache = options.build / "CMakeCache.txt"
    if cache.exists():
        for line in cache.read_text().splitlines():
            name, _, value = line.partition("=")
            values[name.partition(":")[0]] = value
    path = values.get("CMAKE_CXX_COMPILER", "")
    version = subprocess.run([path, "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip() if path else ""
    return {"path": path, "version": version, "build_type": values.get("CMAKE_BUILD_TYPE", ""),
            "flags": values.get("CMAKE_CXX_FLAGS", "")}


def commit(options):
    """The commit of the working tree, or that of the archive from which it was unpacked. If --build is a bundle
    (scripts/gpu-bundle), that of the tree from which it was made."""
    bundled = options.build / "commit"
    if bundled.exists():
        report = bundled.read_text().strip()
        return {"id": report.removesuffix("-dirty").removeprefix("unknown"), "changed": report.endswith("-dirty")}

    def git(*args):
        if not shutil.which("git"):
            return ""
        return subprocess.run(["git", "-C", ROOT, *args], capture_output=True, text=True, check=False).stdout.strip()

    archived = (ROOT / "REVISION").read_text().strip() if (ROOT / "REVISION").exists() else "$"
    if not archived.startswith("$"):
        return {"id": archived, "changed": False}
    return {"id": git("rev-parse", "HEAD"), "changed": bool(git("status", "--porcelain"))}


def main(body):
    """Runs a script's body. A refusal becomes a message and exit code 1."""
    try:
        body()
    except Refused as refusal:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {refusal}")
