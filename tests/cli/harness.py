"""Runs the built program and checks its output. Uses the standard library only.

The program's path comes from DELTAMATCH_PROGRAM (ctest sets it)."""

import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

LIBC = ctypes.CDLL(None, use_errno=True)
PROGRAM = os.environ.get("DELTAMATCH_PROGRAM", "")
TRIANGLE = "triangle=(a)-->(b)-->(c)-->(a)"
REJECTS = ["malformed", "wrong_arity", "bad_id", "bad_time", "bad_operation", "too_long", "label_conflict", "missing_time",
           "label_limit", "missing_key", "bad_value"]
OUT_OF_ORDER = "the record is older than one before it"
EXPECTED = re.compile(r"deltamatch: warning: (query .*: no (vertex|edge) has the label |.*: there are no records, )")
IGNORED = ["duplicate_insert", "absent_delete", "superseded", "late", "self_loop"] + REJECTS


def heed_permissions():
    """Makes the program that this process executes next respect the permissions of files, even as root. It takes away the
    capabilities that override them (DAC_OVERRIDE, DAC_READ_SEARCH). Another user might not be able to run the program."""
    if os.geteuid() != 0:
        return
    drop_from_bounding_set = 24  # PR_CAPBSET_DROP
    for capability in (1, 2):
        if LIBC.prctl(drop_from_bounding_set, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


class Outcome:
    def __init__(self, args, code, out, err):
        self.args, self.code, self.out_bytes, self.err = args, code, out, err

    @property
    def out(self):
        return self.out_bytes.decode()

    def __str__(self):
        return f"{self.args}\nexit {self.code}\n--- out\n{self.out_bytes!r}\n--- err\n{self.err}"


class CliTest(unittest.TestCase):
    """A test with a directory of its own, in which the program runs."""

    def setUp(self):
        self.assertTrue(os.access(PROGRAM, os.X_OK), "DELTAMATCH_PROGRAM does not name the built program")
        directory = tempfile.TemporaryDirectory(prefix="deltamatch-cli-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def write(self, name, content):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        return (self.dir / name).read_text()

    def run_program(self, *args, stdin=b"", timeout=60, before=None):
        """Runs the program. `before` is called in the new process, before the program starts."""
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        done = subprocess.run([PROGRAM, *map(str, args)], input=data, capture_output=True, cwd=self.dir, timeout=timeout,
                              check=False, preexec_fn=before)
        outcome = Outcome(args, done.returncode, done.stdout, done.stderr.decode(errors="replace"))
        self.assertGreaterEqual(done.returncode, 0, f"killed by signal {-done.returncode}: {outcome}")
        self.assertNotIn("Sanitizer", outcome.err)
        return outcome

    def ok(self, *args, stdin=b"", warns=None):
        """Runs a command that must succeed and print nothing on standard error, except that data lack a label of a query
        or hold no records. If `warns` is given, there must be one warning with that text."""
        outcome = self.run_program(*args, stdin=stdin)
        self.assertEqual(outcome.code, 0, outcome)
        told = [line for line in outcome.err.splitlines() if not EXPECTED.match(line) or (warns and warns in line)]
        if warns is None:
            self.assertEqual(told, [], outcome)
        else:
            self.assertEqual([line.startswith("deltamatch: warning: ") and warns in line for line in told], [True], outcome)
        return outcome

    def json(self, *args, stdin=b"", warns=None):
        """Runs a command with --json. Standard output must be exactly one object. Its keys keep their order."""
        outcome = self.ok(*args, "--json", stdin=stdin, warns=warns)
        self.assertEqual(outcome.out.count("\n"), 1, outcome)
        return json.loads(outcome.out)

    def untimed(self, queries):
        """Returns the queries of a match's object without their seconds. Each query must have them."""
        for query in queries:
            self.assertGreaterEqual(query["seconds"], 0, query)
        return [{key: value for key, value in query.items() if key != "seconds"} for query in queries]

    def fails(self, code, *args, stdin=b"", says=(), reports=False, before=None):
        """Runs a command that must fail with `code` and a message of one line. Standard output must be empty. With `reports` it must
        be a report that is marked as incomplete, or no table if nothing was found."""
        outcome = self.run_program(*args, stdin=stdin, before=before)
        self.assertEqual(outcome.code, code, outcome)
        self.assertTrue(outcome.err.startswith("deltamatch: "), outcome)
        if not reports:
            self.assertEqual(outcome.out_bytes, b"", outcome)
        elif "--json" in args:
            self.assertIs(json.loads(outcome.out)["complete"], False, outcome)
        elif outcome.out:
            self.assertTrue(outcome.out.startswith("INCOMPLETE: "), outcome)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, outcome.err, outcome)
        return outcome

    def replay(self, stream, *args, query=TRIANGLE, name="stream.tsv"):
        """Replays `stream`. Returns {query: (new, removed)} and the whole object."""
        self.write(name, stream)
        result = self.json("replay", "--updates", name, "--query", query, *args)
        return {q["name"]: (q["new"], q["removed"]) for q in result["queries"]}, result

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(verbosity=1)
