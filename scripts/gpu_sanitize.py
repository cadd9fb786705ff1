#!/usr/bin/env python3
"""Runs every test of a gtest program under a tool of compute-sanitizer, each in a process of its own.

Kernels take up to a hundred times as long there. A test that does not end must not hide what the others find. Tests are told to
be brief (tests/gpu/streams.hpp).

usage: gpu_sanitize.py SANITIZER TOOL PROGRAM FILTER SECONDS LIMIT OUT LOG [JOBS]

SECONDS is for each test, LIMIT for all. JOBS processes run at a time (default 1). A test that fails beside others runs once
more alone, because the tools take gigabytes of device memory for each process. The order is mixed, so that a limit leaves out
tests of every kind.

Appends a JSON line to OUT. It has the number of clean tests, and of those that pass without calling the device. It names the
tests with errors, those that failed, those that did not end, and those that were not begun. Exits with 1 if there were errors
or failures, or if nothing was clean.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time

from gpu_tests import names_of

FOUND = 9  # the exit code of the tool if it found errors
NO_CALL = "terminated before first instrumented API call"


def run(sanitizer, tool, program, test, seconds, deadline):
    """The test's result and its output."""
    left = min(seconds, deadline - time.monotonic())
    if left <= 0:
        return "not_begun", ""
    # Some tests are about calls that fail.
    more = ["--report-api-errors", "no"] if tool == "memcheck" else []
    command = [sanitizer, "--tool", tool, *more, "--error-exitcode", str(FOUND), program, f"--gtest_filter={test}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                               env={**os.environ, "DELTAMATCH_BRIEF_TESTS": "1"})
    try:
        output, _ = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
        process.kill()
        return "not_ended", process.communicate()[0]
    if process.returncode == FOUND:
        return "errors", output
    if NO_CALL in output and "[  PASSED  ] 1 test" in output:
        return "without_calls", output
    if process.returncode != 0 or "SUMMARY" not in output:
        return "failed", output
    return ("skipped" if "[  SKIPPED ]" in output else "clean"), output


def main():
    sanitizer, tool, program, wanted, seconds, limit, out, log = sys.argv[1:9]
    jobs = int(sys.argv[9]) if len(sys.argv) > 9 else 1
    begin, names = time.monotonic(), sorted(names_of(program, wanted), key=lambda name: hashlib.sha256(name.encode()).digest())
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        run_test = lambda test: run(sanitizer, tool, program, test, float(seconds), begin + float(limit))
        fates = list(pool.map(run_test, names))
    for i, (fate, output) in enumerate(fates):
        if fate == "failed" and jobs > 1:
            again = run_test(names[i])
            fates[i] = again if again[0] != "not_begun" else (fate, output)
    with open(log, "a", encoding="utf-8") as file:
        for test, (fate, output) in zip(names, fates):
            took = re.search(r"\((\d+ ms) total\)", output)
            file.write(f"{test}: {fate}{', ' + took[1] if took else ''}\n")
            if fate in ("errors", "failed", "not_ended"):
                file.write(output + "\n")
    count = lambda fate: sum(one == fate for one, _ in fates)
    line = {"kind": "sanitize", "tool": tool, "program": program.rsplit("/", 1)[-1], "filter": wanted, "tests": len(names),
            "clean": count("clean"), "without_calls": count("without_calls"), "skipped": count("skipped"),
            **{fate: [test for test, (one, _) in zip(names, fates) if one == fate] for fate in ("errors", "failed", "not_ended", "not_begun")},
            "seconds": round(time.monotonic() - begin, 1)}
    with open(out, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(f"{tool} {line['program']}: {line['tests']} tests, {line['clean']} clean, {line['without_calls']} without calls, "
          f"{len(line['errors'])} with errors, {len(line['failed'])} failed, {len(line['not_ended'])} not ended, {len(line['not_begun'])} not begun, {line['seconds']} s")
    return 1 if line["errors"] or line["failed"] or not line["clean"] else 0


if __name__ == "__main__":
    sys.exit(main())
