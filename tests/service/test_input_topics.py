"""Input topics that vanish, appear late, or come back."""

import json
import signal
import time

from harness import edge, main, ServiceTest


class InputTopics(ServiceTest):
    def setUp(self):
        super().setUp()
        self.other = self.input + "2"
        for topic in (self.input, self.other):
            self.broker.create(topic)

    def configure(self, **more):
        self.config(**{"input__topics": [{"name": f"^{self.input}.*", "format": "json"}], "input__refresh_every": "500ms", **more})

    def test_it_is_noticed_before_the_next_look(self):
        self.configure(input__refresh_every="10m")
        service = self.start()
        self.broker.delete(self.other)
        service.wait(lambda: self.told(service, "input_partition_gone"), "word of the topic", 30)
        self.assertEqual(service.stop(), 0)

    def told(self, service, event):
        return [entry for entry in service.events() if entry.get("event") == event]

    def at(self, number, topic=None):
        return {f"{topic or self.input}[0]": number}

    def started_and_lost(self):
        """A running service that has read a record of each of two topics. One topic is gone."""
        self.configure()
        service = self.start()
        self.broker.produce(self.input, [edge(1, 2)])
        self.broker.produce(self.other, [edge(2, 3), edge(5, 6)])
        service.wait_committed({**self.at(1), **self.at(2, self.other)})
        self.broker.delete(self.other)
        service.wait(lambda: service.metric("deltamatch_input_partitions_missing") == {"": 1.0}, "a missing partition")
        return service

    def test_one_that_is_deleted_does_not_stop_the_others(self):
        service = self.started_and_lost()
        self.assertIn(f"{self.other}[0]", [entry.get("partition") for entry in self.told(service, "input_partition_gone")])
        start = time.monotonic()
        self.broker.produce(self.input, [edge(3, 1)])
        service.wait_committed(self.at(2))
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(service.get("/readyz")[0], 200)
        self.broker.produce(self.input, [edge(7, 8)])
        service.wait_committed(self.at(3), timeout=10)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)
        self.assertEqual(self.marks()[-1]["ends"][self.other], {"0": 2})

    def test_one_that_is_not_there_at_the_start_keeps_its_end(self):
        service = self.started_and_lost()
        service.kill()
        service = self.start()
        self.assertEqual([entry["next_offset"] for entry in self.told(service, "input_partition_gone") if "next_offset" in entry], ["2"])
        self.broker.produce(self.input, [edge(3, 1)])
        service.wait_committed(self.at(2))
        self.assertEqual(self.marks()[-1]["ends"][self.other], {"0": 2})
        self.broker.create(self.other)  # a new topic: the records that were read are not there
        self.assertEqual(service.ended(), 1)
        self.assertIn("records were lost, or the topic was created anew", service.log())
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 1)
        self.assertIn("records were lost, or the topic was created anew", service.log())

    def test_one_that_is_back_is_read_on(self):
        service = self.started_and_lost()
        service.process.send_signal(signal.SIGSTOP)  # until all records are there
        self.broker.create(self.other)
        self.broker.produce(self.other, [edge(20, 30), edge(50, 60), edge(3, 1)])
        service.process.send_signal(signal.SIGCONT)
        service.wait_committed(self.at(3, self.other))
        back = self.told(service, "input_partition_back")
        self.assertEqual([entry["next_offset"] for entry in back], ["2"])
        self.assertEqual(service.metric("deltamatch_input_partitions_missing"), {"": 0.0})
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)

    def test_a_named_one_that_is_deleted_ends_the_service(self):
        self.config(input__topics=[{"name": self.input, "format": "json"}, {"name": self.other, "format": "json"}],
                    input__refresh_every="500ms")
        service = self.start()
        self.broker.delete(self.other)
        self.assertEqual(service.ended(), 1)
        self.assertIn(self.other, service.log())
        self.assertIn("the topic does not exist", service.log())

    def test_a_named_one_that_was_deleted_meanwhile_ends_the_service(self):
        self.config()
        service = self.start()
        self.broker.produce(self.input, [edge(1, 2)])
        service.wait_committed(self.at(1))
        self.assertEqual(service.stop(), 0)
        self.broker.delete(self.input)
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 1)
        self.assertIn("the topic does not exist, although it was read before", service.log())


class AbsentTopics(ServiceTest):
    """Topics that are named in the configuration before they exist."""

    def start_waiting(self):
        service = self.start(ready=False)
        service.wait(lambda: self.input in service.get("/readyz")[1], "word of the topic in /readyz")
        return service

    def events(self, service, event):
        return [entry for entry in service.events() if entry.get("event") == event]

    def test_one_is_waited_for(self):
        self.config(input__refresh_every="10m", input__start="latest")
        service = self.start_waiting()
        why = f"waiting for topics of the input that do not exist: {self.input}; create them, or correct input.topics"
        code, body = service.get("/readyz")
        self.assertEqual((code, json.loads(body)["error"]), (503, "not ready: " + why))
        self.assertEqual(service.status()["doing"], why)
        service.wait(lambda: service.metric("deltamatch_input_partitions_missing") == {"": 1.0}, "the metric")
        told, = self.events(service, "input_topic_waiting")
        self.assertEqual((told["level"], told["topic"]), ("warn", self.input))
        self.assertIn(f"kafka-topics.sh --bootstrap-server {self.broker.address} --create --topic {self.input},", told["remedy"])
        self.broker.create(self.input)
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3), edge(3, 1)])  # read from the first on, in spite of `latest`
        service.wait_ready(10)
        service.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(len(self.events(service, "input_topic_found")), 1)
        service.wait(lambda: service.metric("deltamatch_input_partitions_missing") == {"": 0.0}, "the metric")
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)

    def test_the_others_are_read_meanwhile_and_a_stop_is_heeded(self):
        other = self.input + "2"
        self.broker.create(other)
        self.config(input__topics=[{"name": self.input, "format": "json"}, {"name": other, "format": "json"}])
        service = self.start_waiting()
        self.broker.produce(other, [edge(1, 2), edge(2, 3)])
        service.wait_committed({f"{other}[0]": 2})
        self.assertEqual(service.stop(), 0)
        service = self.start_waiting()
        self.broker.create(self.input)
        self.broker.produce(self.input, [edge(3, 1)])
        service.wait_committed({f"{self.input}[0]": 1, f"{other}[0]": 2})
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.check_alerts(topics=[self.input, other])), 1)

    def test_one_that_is_made_between_two_starts_is_read_from_its_beginning(self):
        """Only what is there at the first start is passed over."""
        other = self.input + "2"
        self.broker.create(other)
        self.broker.produce(other, [edge(1, 2)])
        self.config(input__topics=[{"name": name, "format": "json"} for name in (self.input, other)], input__start="latest")
        service = self.start_waiting()
        self.assertEqual(service.stop(), 0)
        self.broker.create(self.input)
        self.broker.produce(self.input, [edge(2, 3), edge(3, 4), edge(4, 2)])
        service = self.start()
        service.wait_committed({f"{self.input}[0]": 3, f"{other}[0]": 1})
        self.assertEqual(service.status()["graph"]["edges"], 3)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)


if __name__ == "__main__":
    main()
