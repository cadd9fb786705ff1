"""Two instances: one works, one stands by, and what changes hands is neither lost nor doubled."""

import os
import random
import signal
import time

from harness import main, random_updates, ServiceTest


class TakeOver(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.draw = random.Random(17)
        self.sent = 0

    def instance(self, name, **changes):
        config = self.config(f"{name}.yaml", state__directory=str(self.dir / name), **{"kafka__session.timeout.ms": "6000", **changes})
        return self.start(config, ready=False, log=f"{name}.log")

    def produce(self, count=1000):
        self.broker.produce(self.input, random_updates(self.draw, count))
        self.sent += count

    def committed_by(self, service):
        service.wait_committed({f"{self.input}[0]": self.sent})

    def standing_by(self, service):
        service.wait(lambda: service.status().get("state") == "standby", "standing by")

    def test_a_standby_takes_over_at_once_where_the_owner_stops(self):
        first = self.instance("first").wait_ready()
        second = self.instance("second")
        self.standing_by(second)
        self.assertEqual(second.get("/readyz")[0], 503)
        self.produce()
        self.committed_by(first)
        time.sleep(1)
        self.assertEqual(second.status()["state"], "standby")  # a newcomer takes nothing away
        self.assertEqual(first.stop(), 0)
        second.wait_ready(20)
        self.produce()
        self.committed_by(second)
        self.assertEqual(second.stop(), 0)
        self.check_alerts()

    def test_a_standby_takes_over_from_one_that_is_killed(self):
        first = self.instance("first").wait_ready()
        second = self.instance("second")
        self.standing_by(second)
        self.produce()
        first.wait(lambda: first.status().get("batch", 0) > 0, "a batch")
        first.kill()
        self.produce()
        second.wait_ready(60)
        self.committed_by(second)
        self.assertEqual(second.stop(), 0)
        self.check_alerts()

    def test_a_zombie_commits_nothing(self):
        first = self.instance("first").wait_ready()
        self.produce()
        self.committed_by(first)
        first.process.send_signal(signal.SIGSTOP)
        self.addCleanup(lambda: first.alive() and first.process.send_signal(signal.SIGCONT))
        second = self.instance("second")
        second.wait_ready(60)
        self.produce()
        self.committed_by(second)
        first.process.send_signal(signal.SIGCONT)
        self.assertEqual(first.ended(60), 1, first.log())
        self.assertRegex(first.log(), "another instance|fenced|newer instance")
        self.produce()
        self.committed_by(second)
        self.assertEqual(second.stop(), 0)
        self.check_alerts()


if __name__ == "__main__":
    main()
