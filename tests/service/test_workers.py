"""Several workers share an application: whatever happens to them, the alerts are those of a replay, each once.

The long test kills or pauses a worker twice as often as DELTAMATCH_KILLS says (default 30).
"""

import os
import random
import signal
import sys
import threading
import time

from harness import edge, main, random_updates, ServiceTest
from test_edges import options, payment, QUERIES, SCHEMA, START

KILLS = 2 * int(os.environ.get("DELTAMATCH_KILLS", "30"))
SLOTS = 4


class WorkersTest(ServiceTest):
    def setUp(self):
        super().setUp()
        self.sent = {}
        self.producer = None

    def marks(self):
        marks = [record.get("mark", record) for record in self.commit_records()]
        self.assertEqual([mark["batch"] for mark in marks], list(range(len(marks))), "commit records are not contiguous")
        return marks

    def cuts(self):
        return [record for record in self.commit_records() if "workers" in record]

    def worker(self, name, **changes):
        """The configuration of a worker."""
        common = {"workers__slots": SLOTS, "workers__name": name, "state__directory": str(self.dir / name), "batch__max_delay": "5ms"}
        return self.config(name + ".yaml", **{**common, **changes})

    def begin(self, name, ready=True, **changes):
        return self.start(self.worker(name, **changes), ready=ready, log=name + ".log")

    def produce(self, count, draw, partition=0, timed=False, records=None):
        """`records` makes as many records; without it, they are random updates."""
        updates = random_updates(draw, count) if records is None else records(count)
        if timed:  # a second after each other, with some that come late
            start = sum(self.sent.values()) * 1_000_000
            updates = [update[:-1] + b', "time": %d}' % (start + number * 1_000_000 - draw.randrange(5) * 300_000)
                       for number, update in enumerate(updates)]
        self.broker.produce(self.input, updates, partition=partition)
        self.sent[partition] = self.sent.get(partition, 0) + count

    def produce_on(self, draw, partitions=1, **how):
        """Produces until the returned function is called."""
        done = threading.Event()

        def run():
            while not done.is_set():
                self.produce(draw.randrange(1, 60), draw, draw.randrange(partitions), **how)
                time.sleep(0.05)

        thread = threading.Thread(target=run)
        thread.start()

        def end():
            done.set()
            thread.join()

        self.addCleanup(end)
        return end

    def wait_published(self, worker, timeout=120):
        """Waits until all that was produced is published."""
        worker.wait_committed({f"{self.input}[{partition}]": count for partition, count in self.sent.items()}, timeout)
        worker.wait(lambda: worker.status()["worker"]["published"] == worker.status()["worker"]["cut"], "publication of all cuts", timeout)

    def stop_all(self, *workers):
        """Stops them together. What they owe is published, and no further batch comes: a watermark would move by itself."""
        for worker in workers:
            worker.process.send_signal(signal.SIGTERM)
        for worker in workers:
            self.assertEqual(worker.ended(), 0, worker.log())

    def leader_first(self, workers):
        """The workers, sorted, once one of them leads."""
        leading = lambda worker: worker.status().get("worker", {}).get("leads", False)
        workers[0].wait(lambda: any(map(leading, workers)), "a leader")
        return sorted(workers, key=lambda worker: not leading(worker))

    def check_logs(self):
        """No worker has ended because its graph differs from that of the leader."""
        for log in self.dir.glob("*.log"):
            self.assertNotIn("has the digest", log.read_text(errors="replace"), log)

    def owners(self, worker):
        """How many slots each worker has, by the beginning of its name."""
        owners = {}
        for slot in worker.status().get("worker", {}).get("slots", []):
            name = slot["worker"].rsplit("-", 2)[0]
            owners[name] = owners.get(name, 0) + 1
        return owners


class Workers(WorkersTest):
    def test_one_worker_does_what_an_owner_does(self):
        self.broker.create(self.input, 2)
        worker = self.begin("a")
        draw = random.Random(1)
        for part in (0, 1):
            self.produce(1500, draw, part)
        self.wait_published(worker)
        self.assertEqual(self.owners(worker), {"a": SLOTS})
        self.assertEqual(worker.metric("deltamatch_worker_leads"), {"": 1})
        edges = worker.status()["graph"]["edges"]
        self.assertGreater(edges, 100)
        self.assertEqual(worker.metric("deltamatch_graph_edges"), {"": edges})
        self.assertEqual(sum(worker.metric("deltamatch_slot_own").values()), SLOTS)
        self.assertEqual(worker.stop(), 0, worker.log())
        self.assertGreater(len(self.check_alerts()), 100)
        # It goes on where it was, although it has another name now.
        worker = self.begin("a")
        self.produce(500, draw)
        self.wait_published(worker)
        self.assertEqual(worker.stop(), 0, worker.log())
        self.check_alerts()

    def test_workers_share_and_hand_over(self):
        self.broker.create(self.input)
        draw = random.Random(2)
        first = self.begin("a")
        end = self.produce_on(draw)
        second = self.begin("b")
        third = self.begin("c")
        first.wait(lambda: sorted(self.owners(first)) == ["a", "b", "c"], "three workers with slots")
        # One after the other is started anew, as for an upgrade; the leader last.
        self.assertEqual(second.stop(), 0, second.log())
        first.wait(lambda: sorted(self.owners(first)) == ["a", "c"], "two workers with slots")
        second = self.begin("b")
        first.wait(lambda: sorted(self.owners(first)) == ["a", "b", "c"], "three workers again")
        self.assertEqual(third.stop(), 0, third.log())
        third = self.begin("c")
        self.assertEqual(first.stop(), 0, first.log())
        second.wait(lambda: sorted(self.owners(second)) == ["b", "c"], "the others with slots")
        end()
        self.wait_published(second)
        self.stop_all(second, third)
        self.assertGreater(len(self.check_alerts()), 100)
        changes = [change for cut in self.cuts() for change in ("moves", "take_overs") if cut[change]]
        self.assertIn("moves", changes)

    def test_a_killed_worker_is_replaced(self):
        self.broker.create(self.input)
        draw = random.Random(3)
        workers = {name: self.begin(name) for name in "ab"}
        workers["s"] = self.begin("s", workers__spare=True)
        a = workers["a"]
        a.wait(lambda: self.owners(a) == {"a": 2, "b": 2}, "two workers with slots, and a spare without")
        end = self.produce_on(draw)
        time.sleep(1)
        workers["b"].kill()
        a.wait(lambda: self.owners(a).get("s", 0) > 0, "the spare with slots")
        end()
        self.wait_published(a)
        self.stop_all(a, workers["s"])
        self.assertGreater(len(self.check_alerts()), 20)
        self.assertTrue(any(cut["take_overs"] for cut in self.cuts()))

    def test_a_worker_that_hangs_ends_itself(self):
        self.broker.create(self.input)
        draw = random.Random(9)
        first = self.begin("a")
        config = self.worker("b", workers__hang_after="5s", state__snapshot_every="1s")
        hung = self.start_signalled("snapshot", 1, "hang", config=config, log="b.log")
        first.wait(lambda: self.owners(first) == {"a": 2, "b": 2}, "two workers with slots")
        end = self.produce_on(draw)
        self.assertEqual(hung.ended(60), 1, hung.log())
        told = [event for event in hung.events() if event["event"] == "worker_hangs"]
        self.assertEqual([event["doing"] for event in told], ["saving a snapshot"])
        self.assertGreater(int(told[0]["batch"]), 0)
        self.assertIn("raise workers.hang_after", told[0]["remedy"])
        first.wait(lambda: self.owners(first) == {"a": 4}, "the slots of the one that hung")
        end()
        self.wait_published(first)
        self.assertEqual(first.stop(), 0, first.log())
        self.assertGreater(len(self.check_alerts()), 20)
        self.assertTrue(any(cut["take_overs"] for cut in self.cuts()))

    def test_a_worker_that_cannot_lead_any_more_ends(self):
        self.broker.create(self.input)
        first = self.begin("a")
        second = self.start_signalled("ownership", 60, "fatal", config=self.worker("b"), log="b.log")
        self.assertEqual(second.ended(60), 1, second.log())
        self.assertIn("this instance cannot join the group of owners", second.log())
        self.produce(200, random.Random(10))
        self.wait_published(first)
        self.assertEqual(first.stop(), 0, first.log())
        self.check_alerts()

    def test_another_kind_of_instance_is_refused(self):
        self.broker.create(self.input)
        worker = self.begin("a")
        self.produce(100, random.Random(4))
        self.wait_published(worker)
        self.assertEqual(worker.stop(), 0, worker.log())
        alone = self.start(self.config("alone.yaml", state__directory=str(self.dir / "alone")), ready=False, log="alone.log")
        self.assertEqual(alone.ended(), 78)
        self.assertIn(f"set workers.slots to {SLOTS}", alone.log())
        other = self.start(self.worker("b", workers__slots=SLOTS + 1), ready=False, log="b.log")
        self.assertEqual(other.ended(), 1)
        self.assertIn("set workers.slots to its number of partitions", other.log())
        changed = self.begin("c", ready=False, queries=[{"name": "edge", "pattern": "(a)-->(b)", "sinks": ["alerts"]}])
        self.produce(10, random.Random(5))
        self.wait_published(changed)  # the only one, so it leads, and all of the old queries was published
        late = self.begin("a", ready=False)
        self.assertEqual(late.ended(), 78)
        self.assertIn("with other queries than this instance has", late.log())

    def test_an_instance_that_works_alone_cannot_stand_by(self):
        self.broker.create(self.input)
        worker = self.begin("a")
        alone = self.start(self.config(state__directory=str(self.dir / "alone")), ready=False)
        self.assertEqual(alone.ended(), 78, alone.log())
        self.assertIn("set workers.slots to 4", alone.log())
        self.stop_all(worker)

    def test_one_that_stood_by_before_the_workers_came_says_why_it_cannot_take_over(self):
        self.broker.create(self.input)
        short = {"kafka__session.timeout.ms": "6000"}
        alone = lambda name: self.start(self.config(f"{name}.yaml", state__directory=str(self.dir / name), **short), ready=False, log=f"{name}.log")
        owner = alone("first").wait_ready()
        waiting = alone("second")
        waiting.wait(lambda: waiting.status().get("standby", {}).get("could_take_over"), "a standby")
        worker = self.begin("a", ready=False, **short)
        worker.wait(lambda: worker.status().get("worker"), "a worker")
        waiting.process.send_signal(signal.SIGSTOP)  # so the group lets the worker lead
        self.assertEqual(owner.stop(), 0, owner.log())
        worker.wait_ready()
        waiting.process.send_signal(signal.SIGCONT)
        waiting.wait(lambda: "set workers.slots to 4" in waiting.status().get("standby", {}).get("why_not", ""), "the reason")
        self.assertEqual(waiting.get("/readyz?for=takeover")[0], 503)
        self.stop_all(waiting, worker)

    def test_the_leader_tells_what_it_reads(self):
        """The same as a single instance: how far it is, what it refuses, and which topic is not there."""
        self.broker.create(self.input)
        other = self.input + "-2"
        topics = [{"name": name, "format": "json"} for name in (self.input, other)]
        changes = {"input__on_error": "skip", "input__max_refused": 0.1, "input__topics": topics}
        workers = [self.begin(name, ready=False, **changes) for name in "ab"]
        leader, follower = self.leader_first(workers)
        leader.wait(lambda: other in leader.get("/readyz")[1], "word of the topic that is not there")
        self.broker.create(other)
        leader.wait_ready()
        self.broker.produce(self.input, [edge(1, 2)] * 200 + [b"{}"] * 100)
        leader.wait(lambda: "100 of the last 300 records were refused" in leader.get("/readyz")[1], "word of what is refused")
        self.assertEqual(leader.get("/readyz")[0], 503)
        self.assertAlmostEqual(leader.metric("deltamatch_refused_share")[""], 1 / 3, places=3)
        self.assertEqual((leader.status()["refused"]["records"], leader.status()["refused"]["of"]), (100, 300))
        follower.wait_committed({f"{self.input}[0]": 300})
        labels = '{partition="0",topic="%s"}' % self.input
        leader.wait(lambda: leader.metric("deltamatch_consumer_lag").get(labels) == 0, "the lag")
        self.assertEqual(leader.status()["partitions"][f"{self.input}[0]"], {"committed": 300, "read": 300, "end": 300, "lag": 0})
        self.assertEqual(follower.metric("deltamatch_consumer_lag"), {}, "a follower does not read the input for all")
        self.assertEqual(follower.get("/readyz")[0], 200)
        leader.kill()
        follower.wait(lambda: labels in follower.metric("deltamatch_consumer_lag"), "the lag of the next leader")
        self.stop_all(follower)

    def test_what_is_left_of_a_batch_survives_a_take_over(self):
        self.broker.create(self.input)
        draw = random.Random(10)
        first, second = (self.begin(name, graph__window="20m", batch__max_delay="1s") for name in "ab")
        first.wait(lambda: self.owners(first) == {"a": 2, "b": 2}, "two workers with slots")
        leader, other = sorted((first, second), key=lambda worker: not worker.status()["worker"]["leads"])

        def with_edge(at):
            """One edge comes at this place among random updates."""
            return lambda count: [*random_updates(draw, at), edge(98, 99), *random_updates(draw, count - at - 1)]

        self.produce(1170, draw, timed=True, records=with_edge(0))  # a second after each other
        self.wait_published(leader)
        cut = leader.status()["worker"]["cut"]
        other.process.send_signal(signal.SIGSTOP)  # so nothing is published, and what is left of a batch waits
        # The next batch has some 75 seconds. In its midst the edge expires, and then it comes again. So the batch is cut there.
        self.produce(1000, draw, timed=True, records=with_edge(60))
        leader.wait(lambda: leader.status()["worker"]["cut"] > cut, "the first part of the batch")
        other.kill()
        self.wait_published(leader)
        self.stop_all(leader)
        self.check_logs()
        ends = [mark["ends"][self.input]["0"] for mark in self.marks()[cut + 1:]]
        self.assertTrue(1170 < ends[0] <= 1230 and ends[1] == ends[0], ends)  # a part, and the empty batch of the take-over
        self.assertGreater(len(self.check_alerts("--window", "20m")), 100)

    def test_a_bad_record_is_told_after_a_take_over(self):
        self.broker.create(self.input)
        draw = random.Random(11)
        first, second = (self.begin(name) for name in "ab")
        first.wait(lambda: self.owners(first) == {"a": 2, "b": 2}, "two workers with slots")
        leader, other = sorted((first, second), key=lambda worker: not worker.status()["worker"]["leads"])
        self.produce(100, draw)
        self.wait_published(leader)
        other.kill()
        self.broker.produce(self.input, [*random_updates(draw, 50), b"nothing that can be read", *random_updates(draw, 50)])
        self.assertEqual(leader.ended(), 65, leader.log())
        self.assertIn(f"{self.input}[0] at offset 150", leader.log())
        self.assertEqual(self.marks()[-1]["ends"], {self.input: {"0": 150}})

    def test_a_compacted_input_is_refused(self):
        self.broker.create(self.input, cleanup_policy="compact,delete")
        worker = self.begin("a", ready=False)
        self.assertEqual(worker.ended(), 78, worker.log())
        self.assertIn(f'\\"{self.input}\\": its cleanup.policy is compact,delete', worker.log())
        self.assertEqual(self.cuts(), [])  # so an instance without workers still starts
        alone = self.start(self.config("alone.yaml", state__directory=str(self.dir / "a")))
        self.assertEqual(alone.stop(), 0, alone.log())

    def test_a_progress_topic_that_is_cleaned_up_is_refused(self):
        self.broker.create(self.input)
        self.broker.create(self.app + ".progress", SLOTS, cleanup_policy="delete")
        worker = self.begin("a", ready=False)
        self.assertEqual(worker.ended(), 78, worker.log())
        self.assertIn("its cleanup.policy is delete", worker.log())
        self.assertIn("set its cleanup.policy to compact", worker.log())

    def test_what_is_refused_leaves_the_way_back(self):
        self.broker.create(self.input)
        alone = self.start(self.config())
        self.produce(10, random.Random(12))
        alone.wait_committed({f"{self.input}[0]": 10})
        self.assertEqual(alone.stop(), 0, alone.log())
        worker = self.begin("a", ready=False, graph__window="1h")
        self.assertEqual(worker.ended(), 78, worker.log())
        self.assertIn("graph.window", worker.log())
        alone = self.start(self.config())
        self.assertEqual(alone.stop(), 0, alone.log())

    def test_a_topic_made_while_another_takes_the_lead_is_read_from_its_beginning(self):
        self.broker.create(self.input)
        other = self.input + "-2"
        topics = [{"name": name, "format": "json"} for name in (self.input, other)]
        workers = [self.begin(name, ready=False, input__topics=topics, input__start="latest") for name in "ab"]
        first = workers[0]
        first.wait(lambda: self.owners(first) == {"a": 2, "b": 2}, "two workers with slots")
        self.produce(100, random.Random(13))
        self.wait_published(first)
        leader, follower = sorted(workers, key=lambda worker: not worker.status()["worker"]["leads"])
        leader.kill()
        self.broker.create(other)
        self.broker.produce(other, [edge(201, 202), edge(202, 203), edge(203, 201)])
        follower.wait_committed({f"{other}[0]": 3})
        self.wait_published(follower)
        self.stop_all(follower)
        self.assertTrue(any('"201"' in line or ":201" in line for line in self.alert_lines()), self.alert_lines())

    def test_takes_over_from_an_owner(self):
        self.broker.create(self.input)
        draw = random.Random(6)
        alone = self.start(self.config())
        self.produce(300, draw)
        alone.wait_committed({f"{self.input}[0]": 300})
        self.assertEqual(alone.stop(), 0)
        worker = self.begin("a")
        self.produce(300, draw)
        self.wait_published(worker)
        self.assertEqual(worker.stop(), 0, worker.log())
        self.check_alerts()


class Kills(WorkersTest):
    """Three workers and a spare are killed and paused at any moment, one by one and all together."""

    names = "abcs"

    def start_one(self, name):
        more = {"workers__spare": True} if name == "s" else {}
        self.workers[name] = self.begin(name, ready=False, state__snapshot_every="1s", **{"kafka__session.timeout.ms": "6000"},
                                        **self.options, **more)

    def start_those_that_ended(self):
        for name in self.names:
            if not self.workers[name].alive():  # it was fenced while it was paused
                self.workers[name].ended()
                self.start_one(name)

    def disturb(self, draw, events):
        counts = {"kill": 0, "pause": 0, "kill of all": 0}
        for number in range(events):
            # An election takes as long as the session of a dead member, so some events follow closely and some come later.
            time.sleep(draw.random() * draw.choice((1, 10)))
            self.start_those_that_ended()
            kind = draw.random()
            names = self.names if kind > 0.95 and number > 2 else draw.choice(self.names)
            if kind < 0.2:
                counts["pause"] += 1
                process = self.workers[names].process
                process.send_signal(signal.SIGSTOP)
                time.sleep(draw.random() * 12)
                process.send_signal(signal.SIGCONT)
                continue
            counts["kill" if len(names) == 1 else "kill of all"] += 1
            for name in names:
                self.workers[name].kill()
            for name in names:
                self.start_one(name)
        self.start_those_that_ended()
        print(f"{events} events:", counts, file=sys.stderr)

    def run_disturbed(self, options, events, produce_on):
        self.options = options
        self.workers = {}
        for name in self.names:
            self.start_one(name)
        end = produce_on()
        first = self.workers["a"]
        first.wait(lambda: first.status().get("worker", {}).get("published", 0) > 1, "the first batches")
        self.disturb(random.Random(events), events)
        end()
        self.wait_published(self.workers["a"], max(240, 2 * events))  # what was produced meanwhile may be more than was matched
        for worker in self.workers.values():
            self.assertEqual(worker.status()["worker"]["wrong_digests"], 0)
        self.stop_all(*self.workers.values())
        self.assertTrue(any(cut["take_overs"] for cut in self.cuts()))
        self.check_logs()

    def test_rings_under_a_window(self):
        self.broker.create(self.input, 2)
        self.run_disturbed({"graph__window": "20m"}, KILLS, lambda: self.produce_on(random.Random(7), 2, timed=True))
        self.assertGreater(len(self.check_alerts("--window", "20m")), 100)

    def test_payments_with_conditions(self):
        self.broker.create(self.input)
        draw = random.Random(8)
        now = [START]

        def records(count):
            made = []
            for _ in range(count):
                now[0] += draw.randrange(60_000)
                made.append(payment(draw, self.sent.get(0, 0) + len(made), now[0]))
            return made

        queries = [{"name": name, "pattern": pattern, "sinks": ["alerts"]} for name, pattern in QUERIES.items()]
        self.run_disturbed({"graph": {"edges": "keyed", **SCHEMA}, "queries": queries}, KILLS // 2,
                           lambda: self.produce_on(draw, records=records))
        lines = self.check_alerts(*options("keyed"), queries=[f"{name}={pattern}" for name, pattern in QUERIES.items()])
        self.assertGreater(len(lines), 100)


if __name__ == "__main__":
    main()
