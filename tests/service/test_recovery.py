"""Whatever part of the state is lost, the service restores the same graph, or says why it cannot."""

import json
import random
import shutil

from harness import RING, edge, main, random_updates, Receiver, ServiceTest


class Recovery(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.draw = random.Random(23)
        self.sent = 0
        self.state = self.dir / "state"

    def some_batches(self, count=1500, **changes):
        self.config(**changes)
        service = self.start()
        self.broker.produce(self.input, random_updates(self.draw, count))
        self.sent += count
        service.wait_committed({f"{self.input}[0]": self.sent})
        return service

    def refuses(self, *says, code=1):
        service = self.start(ready=False)
        self.assertEqual(service.ended(), code, service.log())
        for text in says:
            self.assertIn(text, service.log())

    def test_a_lost_state_directory_is_made_anew_from_the_input(self):
        self.some_batches().kill()
        shutil.rmtree(self.state)
        self.some_batches().stop()
        self.check_alerts()

    def test_a_lost_state_directory_begins_with_the_start_graph(self):
        graph = self.dir / "graph.tsv"
        graph.write_text("".join(f"{a}\t{b}\n" for a in range(40) for b in range(40) if a != b and (a + b) % 7 == 0))
        changes = {"graph__start": {"files": [{"path": str(graph), "format": "tsv"}]}}
        self.some_batches(**changes).kill()
        shutil.rmtree(self.state)
        self.some_batches(**changes).stop()
        self.check_alerts("--graph", graph, "--graph-format", "tsv")

    def start_graph(self, **more):
        """A start graph whose edges have times, which matter only with a window."""
        graph = self.dir / "graph.jsonl"
        graph.write_bytes(b"".join(edge(i, i + 1, time=1_700_000_000_000_000 + i) + b"\n" for i in range(1000, 1100)))
        return {"graph__start": {"files": [{"path": str(graph)}]}, "kafka__session.timeout.ms": "6000", **more}

    def closes_a_ring_of_the_start_graph(self, service, first):
        self.broker.produce(self.input, [edge(first + 2, first, time=1_700_000_000_500_000 + first)])
        self.sent += 1
        service.wait_committed({f"{self.input}[0]": self.sent})
        rings = [sorted(json.loads(line)["bindings"].values()) for line in self.alert_lines()]
        self.assertIn([first, first + 1, first + 2], rings)

    def test_a_start_graph_with_times_outlives_every_snapshot(self):
        self.config(**self.start_graph(graph__window="24h", state__snapshot_every="1s"))
        service = self.start()
        self.damage_snapshots()
        self.closes_a_ring_of_the_start_graph(service, 1000)
        service.wait(lambda: service.status()["snapshot"]["made"] > 0, "a snapshot")  # made from the start graph's files and
                                                                                      # the log
        self.closes_a_ring_of_the_start_graph(service, 1010)
        service.kill()
        service = self.start()
        self.assertEqual(service.status()["graph"]["edges"], 102)
        service.kill()
        self.damage_snapshots()
        service = self.start()  # recovers from the files and the log
        self.assertEqual(service.status()["graph"]["edges"], 102)
        service.kill()
        shutil.rmtree(self.state)
        service = self.start()  # recovers from the files and the input
        self.closes_a_ring_of_the_start_graph(service, 1020)
        self.assertEqual(service.status()["graph"]["edges"], 103)
        self.assertEqual(service.stop(), 0)
        self.check_alerts("--graph", self.dir / "graph.jsonl", "--window", "24h")

    def damage_snapshots(self):
        for path in self.state.glob("snapshot-*.dms"):
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)

    def test_instances_that_mean_another_graph_are_refused(self):
        self.config(**self.start_graph(graph__window="24h"))
        self.start().stop()
        other = {"state__directory": str(self.dir / "other")}
        for changes, key in (({"graph__window": "1h"}, "graph.window"), ({"graph__directed": False, "queries": [{"name": "ring", "pattern": "(a)--(b)--(c)--(a)"}]}, "graph.directed"),
                             ({"graph__start": None}, "graph.start")):
            self.config(**{**self.start_graph(graph__window="24h"), **other, **changes})
            self.refuses(key, code=78)
            shutil.rmtree(self.dir / "other")

    def test_batch_zero_is_where_its_commit_record_says(self):
        self.broker.produce(self.input, [edge(100, 101)] * 5)
        changes = {"input__start": "latest"}
        self.config(**changes)
        self.start().stop()
        shutil.copytree(self.state, self.dir / "uncommitted")
        self.broker.delete(self.app + ".commits")
        self.broker.produce(self.input, [edge(1, 2)])
        shutil.rmtree(self.state)
        self.start().stop()  # commits a batch 0 that ends at offset 6
        self.broker.produce(self.input, [edge(2, 3), edge(3, 1), edge(1, 2)])
        self.config(**changes, state__directory=str(self.dir / "uncommitted"))
        service = self.start()  # its snapshot belongs to a batch 0 that ends at offset 5
        service.wait_committed({f"{self.input}[0]": 9})
        self.assertEqual((service.status()["graph"]["edges"], len(self.alert_lines())), (3, 1))
        service.stop()
        self.config(**changes, state__directory=str(self.dir / "none"))
        service = self.start()
        self.assertEqual(service.status()["graph"]["edges"], 3)
        self.assertEqual(service.stop(), 0)

    def test_input_lost_before_the_first_batch_is_refused(self):
        self.config()
        self.start().stop()
        shutil.rmtree(self.state)
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3), edge(3, 1)])
        self.delete_records(2)
        self.refuses("offset 0 is needed next, but the topic no longer retains it: its lowest offset is 2")

    def test_batches_that_were_read_otherwise_are_not_made_anew(self):
        self.some_batches().stop()
        other = {"input__topics": [{"name": self.input, "format": "json", "edge_label": "PAYS"}]}
        service = self.some_batches(**other)
        self.assertIn("the input is read differently from now on", service.log())
        service.kill()
        self.some_batches(**other).kill()  # the log has all batches
        shutil.rmtree(self.state)
        self.refuses("this configuration or release would read it differently", code=78)

    def test_a_limit_on_labels_judges_alike_when_batches_are_made_anew(self):
        limit = {"input__max_labels": 2, "input__on_error": "skip"}  # limits edge labels, because vertices have none here
        self.config(**limit)
        service = self.start()
        self.broker.produce(self.input, [edge(1, i, label=label) for i, label in enumerate("ABCBA", start=2)])
        service.wait_committed({f"{self.input}[0]": 5})
        self.assertEqual(service.status()["graph"]["edges"], 4)
        self.assertEqual(service.metric("deltamatch_bad_records_total")['{reason="label_limit"}'], 1)
        service.kill()
        shutil.rmtree(self.state)
        service = self.start()
        self.assertEqual(service.status()["graph"]["edges"], 4)
        service.kill()
        shutil.rmtree(self.state)
        self.config(**{**limit, "input__max_labels": 3})
        self.refuses("must be read again, but this configuration or release would read it differently", code=78)

    def test_a_lost_log_is_made_anew_from_the_input(self):
        self.some_batches().stop()  # makes a snapshot
        self.some_batches().kill()
        for segment in self.state.glob("log-*"):
            segment.unlink()
        service = self.some_batches()
        self.assertIn("read from the input again", service.log())
        self.assertEqual(service.stop(), 0)
        self.check_alerts()

    def test_a_corrupt_snapshot_is_set_aside_and_the_one_before_used(self):
        self.some_batches().stop()
        self.some_batches().stop()
        newest = max(self.state.glob("snapshot-*.dms"))
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        service = self.some_batches()
        self.assertIn(newest.name, service.log())
        self.assertTrue(newest.with_name(newest.name + ".corrupt").exists())
        self.assertEqual(service.stop(), 0)
        self.check_alerts()

    def test_a_log_that_was_cut_or_damaged_is_completed_from_the_input(self):
        self.some_batches().kill()
        log = max(self.state.glob("log-*"))
        content = bytearray(log.read_bytes())
        content[len(content) // 2] ^= 1
        log.write_bytes(content)
        self.some_batches().kill()
        log = max(self.state.glob("log-*"))
        log.write_bytes(log.read_bytes()[:-7])
        self.some_batches().stop()
        self.check_alerts()

    def test_state_of_another_service_is_refused(self):
        self.some_batches().stop()
        self.config(graph__window="1h")
        self.refuses("window was", code=78)
        self.config(application=self.app + "2")
        self.refuses("application", code=78)

    def test_state_without_commit_records_is_refused(self):
        self.some_batches().stop()
        self.broker.delete(self.app + ".commits")
        self.refuses("commit record")

    def test_a_log_without_commit_records_is_refused(self):
        self.some_batches().kill()  # the only snapshot is that of batch 0
        before = self.bytes_of_log()
        self.broker.delete(self.app + ".commits")
        self.refuses("no commit record of any batch")
        self.assertEqual(self.bytes_of_log(), before)

    def bytes_of_log(self):
        return {path.name: path.read_bytes() for path in self.state.glob("log-*")}

    def rings(self, service, numbers):
        """Makes rings, each in a batch of its own."""
        for number in numbers:
            a, b, c = range(10 * number, 10 * number + 3)
            self.broker.produce(self.input, [edge(a, b), edge(b, c), edge(c, a)])
            self.sent += 3
            service.wait_committed({f"{self.input}[0]": self.sent})

    def two_sinks(self, name, **sink):
        return {"sinks": {"alerts": {"type": "kafka", "topic": self.alerts}, name: sink},
                "queries": [{"name": "ring", "pattern": RING, "sinks": ["alerts", name]}]}

    def damage_log(self, share):
        log = max(self.state.glob("log-*"))
        content = bytearray(log.read_bytes())
        content[int(len(content) * share)] ^= 1
        log.write_bytes(content)

    def test_a_damaged_log_costs_a_file_nothing_that_it_has(self):
        file = self.dir / "alerts.jsonl"
        self.config(**self.two_sinks("file", type="file", path=str(file)))
        service = self.start()
        self.rings(service, range(10))
        service.wait(lambda: len(file.read_text().splitlines()) == 10, "ten alerts in the file")
        service.kill()
        self.damage_log(0.5)
        for ring in (10, 11):  # after each start, alerts after the damage are delivered as usual
            service = self.start()
            self.rings(service, [ring])
            service.wait(lambda: len(file.read_text().splitlines()) >= ring + 1, "the next alert in the file")
            service.kill()
        self.assertEqual(sorted(file.read_text().splitlines()), sorted(self.alert_lines()))
        self.check_alerts()

    def test_a_damaged_log_costs_a_webhook_nothing(self):
        receiver = Receiver(random.Random(1))
        self.addCleanup(receiver.close)
        sink = {"type": "webhook", "max_backoff": "100ms"}
        self.config(**self.two_sinks("hook", url="http://127.0.0.1:9/", **sink))
        service = self.start()
        self.rings(service, range(10))
        service.kill()
        self.damage_log(0.5)
        self.config(**self.two_sinks("hook", url=receiver.url, **sink))
        service = self.start()
        self.rings(service, [10])
        service.wait(lambda: service.status()["sinks"]["hook"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        made, = [event for event in service.events() if event["event"] == "alerts that waited in a lost log are made again"]
        self.assertEqual(made["to"], "10")
        self.assert_receives_all(receiver)

    def assert_receives_all(self, receiver):
        """The receiver has each alert, in order. Some may have come twice."""
        got = receiver.alerts()
        self.assertEqual([alert for n, alert in enumerate(got) if alert not in got[:n]],
                         [json.loads(line) for line in self.alert_lines()])
        self.check_alerts()

    def test_alerts_that_a_lost_log_takes_along_are_made_again(self):
        receiver = Receiver(random.Random(1))
        self.addCleanup(receiver.close)
        sink = {"type": "webhook", "max_backoff": "100ms"}
        self.config(**self.two_sinks("hook", url="http://127.0.0.1:9/", **sink))
        service = self.start()
        self.rings(service, [0])
        service.kill()
        for segment in self.state.glob("log-*"):
            segment.unlink()
        self.config(**self.two_sinks("hook", url=receiver.url, **sink))
        service = self.start()
        service.wait(lambda: service.status()["sinks"]["hook"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        self.assert_receives_all(receiver)

    def test_input_that_is_no_longer_retained_is_refused(self):
        self.some_batches().kill()
        shutil.rmtree(self.state)
        self.delete_records(1000)
        self.refuses(f"{self.input}[0]", "1000")
        self.assertFalse(list(self.state.glob("snapshot-*")), "an empty graph was taken for a lost one")

    def delete_records(self, before):
        offsets = self.dir / "offsets.json"
        offsets.write_text('{"partitions":[{"topic":"%s","partition":0,"offset":%d}],"version":1}' % (self.input, before))
        self.broker.tool("org.apache.kafka.tools.DeleteRecordsCommand", "--offset-json-file", offsets)

    def test_one_process_at_a_time(self):
        service = self.some_batches()
        other = self.start(ready=False, log="other.log")
        self.assertEqual(other.ended(), 1)
        self.assertIn(str(service.process.pid), other.log())
        self.assertEqual(service.stop(), 0)

    def test_a_torn_temporary_snapshot_is_removed(self):
        self.some_batches().stop()
        leftover = [path for path in self.state.iterdir()]
        self.assertFalse([path for path in leftover if "tmp" in path.name], leftover)

    def test_queries_changed_while_it_was_down(self):
        self.some_batches().stop()
        path = "(a)-->(b)-->(c)"
        service = self.some_batches(500, queries=[{"name": "path", "pattern": path, "sinks": ["alerts"]}])
        self.assertEqual(service.stop(), 0)
        lines = self.alert_lines()
        marks = self.marks()
        change = next(mark for mark in marks if "path" in mark["queries"])
        before = next(mark for mark in marks if mark["batch"] == change["batch"] - 1)
        self.assertEqual((change["ends"], list(before["queries"])), (before["ends"], ["ring"]))
        expected = [line for line in self.replayed(marks, [f"ring={RING}"]) if json.loads(line)["batch"] < change["batch"]]
        expected += [line for line in self.replayed(marks, [f"path={path}"]) if json.loads(line)["batch"] > change["batch"]]
        self.assertEqual(sorted(lines), sorted(expected))

    def test_the_first_offset_is_pinned_at_the_first_start(self):
        self.broker.produce(self.input, [edge(1, 2)])
        self.config(input__start="latest")
        self.start().kill()
        self.broker.produce(self.input, [edge(2, 3), edge(3, 1), edge(1, 2)])
        service = self.start()
        service.wait_committed({f"{self.input}[0]": 4})
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)


if __name__ == "__main__":
    main()
