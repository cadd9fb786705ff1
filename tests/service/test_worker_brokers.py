"""The broker stops under three workers, and starts again: the alerts are those of a replay, each once."""

import random
import signal
import time

from harness import main, random_updates
from test_workers import WorkersTest

SESSION = 6  # seconds until a leader that says nothing is gone
PATIENCE = 10  # seconds until a worker that says nothing is gone


class Brokers(WorkersTest):
    own_broker = True
    names = "abc"

    def start_one(self, name):
        self.workers[name] = self.begin(name, ready=False, state__snapshot_every="1s", **{"kafka__session.timeout.ms": str(SESSION * 1000)})

    def start_all(self):
        self.draw = random.Random(14)
        self.broker.create(self.input, 2)
        self.workers = {}
        for name in self.names:
            self.start_one(name)
        self.wait_for_slots()
        self.produce_many()
        self.wait_published(self.workers["a"])  # so all slots have begun

    def wait_for_slots(self):
        first = self.workers[self.names[0]]
        first.wait(lambda: sorted(self.owners(first)) == list(self.names), "three workers with slots", 120)

    def produce_many(self):
        """More than is published at once."""
        for partition in (0, 1):
            self.produce(5000, self.draw, partition, records=lambda count: random_updates(self.draw, count, vertices=500))

    def go_on(self):
        """All is published. A former leader may have been fenced; then its supervisor starts it again."""
        self.produce_many()
        end = time.monotonic() + 240
        while True:
            self.assertLess(time.monotonic(), end, "not all is published")
            for name, worker in self.workers.items():
                if not worker.alive():
                    self.assertEqual(worker.ended(), 1, worker.log())
                    self.assertIn("another instance leads the workers now", worker.log())
                    self.start_one(name)
            try:
                self.wait_published(next(iter(self.workers.values())), 5)
                break
            except AssertionError:
                pass
        self.wait_for_slots()

    def end(self):
        self.wait_published(self.workers["a"])
        self.stop_all(*self.workers.values())
        self.check_logs()
        self.assertGreater(len(self.check_alerts()), 100)

    def test_the_broker_hangs_for_longer_than_a_session(self):
        self.start_all()
        self.produce_many()
        self.broker.signal(signal.SIGSTOP)
        time.sleep(PATIENCE + 4)
        for worker in self.workers.values():
            self.assertTrue(worker.alive(), worker.log())
        self.broker.signal(signal.SIGCONT)
        self.go_on()
        self.end()

    def test_the_broker_is_started_anew(self):
        self.start_all()
        self.produce_many()
        self.broker.stop()
        time.sleep(PATIENCE + 4)
        for worker in self.workers.values():
            self.assertTrue(worker.alive(), worker.log())
        self.broker.start(keep=True)
        self.go_on()
        self.end()


if __name__ == "__main__":
    main()
