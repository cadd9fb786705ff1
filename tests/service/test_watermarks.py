"""Event time over several partitions: no record is late because those of another partition came first."""

import json
import random
import shutil
import signal
import time

from harness import edge, main, ServiceTest

START = 1_700_000_000_000_000
HOUR = 3_600_000_000


class Watermarks(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input, 2)

    def late(self, service):
        return service.metric("deltamatch_ignored_updates_total").get('{cause="late"}', 0)

    def test_there_is_none_before_every_partition_has_spoken(self):
        self.config(graph__window="1h", input__idle_after="60s", **{"kafka__session.timeout.ms": "6000"})
        service = self.start()
        self.broker.produce(self.input, [edge(10, 11, time=START + 10 * HOUR)], partition=0)
        service.wait_committed({f"{self.input}[0]": 1})
        self.assertIsNone(service.status()["time"])
        self.broker.produce(self.input, [edge(1, 2, time=START), edge(2, 3, time=START + 1), edge(3, 1, time=START + 2)], partition=1)
        service.wait_committed({f"{self.input}[1]": 3})
        self.assertEqual(service.status()["time"], START + 2)
        self.assertEqual(self.late(service), 0)
        service.kill()  # the log and the commit records have it as well
        service = self.start()
        self.assertEqual((service.status()["time"], service.status()["graph"]["edges"]), (START + 2, 4))
        self.assertEqual(service.stop(), 0)
        self.assertIn(None, [json.loads(record[3])["time"] for record in self.broker.consume(self.app + ".commits")])
        self.assertEqual(len(self.check_alerts("--window", "1h")), 1)

    def test_partitions_that_are_apart_share_batches(self):
        count = 3000
        records = [[edge(*pair, time=START + i * 1000 - lag * HOUR) for i, pair in enumerate((n, n + 1) for n in range(count))]
                   for lag in (0, 2)]
        for part in (0, 1):
            self.broker.produce(self.input, records[part][:1], partition=part)
        self.config(graph__window="24h", batch={"max_updates": 500, "max_delay": "50ms"})
        service = self.start()
        for first in range(1, count, 300):  # mixed, as from two producers at the same time
            for part in (0, 1):
                self.broker.produce(self.input, records[part][first:first + 300], partition=part)
        service.wait_committed({f"{self.input}[0]": count, f"{self.input}[1]": count})
        status = service.status()
        self.assertEqual(status["time"], START + (count - 1) * 1000 - 2 * HOUR)
        self.assertLess(status["batch"], 200)
        self.assertEqual(self.late(service), 0)
        self.assertEqual(service.stop(), 0)

    def test_a_time_far_ahead_is_a_bad_record(self):
        changes = {"graph__window": "24h", "input__on_error": "dead-letter", "input__dead_letters": {"topic": self.letters},
                   "input__idle_after": "50ms"}
        self.config(**changes)
        service = self.start()
        far = edge(7, 8, time=2**63 - 1)
        ring = [edge(1, 2, time=START), edge(2, 3, time=START + 1), edge(3, 1, time=START + 2)]
        self.broker.produce(self.input, [*ring[:2], far], partition=0)
        service.wait_committed({f"{self.input}[0]": 3})
        self.broker.produce(self.input, ring[2:], partition=0)
        service.wait_committed({f"{self.input}[0]": 4})

        def holds(service):
            status = service.status()
            self.assertEqual((status["time"], status["graph"]["edges"]), (START + 2, 3))
            self.assertEqual(self.late(service), 0)
            self.assertEqual(len(self.alert_lines()), 1)
            (*_, letter, headers), = self.broker.consume(self.letters)
            self.assertEqual((letter, headers[b"__connect.errors.exception.class.name"]), (far, b"bad_time"))
        service.wait(lambda: service.status()["time"] == START + 2, "the watermark")
        holds(service)
        service.kill()
        shutil.rmtree(self.dir / "state")  # records that are read again are judged alike
        self.config(**changes, input__max_ahead="none")
        other = self.start(ready=False)
        self.assertEqual(other.ended(), 78)
        self.assertIn("this configuration or release would read it differently", other.log())
        self.config(**changes)
        service = self.start()
        holds(service)
        self.assertEqual(service.stop(), 0)


class Outages(ServiceTest):
    own_broker = True

    def test_brokers_that_hang_make_no_partition_idle(self):
        self.broker.create(self.input, 2)
        self.config(graph__window="1h", input__idle_after="3s")
        service = self.start()
        self.broker.produce(self.input, [edge(1, 2, time=START)], partition=1)
        self.broker.produce(self.input, [edge(10, 11, time=START + 10 * HOUR)], partition=0)
        service.wait_committed({f"{self.input}[0]": 1, f"{self.input}[1]": 1})
        self.broker.signal(signal.SIGSTOP)
        time.sleep(5)
        self.broker.signal(signal.SIGCONT)
        self.broker.produce(self.input, [edge(2, 3, time=START + 1), edge(3, 1, time=START + 2)], partition=1)
        service.wait_committed({f"{self.input}[1]": 3})
        self.assertEqual(service.status()["graph"]["edges"], 4)
        self.assertEqual(len(self.alert_lines()), 1)
        service.wait(lambda: service.status()["time"] == START + 10 * HOUR, "idleness in the end")
        self.assertEqual(service.stop(), 0)


class Windows(ServiceTest):
    def test_a_window_does_not_depend_on_the_cuts(self):
        """A batch for each record, and large batches, which are cut where an edge expires: the same matches come and go."""
        self.broker.create(self.input, 1)
        draw = random.Random(11)
        now, records = START, []
        for _ in range(600):
            now += draw.randrange(60_000_000)
            records.append(edge(*draw.sample(range(9), 2), time=now - draw.choice((0, 0, 0, 1_200_000_000))))
        self.broker.produce(self.input, records)
        found, batches = [], []
        for size, delay in ((1, "20ms"), (1000, "2s")):
            self.app += "x"
            self.alerts = self.app + "-alerts"
            self.config(graph__window="30m", state__directory=str(self.dir / f"state-{size}"), batch={"max_updates": size, "max_delay": delay})
            service = self.start()
            service.wait_committed({f"{self.input}[0]": 600})
            if size > 1:  # the parts of a batch are taken again as they were
                service.kill()
                service = self.start()
            self.assertEqual(service.stop(), 0)
            alerts = [json.loads(line) for line in self.check_alerts("--window", "30m")]
            found.append(sorted((alert["id"], alert["sign"]) for alert in alerts))
            batches.append(len(self.marks()))
        self.assertGreater(batches[0], 600)
        self.assertLess(batches[1], 300)
        self.assertGreater(len(found[0]), 100)
        self.assertEqual(found[0], found[1])


if __name__ == "__main__":
    main()
