"""Two instances: one works, one stands by. A take-over loses nothing and duplicates nothing."""

import json
import random
import signal
import time

from harness import edge, main, random_updates, RING, ServiceTest
from test_edges import EdgesTest

PATH = "(a)-->(b)-->(c)"


class TakeOver(ServiceTest):
    own_broker = True  # it hangs at times

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
        self.assertEqual(second.status()["state"], "standby")  # a newcomer takes nothing over
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

    def test_a_start_after_a_crash_says_that_it_waits_for_the_session(self):
        session = {"kafka__session.timeout.ms": "12000"}
        first = self.instance("first", **session).wait_ready()
        first.kill()
        again = self.instance("first", **session)
        again.wait(lambda: "session of the previous instance" in again.status().get("doing", ""), "the reason", 10)
        self.assertEqual(again.status()["state"], "starting")
        self.assertIn("session.timeout.ms", again.get("/readyz")[1])
        again.wait_ready(60)
        self.assertEqual(again.stop(), 0)

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

    def test_one_that_comes_back_drops_what_it_never_committed(self):
        """It dies between log and commit. Another instance then commits a different version of that batch, and more batches."""
        first = self.instance("first", batch__max_delay="2s", batch__max_updates=5).wait_ready()
        self.broker.produce(self.input, [edge(1, 2)])
        first.wait_committed({f"{self.input}[0]": 1})
        self.broker.produce(self.input, [edge(2, 3)])
        first.wait(lambda: first.status()["partitions"][f"{self.input}[0]"]["read"] == 2, "the second record")
        before = self.log_bytes("first")
        self.broker.signal(signal.SIGSTOP)
        self.addCleanup(self.broker.signal, signal.SIGCONT)
        first.wait(lambda: self.log_bytes("first") > before, "the second batch in the log", 20)
        time.sleep(0.3)
        first.kill()
        self.broker.signal(signal.SIGCONT)
        self.broker.produce(self.input, [edge(3, 1)])
        second = self.instance("second", batch__max_delay="1s").wait_ready(60)
        second.wait_committed({f"{self.input}[0]": 3})
        self.broker.produce(self.input, [edge(50, 51)])
        second.wait_committed({f"{self.input}[0]": 4})
        self.assertEqual(second.stop(), 0)
        first = self.instance("first").wait_ready(60)
        self.assertEqual(first.status()["graph"]["edges"], 4)
        self.broker.produce(self.input, [edge(1, 2, "-")])
        first.wait_committed({f"{self.input}[0]": 5})
        self.assertEqual(first.stop(), 0)
        self.assertEqual([json.loads(line)["sign"] for line in self.check_alerts()], ["+", "-"])

    def test_what_was_reloaded_outlives_a_take_over(self):
        first = self.instance("first").wait_ready()
        second = self.instance("second")
        self.standing_by(second)
        both = [{"name": "ring", "pattern": RING, "sinks": ["alerts"]}, {"name": "path", "pattern": PATH, "sinks": ["alerts"]}]
        settings = {"kafka__session.timeout.ms": "6000", "queries": both}
        for name in ("first", "second"):
            self.config(f"{name}.yaml", state__directory=str(self.dir / name), **settings)
        code, answer = first.get("/reload", "POST")
        self.assertEqual((code, json.loads(answer)["added"]), (200, ["path"]))
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3)])
        first.wait_committed({f"{self.input}[0]": 2})
        first.kill()
        second.wait_ready(60)  # nobody told it, but it reads its file when it begins
        self.assertEqual(second.status()["queries"], ["path", "ring"])
        self.broker.produce(self.input, [edge(3, 1)])
        second.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(second.stop(), 0)
        alerts = sorted((alert["query"], alert["batch"]) for alert in map(json.loads, self.alert_lines()))
        self.assertEqual([query for query, _ in alerts], ["path"] * 3 + ["ring"])

    def test_a_standby_takes_a_reload_and_begins_with_it(self):
        first = self.instance("first").wait_ready()
        second = self.instance("second")
        self.standing_by(second)
        path = [{"name": "path", "pattern": PATH, "sinks": ["alerts"]}]
        file = self.config("second.yaml", state__directory=str(self.dir / "second"), queries=path, **{"kafka__session.timeout.ms": "6000"})
        code, answer = second.get("/reload", "POST")
        self.assertEqual((code, json.loads(answer)), (200, {"state": "standby", "added": [], "removed": [], "needs_restart": []}))
        file.write_text("{")  # an incomplete file, so the last queries stay
        self.assertEqual(second.get("/reload", "POST")[0], 409)
        self.assertEqual(first.stop(), 0)
        second.wait_ready(60)
        self.assertEqual(second.status()["queries"], ["path"])
        self.assertIn("the previous queries stay", second.log())
        self.assertEqual(second.stop(), 0)

    def log_bytes(self, name):
        return sum(path.stat().st_size for path in (self.dir / name).glob("log-*"))


class TakeOverWithAttributes(EdgesTest):
    """Two instances that die in turn. Each finds the keys, times and attributes that the other one read."""

    QUERIES = {
        "ring": "(a)-[t1]->(b)-[t2]->(c)-[t3]->(a) WHERE t1.time < t2.time < t3.time WITHIN 10s",
        "falls": "(a)-[t1]->(b)-[t2]->(c) WHERE t1.amount > t2.amount AND t1.channel = t2.channel WITHIN 10s",
    }

    def instance(self, name, model, *killed_at):
        """An instance with a directory of its own, which is killed at a point of signal_at.cpp."""
        config = self.configure(model, self.QUERIES, name=f"{name}.yaml", state__directory=str(self.dir / name),
                                batch__max_updates=60, **{"kafka__session.timeout.ms": "6000"})
        if not killed_at:
            return self.start(config, ready=False, log=f"{name}.log")
        return self.start_signalled(*killed_at, signal.SIGKILL, config=config, log=f"{name}.log")

    def standing_by(self, service):
        service.wait(lambda: service.status().get("state") == "standby", "standing by")
        return service

    def until_it_dies(self, draw, service):
        """Returns two times: of the last payment in its alerts, and of the last one that it can have read."""
        while service.alive():
            self.send(draw, 10)
        self.assertEqual(service.ended(), -signal.SIGKILL)
        return max(max(times(json.loads(line))) for line in self.alert_lines()), self.now

    def take_over(self, model):
        draw = random.Random(model)
        first = self.instance("first", model, "transaction", 20)  # its last batch is in the log, but never committed
        first.wait_ready()
        second = self.standing_by(self.instance("second", model, "committed", 20))
        deaths = [self.until_it_dies(draw, first)]
        second.wait_ready()
        again = self.standing_by(self.instance("first", model))
        deaths.append(self.until_it_dies(draw, second))
        again.wait_ready()
        self.assertIn("log_cut", [event.get("event") for event in again.events()])  # the batch that never was
        self.send(draw, 200)
        again.wait_committed({f"{self.input}[0]": self.sent})
        self.assertEqual(again.stop(), 0)
        alerts = [json.loads(line) for line in self.check(model, self.QUERIES, "first")]
        self.assertGreater(len(alerts), 100)
        for read, sent in deaths:  # each query has matches of payments that two instances read
            apart = {alert["query"] for alert in alerts if min(times(alert)) <= read and sent < max(times(alert))}
            self.assertEqual(apart, set(self.QUERIES))

    def test_of_keyed_edges(self):
        self.take_over("keyed")

    def test_of_events(self):
        self.take_over("events")


def times(alert):
    return [edge["time"] for edge in alert["edges"]]


class BrokersHang(ServiceTest):
    """A stop keeps its time limit, no matter who does not answer."""

    own_broker = True

    def hanging(self, **changes):
        self.broker.create(self.input)
        self.config(shutdown_timeout="3s", **changes)
        service = self.start()
        self.broker.produce(self.input, [edge(1, 2)])
        service.wait_committed({f"{self.input}[0]": 1})
        self.addCleanup(self.broker.signal, signal.SIGCONT)
        return service

    def test_sigterm(self):
        service = self.hanging(batch__max_delay="1s")
        self.broker.produce(self.input, [edge(2, 3)])
        service.wait(lambda: service.status()["partitions"][f"{self.input}[0]"]["read"] == 2, "the second record")
        self.broker.signal(signal.SIGSTOP)
        time.sleep(1.5)
        begin = time.monotonic()
        self.assertEqual(service.stop(30), 1, service.log())
        self.assertLess(time.monotonic() - begin, 12)

    def test_a_start_waits_for_brokers(self):
        service = self.hanging()
        self.assertEqual(service.stop(), 0)
        self.broker.stop()
        service = self.start(ready=False)
        service.wait(lambda: "waiting for the brokers" in service.log(), "a word about it", 20)
        self.broker.start(keep=True)
        service.wait_ready(60)
        self.assertEqual(service.stop(), 0)

    def test_a_second_sigterm_while_queries_are_taken_anew(self):
        service = self.hanging()
        self.broker.signal(signal.SIGSTOP)
        self.config(shutdown_timeout="60s", queries=[{"name": "path", "pattern": "(a)-->(b)-->(c)", "sinks": ["alerts"]}])
        service.process.send_signal(signal.SIGHUP)
        time.sleep(1)
        begin = time.monotonic()
        service.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        service.process.send_signal(signal.SIGTERM)
        self.assertEqual(service.ended(20), 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 5)


class NoTopicsByThemselves(ServiceTest):
    """Brokers that create topics only on request."""

    own_broker = True
    broker_settings = {"auto_create_topics_enable": "false"}

    def test_a_topic_of_alerts_that_is_not_there_is_told_at_the_start(self):
        self.broker.create(self.input)
        self.config()
        service = self.start(ready=False)
        self.assertEqual(service.ended(30), 1)
        self.assertIn(f'\\"{self.alerts}\\": the topic to write to does not exist; create it', service.log())
        self.broker.create(self.alerts)
        service = self.start()
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3), edge(3, 1)])
        service.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)


if __name__ == "__main__":
    main()
