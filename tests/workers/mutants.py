#!/usr/bin/env python3
"""Leaves out each rule of the protocol of several workers, one at a time, and expects that the simulation finds it.

usage: mutants.py SOURCE_DIR CORE_LIBRARY CXX [NAME ...]      NAME: the rules to leave out, by default all
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROTOCOL, TESTS = "ingest/service/workers", "tests/unit/workers"
LEADER, WORKER, MAP, ASSIGNMENT = (f"{PROTOCOL}/{name}.cpp" for name in ("leader_protocol", "worker_protocol", "slot_map", "assignment"))
DRIVER = f"{TESTS}/simulation.cpp"

MUTANTS = {  # name: (file, [(what stands there, what stands there instead)])
    "a leader does not fence": (LEADER, [(
        "case Phase::begun: phase_ = Phase::initialising; return LeaderStep{.kind = LeaderStep::Kind::initialise, .cut = {}};",
        "case Phase::begun: phase_ = Phase::reading; return LeaderStep{.kind = LeaderStep::Kind::read_cuts, .cut = {}};")]),
    "a leader reads the cuts before it fences": (LEADER, [
        ("case Phase::begun: phase_ = Phase::initialising; return LeaderStep{.kind = LeaderStep::Kind::initialise, .cut = {}};",
         "case Phase::begun: phase_ = Phase::reading; return LeaderStep{.kind = LeaderStep::Kind::read_cuts, .cut = {}};"),
        ("case Phase::initialised: phase_ = Phase::reading; return LeaderStep{.kind = LeaderStep::Kind::read_cuts, .cut = {}};",
         "case Phase::initialised: phase_ = Phase::initialising; return LeaderStep{.kind = LeaderStep::Kind::initialise, .cut = {}};"),
        ("LeaderProtocol::initialised() { phase_ = Phase::initialised; }", "LeaderProtocol::initialised() { phase_ = Phase::ready; }"),
        ("  phase_ = Phase::ready;\n  // If there", "  phase_ = Phase::initialised;\n  // If there")]),
    "a leader takes a lost answer for an abort": (LEADER, [(
        "LeaderProtocol::uncertain() { phase_ = Phase::begun; }", "LeaderProtocol::uncertain() { phase_ = Phase::ready; }")]),
    "a leader does not see that another one cuts": (LEADER, [("newer && pending_ != cut) phase_ = Phase::ended", "newer && pending_ != cut) return")]),
    "a leader commits what was proposed before another one cut": (LEADER, [("if (last != last_) pending_.reset();", "")]),
    "a leader does not undo what another one cut otherwise": (WORKER, [("if (!same) restart();", "static_cast<void>(same);")]),
    "a worker does not fence": (WORKER, [(
        "return give(Step::Kind::initialise, Phase::initialising);", "return give(Step::Kind::read_slot, Phase::reading);")]),
    "a worker reads the progress before it fences": (WORKER, [
        ("return give(Step::Kind::initialise, Phase::initialising);", "return give(Step::Kind::read_slot, Phase::reading);"),
        ("return give(Step::Kind::read_slot, Phase::reading);\n    case Phase::ready:",
         "return give(Step::Kind::initialise, Phase::initialising);\n    case Phase::ready:"),
        ("WorkerProtocol::initialised(Slot slot) { slots_[slot].phase = Phase::initialised; }",
         "WorkerProtocol::initialised(Slot slot) { slots_[slot].phase = Phase::ready; }"),
        ("WorkerProtocol::slot_read(Slot slot) { slots_[slot].phase = Phase::ready; }",
         "WorkerProtocol::slot_read(Slot slot) { slots_[slot].phase = Phase::initialised; }")]),
    "a worker does not read again after it has fenced": (WORKER, [(
        "WorkerProtocol::initialised(Slot slot) { slots_[slot].phase = Phase::initialised; }",
        "WorkerProtocol::initialised(Slot slot) { slots_[slot].phase = Phase::ready; }")]),
    "a worker takes a lost answer for an abort": (WORKER, [(
        "WorkerProtocol::uncertain(Slot slot) { slots_[slot].phase = Phase::idle; }",
        "WorkerProtocol::uncertain(Slot slot) { slots_[slot].phase = Phase::ready; }")]),
    "one that leads no longer keeps what it took ahead": (WORKER, [("if (!leads && !unconfirmed_.empty()) restart();", "")]),
    "cuts are forgotten that a spare needs": (WORKER, [("at_ ? std::min(least_progress(), *at_) : least_progress()", "least_progress()")]),
    "no gate": (WORKER, [("return least_progress() + 1 >= batch;", "return least_progress() + 1 >= batch || true;")]),
    "digests are not compared": (WORKER, [("if (leader && leader->contradicts(digest)) {", "if (false) {")]),
    "an heir that is ahead does not restart": (WORKER, [("if (lacks_next_part(slot)) {", "if (false && lacks_next_part(slot)) {")]),
    "a graph that is too new is taken": (WORKER, [("if (batch > least_progress()) {", "if (false) {")], [
        ("if (graph.batch <= work.step.batch && (best == nullptr", "if ((best == nullptr")]),
    "nobody is told of a take-over": (ASSIGNMENT, [("heir(), Change::take_over)", "heir(), Change::move)")]),
    "what a slot's former worker owes is forgotten": (ASSIGNMENT, [(
        "return !std::ranges::all_of(cuts.owing(slot, progress), [&](const std::string& worker) { return is_member(members, worker); });",
        "static_cast<void>(progress);\n  return false;")]),
    "a take-over counts for later batches only": (MAP, [("return taken != later.end() ? taken->places[slot].worker : at(batch)", "return at(batch)")]),
    "the state is not read": (DRIVER, [("process.bindings[slot].insert(record.number);", "static_cast<void>(record);")]),
    "the state of an aborted transaction is kept": (DRIVER, [("      process.bindings[slot].clear();\n", "")]),
    "no snapshot is kept for the slowest slot": (DRIVER, [(
        "while (saved.size() > 1 && saved[1].batch <= process.protocol.least_progress())", "while (saved.size() > 1)")]),
}


def main():
    source, core, cxx = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    names = sys.argv[4:] or list(MUTANTS)
    flags = ["-std=c++20", "-O1", "-w", "-DFMT_SHARED", f"-I{source}/include", f"-I{source}/src", f"-I{source}", f"-I{source}/tests"]
    files = [LEADER, WORKER, MAP, ASSIGNMENT, DRIVER]
    files += [f"{TESTS}/{name}.cpp" for name in ("broker", "checks", "input_model", "protocol_test")]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        scratch = pathlib.Path(scratch)

        def compile_text(text, name):
            path = scratch / f"{name}.cpp"
            path.write_text(text)
            subprocess.run([cxx, *flags, "-c", path, "-o", scratch / f"{name}.o"], check=True)
            return scratch / f"{name}.o"

        def run(objects, name):
            program = scratch / f"{name}.run"
            subprocess.run([cxx, *objects, core, "-lgtest", "-lgtest_main", "-lfmt", "-lpthread", "-o", program], check=True)
            try:
                done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=900,
                                      env={**os.environ, "DELTAMATCH_SCHEDULES": "20"})
            except subprocess.TimeoutExpired:
                return "it does not end"
            return None if done.returncode == 0 else (re.search(r'Which is: "(schedule .*)"', done.stdout) or [None, done.stdout[-2000:] + done.stderr])[1]

        texts = {file: (source / file).read_text() for file in files}
        objects = dict(zip(files, pool.map(lambda file: compile_text(texts[file], file.replace("/", "_")), files)))
        found = run(objects.values(), "whole")
        if found:
            sys.exit(f"without a mutant: {found}")

        def judge(name):
            file, edits, *driver = MUTANTS[name]
            changed = dict(objects)
            for place, replacements in ((file, edits), *((DRIVER, more) for more in driver)):
                text = texts[place]
                for old, new in replacements:
                    pattern = r"\s+".join(map(re.escape, old.split()))  # wherever lines are wrapped
                    text, count = re.subn(pattern, lambda _, new=new: new, text)
                    if count != 1:
                        return f"{place} has {count} times instead of once: {old}", False
                changed[place] = compile_text(text, f"{list(MUTANTS).index(name)}_{pathlib.Path(place).stem}")
            fault = run(changed.values(), str(list(MUTANTS).index(name)))
            if fault is None:
                return "NOT FOUND", False
            return fault, fault.startswith("schedule")

        failed = 0
        for name, (said, well) in zip(names, pool.map(judge, names)):
            failed += not well
            print(f"{'ok  ' if well else 'FAIL'} {name}: {said}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
