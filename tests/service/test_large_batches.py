"""One update with more alerts than memory or one transaction can hold. Each alert appears once, even if processes are killed or
state is lost.

DELTAMATCH_HUB is the number of edges to the hub, and from it, in the largest test (default 1000, which gives 1,000,000
alerts).
"""

import json
import os
import shutil
import signal
import subprocess
import sys

from harness import edge, main, ServiceTest

HUB = int(os.environ.get("DELTAMATCH_HUB", "1000"))
PATTERN = "(a)-[:IN]->(b)-[:BRIDGE]->(c)-[:OUT]->(d)"


class LargeBatches(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.file = self.dir / "alerts.jsonl"

    def configure(self, timeout, queries=None, **changes):
        """Transactions use at most a quarter of their timeout, so one of these batches needs several if a record is slow."""
        self.config(transaction_timeout=timeout, state__snapshot_every="1h",
                    sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(self.file)}},
                    queries=[{"name": name, "pattern": pattern, "sinks": ["alerts", "file"]} for name, pattern in (queries or {"wide": PATTERN}).items()],
                    **changes)

    def build_hub(self, hub):
        """Sends all edges except the one that creates every path at once."""
        service = self.start()
        self.broker.produce(self.input, [edge(f"from-{i}", "left", label="IN") for i in range(hub)])
        self.broker.produce(self.input, [edge("right", f"to-{i}", label="OUT") for i in range(hub)])
        service.wait_committed({f"{self.input}[0]": 2 * hub})
        self.assertEqual(service.stop(), 0)
        self.broker.produce(self.input, [edge("left", "right", label="BRIDGE")])
        self.ends = {f"{self.input}[0]": 2 * hub + 1}

    def keys(self, isolation="read_committed"):
        """The ids of the alerts in Kafka. Their text is left out, because there may be a million."""
        command = ["kcat", "-C", "-q", "-e", "-b", self.broker.address, "-t", self.alerts, "-o", "beginning",
                   "-X", f"isolation.level={isolation}", "-f", "%k\n"]
        return subprocess.run(command, capture_output=True, check=True).stdout.split()

    def ids_in_file(self):
        with open(self.file, "rb") as lines:
            return [line[13:45] for line in lines]

    def parts(self):
        return sum("published" in record for record in self.commit_records())

    @staticmethod
    def gave_up(service):
        """Whether the service ended because the brokers of a busy machine exceeded the limits of these short transactions."""
        return service.process.poll() == 1 and ("did not answer in time" in service.log() or "could not be delivered in time" in service.log())

    def killed_at(self, point, count=1, tries=5):
        """Starts again as a supervisor does, until the service comes to this point."""
        for left in reversed(range(tries)):
            service = self.start_signalled(point, count, signal.SIGKILL, DELTAMATCH_SLOW_RECORD="10000")
            ended = service.ended(300)
            if left == 0 or not self.gave_up(service):
                break
        self.assertEqual(ended, -signal.SIGKILL, service.log())

    def killed_between_two_transactions(self):
        self.killed_at("committed")
        self.assertGreaterEqual(self.parts(), 1, "the batch was one transaction")
        return len(self.keys())

    def start_again_until_committed(self, tries=5):
        """Starts again as a supervisor does, until everything is committed."""
        for left in reversed(range(tries)):
            service = self.start(ready=False)
            try:
                service.wait_ready(300)
                service.wait_committed(self.ends, 300)
                return service
            except AssertionError:
                if left == 0 or not self.gave_up(service):
                    raise

    def finish(self, alerts, file=True):
        service = self.start_again_until_committed()
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery", 300)
        peak = self.peak(service)
        self.assertEqual(service.stop(), 0)
        keys = self.keys()
        self.assertEqual(len(keys), alerts)
        self.assertEqual(len(set(keys)), alerts)
        if file:
            ids = self.ids_in_file()
            self.assertEqual(len(ids), alerts)
            self.assertEqual(set(ids), set(keys))
        return peak, service

    @staticmethod
    def peak(service):
        """The largest memory that the process ever had, in MiB."""
        with open(f"/proc/{service.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024

    def test_a_million_alerts_of_one_update_come_once_in_bounded_memory(self):
        self.configure("4s")
        self.build_hub(HUB)
        first = self.killed_between_two_transactions()
        second = self.killed_between_two_transactions()  # continues after the first one
        self.assertLess(0, first)
        self.assertLess(first, HUB * HUB)
        self.assertLess(first, second)
        self.assertLessEqual(second, HUB * HUB)
        peak, service = self.finish(HUB * HUB)
        print(f"{HUB * HUB} alerts: {self.parts() + 1} transactions, {first} and {second} before two kills, {peak} MiB at most", file=sys.stderr)
        self.assertLess(peak, 400)
        self.assertEqual(self.marks()[-1]["ends"][self.input]["0"], self.ends[f"{self.input}[0]"])
        # The partly published batch is reported as one batch, and the next start has nothing left to do for it.
        self.assertIn("a batch is only partly published", service.log())
        again = self.start()
        self.assertNotIn("partly published", again.log())
        self.assertEqual(again.stop(), 0)

    def test_within_one_transaction_they_come_at_once(self):
        self.configure("300s")
        self.build_hub(300)
        peak, _ = self.finish(90_000)  # this process matches them
        self.assertEqual(self.parts(), 0)
        self.assertLess(peak, 400)

    def test_a_kill_within_a_transaction_leaves_none_of_it(self):
        self.configure("3s")
        self.build_hub(600)
        self.killed_at("transaction", 2)
        self.finish(360_000)

    def test_a_lost_log_does_not_stop_the_rest(self):
        self.configure("3s")
        self.build_hub(600)
        self.killed_between_two_transactions()
        for segment in (self.dir / "state").glob("log-*"):
            segment.unlink()
        self.finish(360_000)

    def test_a_lost_log_does_not_change_the_order_of_the_queries(self):
        """The alerts of one query come after those of another, so the first missing one depends on their order."""
        self.configure("3s", queries={"wide": PATTERN, "out": "(b)-[:BRIDGE]->(c)-[:OUT]->(d)"})
        self.build_hub(400)
        self.killed_between_two_transactions()
        self.assertEqual([record["queries"] for record in self.commit_records() if "published" in record][-1], ["wide", "out"])
        for segment in (self.dir / "state").glob("log-*"):
            segment.unlink()
        self.finish(160_400)

    def test_another_instance_publishes_the_rest(self):
        self.configure("3s")
        self.build_hub(600)
        self.killed_between_two_transactions()
        self.configure("3s", state__directory=str(self.dir / "other"))
        _, service = self.finish(360_000)
        self.assertIn("a batch is only partly published", service.log())
        shutil.rmtree(self.dir / "other")
        # The first instance comes back. The other instance has committed what is in its log.
        self.configure("3s")
        self.finish(360_000)

    def test_another_instance_that_has_other_queries_is_refused(self):
        self.configure("3s")
        self.build_hub(600)
        first = self.killed_between_two_transactions()
        self.configure("3s", state__directory=str(self.dir / "other"))
        config = dict(self.last_config, queries=[{"name": "wide", "pattern": "(a)-[:IN]->(b)", "sinks": ["alerts"]}])
        (self.dir / "service.yaml").write_text(json.dumps(config))
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 78, service.log())
        self.assertIn("its query 'wide' has changed since", service.log())
        self.assertEqual(len(self.keys()), first)
        self.configure("3s")
        self.finish(360_000)


if __name__ == "__main__":
    main()
