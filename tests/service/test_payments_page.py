"""Runs the commands of docs/guide/payments.md that need a broker, and compares the alerts with the page.

tests/cli/payments_page_test.py runs the others.
"""

import os
import pathlib
import re
import subprocess
import sys
import time

from harness import PROGRAM, ROOT, main, ServiceTest

sys.path.insert(0, str(ROOT / "tests/cli"))
import page  # noqa: E402

SECTION = "Watch Kafka"


def settled(text):
    """Alerts without what depends on how the broker hands over the records: the batch, and which edges it changed."""
    return re.sub(r'"cause":\[[\d,]*\]', '"cause":[]', re.sub(r'"batch":\d+', '"batch":0', text))


class PaymentsPage(ServiceTest):
    own_broker = True  # so that topics can be called as on the page

    def shell(self, command):
        return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              cwd=self.dir, timeout=60, env={**os.environ, "PATH": f"{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}"})

    def read_until(self, command, lines):
        """`kcat -C` waits for more; here it ends, and is tried again until all is there."""
        expected = rf"\A{page.expression([settled(line) for line in lines])}\Z"
        end = time.monotonic() + 60
        while True:
            done = self.shell(command.replace("kcat -C", "kcat -C -q -e"))
            if re.search(expected, settled(done.stdout)) or time.monotonic() > end:
                self.assertRegex(settled(done.stdout), expected)
                return
            time.sleep(0.2)

    def test_alerts_are_those_of_the_page(self):
        text = (ROOT / "docs/guide/payments.md").read_text().replace("127.0.0.1:9092", self.broker.address)
        service, read = None, 0
        for section, command, lines in page.commands(text):
            name = page.written_file(command)
            if name and not (self.dir / name).exists():
                more = "http: {listen: 127.0.0.1:0}\nlog: {format: json}\n" if name == "service.yaml" else ""
                (self.dir / name).write_text("".join(line + "\n" for line in lines) + more)
            if section != SECTION or name or command.startswith("deltamatch validate"):
                continue
            with self.subTest(command=command):
                if command == "deltamatch run --config service.yaml &":
                    for topic in ("bank.payments", "bank.alerts"):
                        self.broker.create(topic)
                    service = self.start(config=self.dir / "service.yaml")
                elif command.startswith("kcat -C"):
                    self.read_until(command, lines)
                    read += 1
                else:
                    done = self.shell(command)
                    self.assertEqual((done.returncode, done.stdout.splitlines()), (0, lines))
        self.assertEqual(read, 2)
        self.assertEqual(service.stop(), 0)


if __name__ == "__main__":
    main()
