"""Workers while they are operated: input that is gone, graphs that differ, and what metrics and /readyz say."""

import http.server
import json
import random
import re
import signal
import threading
import time

from harness import edge, main, random_updates
from test_workers import SLOTS, WorkersTest

PATH = "(a)-->(b)-->(c), (b)-->(d)"


class LostInput(WorkersTest):
    """The brokers no longer have the input of the first batches."""

    def setUp(self):
        super().setUp()
        self.kept = {}  # the input's records, because the brokers lose them
        self.store = self.dir / "share"

    def shared(self):
        return [int(path.name.split(".")[2]) for path in self.store.glob(self.app + ".*.dms")]

    def cut_input(self, marks, topics=None):
        consume = self.broker.consume
        self.kept.update({record[1]: record for record in consume(self.input)})
        self.broker.consume = lambda topic, *more: [self.kept[at] for at in sorted(self.kept)] if topic == self.input else consume(topic, *more)
        try:
            return super().cut_input(marks, topics)
        finally:
            self.broker.consume = consume

    def test_a_new_worker_begins_with_a_shared_snapshot(self):
        share = {"state__share": {"path": str(self.store)}, "state__snapshot_every": "1s"}
        self.broker.create(self.input)
        draw = random.Random(15)
        workers = [self.begin(name, **share) for name in "ab"]
        first = workers[0]
        first.wait(lambda: self.owners(first) == {"a": 2, "b": 2}, "two workers with slots")
        self.produce(1000, draw)
        self.wait_published(first)
        first.wait(lambda: self.shared() and self.marks()[max(self.shared())]["ends"][self.input]["0"] == 1000, "a shared snapshot")
        self.kept.update({record[1]: record for record in self.broker.consume(self.input)})
        self.broker.delete_records(self.input, 1000)
        self.produce(300, draw)
        self.wait_published(first)

        without = self.begin("d", ready=False)
        self.assertEqual(without.ended(120), 1, without.log())
        self.assertIn(f"{self.input}[0]", without.log())
        self.assertIn("no longer retain", without.log())

        late = self.begin("c", **share)
        self.assertIn("snapshot_fetched", [event["event"] for event in late.events()])
        first.wait(lambda: "c" in self.owners(first), "slots of the new worker")
        self.produce(300, draw)
        self.wait_published(late)
        for worker in workers:  # so that all alerts from now on come from the graph of the new worker
            worker.kill()
        self.produce(300, draw)
        self.wait_published(late)
        self.assertEqual(self.owners(late), {"c": SLOTS})
        self.stop_all(late)
        self.assertGreater(len(self.check_alerts()), 100)


class Watched(WorkersTest):
    """What /metrics, /status and /readyz say."""

    def slots(self, worker, name):
        return {int(re.search(r'slot="(\d+)"', labels)[1]): value for labels, value in worker.metric(name).items()}

    def own(self, worker, name):
        """The slots of the worker of this name."""
        return {slot["slot"] for slot in worker.status()["worker"]["slots"] if slot["worker"].startswith(name + "-")}

    def check_nothing_waits(self, *workers):
        for worker in workers:
            self.wait_published(worker)
            now = worker.status()["worker"]
            self.assertEqual(now["published"], now["cut"])
            self.assertEqual(self.slots(worker, "deltamatch_slot_published_batch"), dict.fromkeys(range(SLOTS), now["cut"]))
            self.assertEqual(self.slots(worker, "deltamatch_slot_lag_batches"), dict.fromkeys(range(SLOTS), 0))
            self.assertEqual(worker.metric("deltamatch_wrong_digests_total"), {"": 0})
            self.assertEqual(worker.get("/readyz")[0], 200)

    def test_slots_that_are_not_published_are_told(self):
        self.broker.create(self.input)
        draw = random.Random(16)
        full = {"batch__max_delay": "10s"}  # so all batches are full, and several may wait to be published
        first, third = (self.begin(name, **full) for name in "ac")
        first.wait(lambda: self.owners(first) == {"a": 2, "c": 2}, "two workers with slots")
        # It says that it lives, so nobody takes its slots.
        config = self.worker("b", workers__hang_after="never", state__snapshot_every="1s", **full)
        hung = self.start_signalled("snapshot", 1, "hang", config=config, log="b.log")
        first.wait(lambda: self.owners(first).get("b") == 1, "a slot of the third")
        slots, others = self.own(first, "b"), (first, third)

        def they_wait():
            """It hangs once it has nothing to do. Then further batches come."""
            now = first.status()["worker"]
            stalled = all(worker.get("/readyz")[0] == 503 for worker in (*others, hung))
            waiting = min(worker.status()["worker"]["waiting"]["batches"] for worker in others)
            if first.status()["partitions"].get(f"{self.input}[0]", {}).get("committed", 0) == self.sent.get(0, 0):
                self.produce(2000, draw)
            elif stalled and waiting < 2:
                self.produce(2000, draw)
                time.sleep(1)
            return stalled and waiting >= 2 and now["cut"] - now["published"] >= 2

        first.wait(they_wait, "that no slot is published and none is ready", 120)
        since = time.monotonic()
        gates = [worker.metric("deltamatch_gate_seconds_total")[""] for worker in others]
        time.sleep(3)
        first.wait(lambda: self.marks()[-1]["ends"][self.input]["0"] == self.sent[0], "cuts of all input")
        cut = len(self.marks()) - 1
        published = first.status()["worker"]["published"]
        expected = {slot: published + (slot not in slots) for slot in range(SLOTS)}
        for worker in others:
            worker.wait(lambda worker=worker: worker.status()["worker"]["cut"] == cut, "the newest cut")
            self.assertRegex(worker.get("/readyz")[1], rf"no slot was published for \d+ s, although batch {published + 1} is waiting")
            self.assertEqual({slot["slot"]: slot["published"] for slot in worker.status()["worker"]["slots"]}, expected)
            self.assertEqual(self.slots(worker, "deltamatch_slot_published_batch"), expected)
            self.assertEqual(self.slots(worker, "deltamatch_slot_lag_batches"), {slot: cut - at for slot, at in expected.items()})
        waited = time.monotonic() - since
        hung.kill()
        self.check_nothing_waits(*others)
        self.assertEqual(self.own(first, "b"), set())
        # Parts of the second batch have waited for all that time. Who takes the slot over may have matched its own ones again.
        grown = [worker.metric("deltamatch_gate_seconds_total")[""] - gate for worker, gate in zip(others, gates)]
        self.assertGreaterEqual(max(grown), waited)
        for worker in others:
            self.assertAlmostEqual(worker.metric("deltamatch_gate_seconds_total")[""], worker.status()["worker"]["gate_seconds"], delta=1e-6)
        self.stop_all(*others)
        self.check_logs()
        self.assertGreater(len(self.check_alerts()), 20)

    def test_a_paused_worker_shows_in_the_metrics_of_the_others(self):
        self.broker.create(self.input)
        draw = random.Random(17)
        first, second = (self.begin(name) for name in "ab")
        first.wait(lambda: self.owners(first) == {"a": 2, "b": 2}, "two workers with slots")
        leader, other = sorted((first, second), key=lambda worker: not worker.status()["worker"]["leads"])
        self.assertEqual([worker.metric("deltamatch_worker_leads")[""] for worker in (leader, other)], [1, 0])
        self.produce(300, draw)
        self.check_nothing_waits(leader, other)
        slots = self.own(leader, "a" if other is first else "b")
        other.process.send_signal(signal.SIGSTOP)
        self.produce(100, draw)

        def behind():
            return {slot for slot, lag in self.slots(leader, "deltamatch_slot_lag_batches").items() if lag > 0}

        leader.wait(lambda: behind() == slots, "lag of the slots of the paused one")
        other.process.send_signal(signal.SIGCONT)
        self.check_nothing_waits(leader, other)
        self.stop_all(leader, other)
        self.check_logs()
        self.check_alerts()

    def test_a_published_part_of_another_graph_is_counted(self):
        self.broker.create(self.input)
        first, second = (self.begin(name) for name in "ab")
        first.wait(lambda: self.owners(first) == {"a": 2, "b": 2}, "two workers with slots")
        self.produce(300, random.Random(18))
        self.check_nothing_waits(first, second)
        # No worker writes such a record, because it compares before it publishes. So the test does.
        topic = self.app + ".progress"
        key, value = [record[2:4] for record in self.broker.consume(topic) if record[0] == 1][-1]
        told = json.loads(value)
        self.assertEqual(told["batch"], first.status()["worker"]["cut"])
        other = {name: "".join("0" if digit != "0" else "1" for digit in text) if name == "now" else text for name, text in told["digest"].items()}
        self.assertNotEqual(other, told["digest"])
        self.broker.produce(topic, [(key, value.replace(json.dumps(told["digest"]["now"]).encode(), json.dumps(other["now"]).encode()))], partition=1)
        for worker in (first, second):
            worker.wait(lambda worker=worker: worker.metric("deltamatch_wrong_digests_total") == {"": 1}, "the wrong digest")
            self.assertEqual(worker.status()["worker"]["wrong_digests"], 1)
        self.stop_all(first, second)
        self.check_alerts()


class Registry:
    """A schema registry that has one schema. `fields` are its texts, in their order."""

    def __init__(self, *fields):
        schema = {"type": "record", "name": "Update", "fields": [{"name": name, "type": "string"} for name in fields]}
        answer = json.dumps({"schema": json.dumps(schema)}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Differing(WorkersTest):
    """The registry of one worker has another schema under the same id, so this worker turns every edge."""

    def setUp(self):
        super().setUp()
        self.registries = [Registry("op", "source", "target"), Registry("op", "target", "source")]
        for registry in self.registries:
            self.addCleanup(registry.close)

    def begin(self, name, ready=True, wrong=False, **changes):
        return super().begin(name, ready, input={"topics": [{"name": self.input, "format": "avro"}], "on_error": "fail",
                                                 "registry": {"url": self.registries[wrong].url}}, **changes)

    def in_avro(self, count):
        records = []
        for update in map(json.loads, random_updates(self.draw, count)):
            texts = (update["op"], f"v{update['source']}", f"v{update['target']}")
            records.append(b"\0\0\0\0\1" + b"".join(bytes([2 * len(text)]) + text.encode() for text in texts))
        return records

    def cut_input(self, marks, topics=None):
        """The records as JSON."""
        consume = self.broker.consume

        def as_json(record):
            texts, value = [], record[3][5:]
            while value:
                end = 1 + value[0] // 2
                texts.append(value[1:end].decode())
                value = value[end:]
            op, source, target = texts
            return (*record[:3], edge(source, target, op), *record[4:])

        self.broker.consume = lambda topic, *more: [as_json(record) if topic == self.input else record for record in consume(topic, *more)]
        try:
            return super().cut_input(marks, topics)
        finally:
            self.broker.consume = consume

    def test_a_worker_whose_graph_differs_publishes_nothing_of_it(self):
        self.broker.create(self.input)
        self.draw = random.Random(19)
        # Turned, it matches other edges. A ring would stay a ring.
        queries = {"queries": [{"name": "path", "pattern": PATH, "sinks": ["alerts"]}]}
        first = self.begin("a", **queries)
        first.wait(lambda: first.status()["worker"]["leads"], "a leader")
        second = self.begin("b", **queries)
        wrong = self.begin("c", wrong=True, **queries)
        first.wait(lambda: sorted(self.owners(first)) == ["a", "b", "c"], "three workers with slots")
        self.produce(300, self.draw, records=self.in_avro)
        self.assertEqual(wrong.ended(), 1, wrong.log())
        self.check_told(wrong, r"the graph after batch (\d+) has the digest (\w+), and that of the leader (\w+)")
        self.produce(300, self.draw, records=self.in_avro)
        for worker in (first, second):
            self.wait_published(worker)
            self.assertEqual(worker.status()["worker"]["wrong_digests"], 0)  # nothing of it was published
        self.assertEqual(sorted(self.owners(first)), ["a", "b"])

        # Nor does it come back: it takes the batches again, and compares.
        wrong = self.begin("d", ready=False, wrong=True, **queries)
        self.assertEqual(wrong.ended(), 1, wrong.log())
        self.check_told(wrong, r"batch (\d+) leads to another graph, or to other numbers, than when it was committed: "
                               r"the digest is (\w+) now, and its mark says (\w+)")
        self.produce(300, self.draw, records=self.in_avro)
        self.wait_published(first)
        self.stop_all(first, second)
        for worker in (first, second):
            self.assertNotIn("has the digest", worker.log_path.read_text())
        self.assertGreater(len(self.check_alerts(queries=[f"path={PATH}"])), 100)

    def check_told(self, worker, pattern):
        """Its log has its digest and that of the leader, which is in the cut."""
        told = re.search(pattern, worker.log())
        self.assertIsNotNone(told, worker.log())
        batch, own, leaders = told.groups()
        self.assertNotEqual(own, leaders)
        self.assertIn(leaders, json.dumps(self.marks()[int(batch)]["digest"]))


if __name__ == "__main__":
    main()
