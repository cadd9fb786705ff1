#!/usr/bin/env python3
"""Runs a gtest program so that a test that hangs or crashes costs little. Such a test is ended and counts as failed. The tests
after it run in a new process.

usage: gpu_tests.py PROGRAM FILTER SECONDS OUT LOG [JOBS]

JOBS processes (default 1) share the tests. A test that is ended beside others, which slow it down, runs once more alone. It
counts as failed if it fails then; if it passes, it is named. A test that reports a wrong result has failed and is not repeated.

Appends JSON lines to OUT: one for each failed test, then the sums. Exits with 1 if a test failed. SIGTERM, as from timeout,
ends it. Then the sums name the tests without a result.
"""

import concurrent.futures
import json
import queue
import os
import re
import signal
import subprocess
import sys
import threading
import time

STATE = re.compile(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?)[,. ]*(?:$|\(| where|, where)")


TERMINATED = f"crashed with {-signal.SIGTERM}"

running = set()


def names_of(program, wanted):
    suite, names = "", []
    listing = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={wanted}"], capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        text = line.split("#")[0].rstrip()
        if not text or text.startswith("Running main"):
            continue
        if text[0] != " ":
            suite = text
        else:
            names.append(suite + text.strip())
    return names


def lines_of(process):
    """The process's lines as a queue, with None at the end."""
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def run(program, names, seconds, log, results):
    """Runs tests in order until one hangs or crashes. Returns {name: (state, output)} of those that were begun."""
    process = subprocess.Popen([program, "--gtest_filter=" + ":".join(names)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    running.add(process)
    lines, current, output = lines_of(process), None, []
    while True:
        try:
            line = lines.get(timeout=seconds)
        except queue.Empty:
            process.kill()
            process.wait()
            running.discard(process)
            if current is not None:
                results[current] = ("hung", "".join(output))
            return
        if line is None:
            break
        log.write(line)
        output.append(line)
        found = STATE.match(line)
        if not found or found[2] not in names:
            continue
        if found[1] == "RUN":
            current, output = found[2], []
        elif found[2] == current:
            results[current] = (found[1].lower(), "".join(output))
            current = None
    code = process.wait()
    running.discard(process)
    if current is not None:
        results[current] = (f"crashed with {code}", "".join(output))


def run_all(program, names, seconds, log, results):
    """Runs tests in order, in a new process after each that hangs or crashes. Returns what run() returns, for all of them."""
    left = names
    with open(log, "a", encoding="utf-8", buffering=1) as log_file:
        while left:
            run(program, left, seconds, log_file, results)
            behind = [name for name in left if name not in results]
            if behind == left:
                results[left[0]] = ("never began", "")
            left = [name for name in left if name not in results]


def failures_of(results):
    return {name: result for name, result in results.items() if result[0] not in ("ok", "skipped")}


def main():
    program, wanted, seconds, out, log = sys.argv[1:6]
    jobs = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    begin, names, results = time.monotonic(), names_of(program, wanted), {}
    again = []

    def tell(not_told):
        failures = failures_of(dict(results))
        name = program.rsplit("/", 1)[-1]
        sums = {"kind": "tests", "program": name, "filter": wanted, "tests": len(names), "failed": len(failures),
                "skipped": sum(state == "skipped" for state, _ in results.values()), "seconds": round(time.monotonic() - begin, 1),
                "passed_alone": [test for test in again if test in results and test not in failures]}
        if not_told:
            sums["not_told"] = not_told
        with open(out, "a", encoding="utf-8") as file:
            for test, (state, output) in failures.items():
                print(f"{name} {test}: {state}\n{output[-1500:]}")
                file.write(json.dumps({"kind": "test", "program": name, "test": test, "state": state, "output": output[-2000:]}) + "\n")
            file.write(json.dumps(sums) + "\n")
        told = f"{name}: {len(names)} tests, {sums['failed']} failed, {sums['skipped']} skipped, {sums['seconds']} s"
        print(told + (f"; ended, of {len(not_told)} nothing is known" if not_told else ""))
        if sums["passed_alone"]:
            print(f"{name}: ended beside others and passed by themselves: {', '.join(sums['passed_alone'])}")
        return 1 if failures or not_told or not names else 0

    def end(*_):
        for process in list(running):
            process.kill()
        for name in [name for name in results if results[name][0] == TERMINATED]:  # they may have to end, too
            del results[name]
        tell([name for name in names if name not in results])
        sys.stdout.flush()
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    shares = [names[job::jobs] for job in range(jobs)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(run_all, program, share, float(seconds), f"{log}.{job}" if job else log, results)
                for job, share in enumerate(shares) if share]
        for one in runs:
            one.result()
    if jobs > 1:
        again = [test for test, (state, _) in results.items() if state == "hung"]
    for test in again:
        del results[test]
        run_all(program, [test], float(seconds), log, results)
    return tell([])


if __name__ == "__main__":
    sys.exit(main())
