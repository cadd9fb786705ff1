"""ALERT ONCE remembers what was reported, and EMIT FINAL waits on, whatever happens to the service. So the alerts are those of one
run without a break."""

import random
import shutil
import threading
import time

from harness import main
from test_edges import EdgesTest

QUERIES = {
    "hop": "(a)-[t]->(b) WHERE t.amount > 20 ALERT ONCE PER (b) EVERY 2s",
    "chain": "(a)-[t1]->(b)-[t2]->(c) WHERE t1.time < t2.time AND t2.channel = 'web' WITHIN 2s ALERT ONCE PER (a, c) EVERY 5s",
    "fan": "(hub)-->(b) WHERE COUNT { DISTINCT s | (s)-->(hub) } >= 4 WITHIN 2s ALERT ONCE PER (hub) EVERY 3s",
    "silent": "(a)-[t]->(b) WHERE NOT EXISTS { (b)-[u]->(c) WHERE t.time <= u.time <= t.time + 1s } EMIT FINAL",
}


class AlertOnce(EdgesTest):
    def wait_all(self, service):
        service.wait_committed({f"{self.input}[0]": self.sent})
        return service

    def instance(self, name, model):
        config = self.configure(model, QUERIES, name=f"{name}.yaml", state__directory=str(self.dir / name), state__snapshot_every="1s",
                                batch__max_delay="5ms", **{"kafka__session.timeout.ms": "6000"})
        return self.start(config, ready=False, log=f"{name}.log")

    def test_alert_once_survives_kills_and_take_overs(self):
        for model in ("keyed", "events"):
            with self.subTest(model):
                self.setUp()
                self.killed(model)

    def killed(self, model):
        draw = random.Random(model)
        done = threading.Event()

        def produce():
            while not done.is_set():
                self.send(draw, draw.randrange(1, 80))
                time.sleep(0.05)

        producer = threading.Thread(target=produce)
        producer.start()
        try:
            for number in range(8):
                service = self.instance(("first", "second")[number // 2 % 2], model)
                if number % 2 == 0:
                    service.wait(lambda: service.get("/readyz")[0] == 200, "readiness", 60)
                time.sleep(draw.random())
                service.kill()
        finally:
            done.set()
            producer.join()
        shutil.rmtree(self.dir / "second")  # made anew from the input
        service = self.wait_all(self.instance("second", model).wait_ready())
        suppressed = service.status()["suppressed"]
        self.assertEqual(service.stop(), 0)
        lines = self.check(model, QUERIES, state="second")
        self.assertGreater(len(lines), 100)
        self.assertLessEqual(set(suppressed), set(QUERIES))

    def test_what_is_left_out_is_counted(self):
        draw = random.Random(3)
        self.configure("events", QUERIES)
        self.send(draw, 2000)
        service = self.wait_all(self.start())
        counted = service.metric("deltamatch_matches_suppressed_total")
        status = service.status()["suppressed"]
        self.assertEqual({f'{{query="{name}"}}': count for name, count in status.items()}, counted)
        self.assertGreater(status["hop"], 100)
        self.assertEqual(service.stop(), 0)
        self.check("events", QUERIES)


if __name__ == "__main__":
    main()
