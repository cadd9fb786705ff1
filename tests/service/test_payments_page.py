"""Runs the commands of docs/guide/payments.md that need a broker, and compares the alerts with the page. Does the same with
"The first alert" and "Try a take-over" of docs/guide/kafka-service.md.

tests/cli/payments_page_test.py runs the other commands of docs/guide/payments.md.
"""

import datetime
import os
import pathlib
import re
import socket
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


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class FirstAlert(PaymentsPage):
    def part(self, begin, end):
        """The commands between two headings, with addresses of this test."""
        text = (ROOT / "docs/guide/kafka-service.md").read_text()
        text = text[text.index(begin):text.index(end)].replace("127.0.0.1:9092", self.broker.address)
        for port, own in self.ports.items():
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{own}")
        return page.commands(text)

    def follow(self, commands):
        """Does what a reader does. Returns the services that it starts."""
        services = []
        for _, command, lines in commands:
            name, run = page.written_file(command), re.match(r"deltamatch run --config (\S+) &(?: echo \$! > (\S+))?", command)
            with self.subTest(command=command):
                if command.startswith("scripts/kafka"):
                    continue
                if name:
                    more = "log: {format: json}\n" if name == "service.yaml" else ""
                    (self.dir / name).write_text("".join(line + "\n" for line in lines) + more)
                elif run:
                    services.append(self.start(config=self.dir / run[1], ready=False, log=f"{run[1]}.log"))
                    (self.dir / (run[2] or "pid")).write_text(str(services[-1].process.pid))
                elif command.startswith("kcat -C") or lines == ["ok"]:
                    self.read_until(command, lines)
                else:
                    if command.startswith("kcat -P"):
                        services[0].wait(lambda: any(event["event"] == "input_topic_waiting" for event in services[0].events()), "the wait", 30)
                    done = self.shell(command)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertRegex(settled(done.stdout), rf"\A{page.expression([settled(line) for line in lines])}\Z")
        return services

    def test_alerts_are_those_of_the_page(self):
        self.ports = {9464: free_port(), 9465: free_port()}
        alone, = self.follow(self.part("## The first alert", "## What happens to a batch"))
        status = alone.status()
        self.assertEqual(status["sinks"]["alerts"]["alerts"], 1)
        self.assertEqual(status["time_at"], "2026-03-01T01:15:30Z")
        started = datetime.datetime.fromisoformat(status["started_at"].replace("Z", "+00:00"))
        self.assertAlmostEqual(started.timestamp() * 1e6, status["started"], delta=10)
        self.assertEqual([event for event in alone.events() if event["event"] == "waiting for the brokers"], [])
        self.assertEqual(alone.stop(), 0)
        _, second = self.follow(self.part("### Try a take-over", "### Let it take over"))
        self.assertEqual(second.status()["state"], "running")
        self.assertEqual([event["event"] for event in second.events() if event["event"] in ("standby", "recovering", "took_over", "running")],
                         ["standby", "recovering", "took_over", "running"])
        self.assertTrue((self.dir / "share").is_dir())
        self.assertEqual(second.stop(), 0)


if __name__ == "__main__":
    main()
