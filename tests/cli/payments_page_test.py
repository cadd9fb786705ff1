"""Runs the commands of docs/guide/payments.md, and compares what they print with the page.

Those that need a broker are run by tests/service/test_payments_page.py.
"""

import os
import pathlib
import re
import subprocess

import harness
import page

ROOT = pathlib.Path(__file__).resolve().parents[2]
KAFKA = re.compile(r"\bkcat\b|^scripts/kafka |^deltamatch run ")


class PaymentsPage(harness.CliTest):
    def test_commands_print_what_the_page_shows(self):
        (self.dir / "bin").mkdir()
        (self.dir / "bin/deltamatch").symlink_to(harness.PROGRAM)
        (self.dir / "config").symlink_to(ROOT / "config")
        commands = [entry for entry in page.commands((ROOT / "docs/guide/payments.md").read_text()) if not KAFKA.search(entry[1])]
        self.assertGreater(len(commands), 12)
        for section, command, lines in commands:
            name = page.written_file(command)
            if name and not (self.dir / name).exists():
                self.write(name, "".join(line + "\n" for line in lines))
                continue
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=self.dir, timeout=60,
                                  env={**os.environ, "PATH": f"{self.dir}/bin:{os.environ['PATH']}"})
            with self.subTest(section=section, command=command):
                expected = page.expression(lines)
                self.assertRegex(done.stdout.removeprefix("\ufeff").replace("\r\n", "\n") + done.stderr, rf"\A{expected}\Z")


if __name__ == "__main__":
    harness.main()
