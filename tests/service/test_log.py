"""The log stays readable while brokers and a sink are down. What fails again and again is told once, then after 10 s, 30 s, 70 s."""

import collections
import datetime
import re
import time

from harness import edge, main, ServiceTest


class TheLog(ServiceTest):
    own_broker = True

    def test_it_does_not_repeat_itself_while_brokers_are_down(self):
        self.broker.create(self.input)
        self.config(transaction_timeout="10m", sinks__pager={"type": "webhook", "url": "http://127.0.0.1:9/"},
                    queries=[{"name": "edge", "pattern": "(a)-->(b)"}])
        service = self.start()
        standby = self.start(self.config(name="standby.yaml", state={"directory": str(self.dir / "standby")}), ready=False, log="standby.log")
        standby.wait(lambda: standby.get("/livez")[0] == 200, "an answer")
        self.broker.produce(self.input, [edge(1, 2)])
        service.wait_committed({f"{self.input}[0]": 1})
        self.broker.stop()
        time.sleep(35)

        for instance in (service, standby):
            self.assertTrue(instance.alive(), instance.log())
            times = collections.defaultdict(list)
            for event in instance.events():
                if event["level"] in ("warn", "error"):
                    times[self.what(event)].append(datetime.datetime.fromisoformat(event.pop("time").rstrip("Z")).timestamp())
            self.assertTrue(times)
            for what, at in times.items():
                for before, after in zip(at, at[1:]):
                    self.assertGreater(after - before, 9.9, f"{what}\n{instance.log()}")
            failures = [event for event in instance.events() if event["event"] == "kafka_client" and "Connection refused" in event["message"]]
            self.assertTrue(failures, "the first is told")
            self.assertTrue(any("left_out" in event for event in instance.events()), f"the number of the others is told\n{instance.log()}")
            self.assertLess(sum(map(len, times.values())), 45, instance.log())
        tries = [event for event in service.events() if event["event"] == "delivery failed"]
        self.assertEqual(len({event["level"] for event in tries}), 2, "it is told once more when it has become an error")

        self.broker.start(keep=True)
        self.broker.produce(self.input, [edge(2, 3)])
        service.wait_committed({f"{self.input}[0]": 2})
        service.kill()
        standby.kill()

    def test_it_does_not_repeat_itself_while_brokers_refuse(self):
        """Each try to connect is refused; librdkafka tries about twice a second."""
        self.config(kafka={"bootstrap.servers": self.broker.address, "security.protocol": "SSL"})
        service = self.start(ready=False)
        service.wait(lambda: any("left_out" in event for event in service.events()), "a repeat that counts the others", 30)
        told = collections.Counter(self.what(event) for event in service.events() if event["level"] in ("warn", "error"))
        self.assertTrue(any("SSL handshake failed" in what for what in told))
        self.assertLessEqual(max(told.values()), 2, service.log())
        self.assertEqual(service.stop(), 0)
        rests = [event for event in service.events() if event["event"] == "repeats were left out"]
        self.assertTrue(rests and all(int(event["left_out"]) > 0 and event["of"] for event in rests), service.log())

    @staticmethod
    def what(event):
        """What is the same in repeats."""
        fields = {key: value for key, value in event.items() if key not in ("time", "try", "next_try_ms", "left_out")}
        return re.sub(r"\[thrd:.*?\]: |\d+ ?ms|, \d+ identical error\(s\) suppressed", "", repr(sorted(fields.items())))


if __name__ == "__main__":
    main()
