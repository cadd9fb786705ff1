"""kill -9 at random moments, brokers that go away, a full disk: nothing is lost and nothing is duplicated.

DELTAMATCH_KILLS is the number of times that the long test kills the service (default 30).
"""

import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

from harness import RING, edge, main, program, random_updates, Receiver, ServiceTest

KILLS = int(os.environ.get("DELTAMATCH_KILLS", "30"))


class Crash(ServiceTest):
    def graph(self):
        """The graph in the newest snapshot, as updates."""
        snapshot = max((self.dir / "state").glob("snapshot-*.dms"))
        return program("snapshot", "export", snapshot).stdout

    def replayed_graph(self, *options):
        stream, cuts = self.cut_input(self.marks())
        saved = self.dir / "replayed.dms"
        program("replay", "--updates", stream, "--cuts", cuts, "--format", "jsonl", "--query", f"ring={RING}",
                "--save-snapshot", saved, *options)
        return program("snapshot", "export", saved).stdout

    def snapshots_under_way(self):
        return list((self.dir / "state").glob("*.tmp-*"))

    def wait_for_snapshot_under_way(self):
        """Waits busily, because a snapshot is due every second and written in a moment."""
        end = time.monotonic() + 10
        while not self.snapshots_under_way() and time.monotonic() < end:
            pass

    def test_killed_at_any_moment(self):
        draw = random.Random(KILLS)
        receiver = Receiver(random.Random(5))
        self.addCleanup(receiver.close)
        file = self.dir / "alerts.jsonl"
        letters = self.dir / "letters.jsonl"
        self.broker.create(self.input, 2)
        self.config(input__on_error="dead-letter", input__dead_letters={"file": str(letters)},
                    graph__window="1h", state__snapshot_log_size="1MiB", state__snapshot_every="1s", batch__max_delay="5ms",
                    sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(file), "rotate_size": "200KiB"},
                           "hook": {"type": "webhook", "url": receiver.url, "max_backoff": "200ms"}},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts", "file", "hook"]}])
        sent = [0, 0]
        done = threading.Event()

        def produce():
            time_now = 0
            while not done.is_set():
                part = draw.randrange(2)
                records = random_updates(draw, draw.randrange(1, 120))
                time_now += 1_000_000
                records = [record[:-1] + b', "time": %d}' % (time_now + number) for number, record in enumerate(records)]
                if draw.random() < 0.3:
                    records.insert(draw.randrange(len(records)), b"{broken %d" % time_now)
                self.broker.produce(self.input, records, partition=part)
                sent[part] += len(records)
                time.sleep(0.1)

        producer = threading.Thread(target=produce)
        producer.start()
        try:
            kills = random.Random(7)
            hits = collections.Counter()
            for number in range(KILLS):
                service = self.start(ready=False)
                if number % 4 != 0:
                    service.wait(lambda: service.get("/readyz")[0] == 200, "readiness", 60)
                if number % 4 == 3:
                    self.wait_for_snapshot_under_way()
                else:
                    time.sleep(kills.random() * 0.7)
                service.kill()
                hits["while a snapshot was written"] += bool(self.snapshots_under_way())
                hits["between the log and the end of the transaction"] += any(event.get("event") == "log_cut" for event in service.events())
        finally:
            done.set()
            producer.join()
        service = self.start()
        hits["between the log and the end of the transaction"] += any(event.get("event") == "log_cut" for event in service.events())
        service.wait_committed({f"{self.input}[{part}]": sent[part] for part in range(2)})
        print(f"{KILLS} kills, of these", dict(hits), file=sys.stderr)
        for moment, count in hits.items():
            self.assertGreater(count, 0, f"no kill came {moment}")
        service.wait(lambda: all(sink["undelivered"] == 0 for sink in service.status()["sinks"].values()), "delivery", 240)
        self.assertEqual(service.stop(), 0)

        options = ("--window", "1h", "--on-error", "skip")
        lines = self.check_alerts(*options)
        self.assertGreater(len(lines), 100)
        files = sorted(self.dir.glob("alerts*.jsonl"), key=lambda path: (len(path.name), path.name))
        self.assertGreater(len(files), 1, "the file was never rotated")
        in_files = [line for path in files for line in path.read_text().splitlines()]
        self.assertEqual(sorted(in_files), sorted(lines))
        self.assertEqual([json.loads(line)["batch"] for line in in_files], sorted(json.loads(line)["batch"] for line in lines))
        self.assertEqual(receiver.alerts(), [json.loads(line) for line in in_files])
        offsets = [(letter["partition"], letter["offset"]) for letter in map(json.loads, letters.read_text().splitlines())]
        broken = [(partition, offset) for partition, offset, _, value, _ in self.broker.consume(self.input) if value.startswith(b"{broken")]
        self.assertEqual(sorted(offsets), broken)
        self.assertEqual(self.graph(), self.replayed_graph(*options))

    def last_batch_in(self, file):
        whole, _, _ = file.read_text().rpartition("\n")  # a kill may tear the last line
        return max((json.loads(line)["batch"] for line in whole.splitlines()), default=0)

    def uncommitted(self):
        """The number of commit records that no transaction made visible."""
        topic = self.app + ".commits"
        return len(self.broker.consume(topic, "read_uncommitted")) - len(self.broker.consume(topic))

    def test_killed_at_chosen_points(self):
        draw = random.Random(19)
        file = self.dir / "alerts.jsonl"
        self.broker.create(self.input)
        self.config(state__snapshot_every="1s", batch__max_delay="5ms",
                    sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(file)}}, **{"kafka__session.timeout.ms": "6000"},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts", "file"]},
                             {"name": "edge", "pattern": "(a)-->(b)", "sinks": ["alerts", "file"]}])
        self.assertEqual(self.start().stop(), 0)
        sent = 0
        hits = collections.Counter()
        for point, count in [("transaction", 1), ("transaction", 4), ("committed", 1), ("committed", 4), ("snapshot", 1), ("snapshot", 2)]:
            uncommitted = self.uncommitted()
            service = self.start_signalled(point, count, signal.SIGKILL)
            while service.alive():
                self.broker.produce(self.input, [edge("new", sent), *random_updates(draw, 40)])
                sent += 41
                time.sleep(0.05)
            self.assertEqual(service.ended(), -signal.SIGKILL, service.log())
            hits["in a transaction"] += self.uncommitted() > uncommitted
            hits["between the commit and the sinks"] += self.marks()[-1]["batch"] > self.last_batch_in(file)
            hits["while a snapshot was written"] += bool(self.snapshots_under_way())
        for moment, count in hits.items():
            self.assertGreaterEqual(count, 2, f"too few kills came {moment}")
        self.assertEqual(len(hits), 3)
        service = self.start()
        service.wait_committed({f"{self.input}[0]": sent})
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        self.assertEqual(self.snapshots_under_way(), [])
        lines = self.check_alerts(queries=[f"ring={RING}", "edge=(a)-->(b)"])
        self.assertEqual(sorted(file.read_text().splitlines()), sorted(lines))
        self.assertEqual(self.graph(), self.replayed_graph())

    def test_a_disk_too_full_for_a_snapshot_stops_nothing(self):
        small = self.small_disk("16m")
        self.broker.create(self.input)
        self.config(state__directory=str(small / "state"), state__snapshot_every="1s")
        service = self.start()
        draw = random.Random(23)
        updates = [edge(*draw.sample(range(1_000_000), 2)) for _ in range(50_000)]
        self.broker.produce(self.input, updates)
        service.wait_committed({f"{self.input}[0]": len(updates)})
        service.wait(lambda: service.status()["snapshot"]["batch"] == service.status()["batch"], "a snapshot")
        snapshot = max((small / "state").glob("snapshot-*.dms")).stat().st_size
        disk = os.statvfs(small)
        left = snapshot // 2
        with open(small / "filler", "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, disk.f_bavail * disk.f_frsize - left)
        ring = [edge("x", "y"), edge("y", "z"), edge("z", "x")]
        self.broker.produce(self.input, ring[:1])
        service.wait(lambda: service.status()["snapshot"]["failures"] > 0, "a snapshot that fails")
        told = next(event for event in service.events() if event["event"] == "snapshot_failed")
        self.assertEqual(told["level"], "error")
        self.assertIn("No space left on device", told["why"])
        self.assertEqual(service.metric("deltamatch_snapshot_failures_total"), {"": 1})
        self.assertEqual(list((small / "state").glob("*.tmp-*")), [])
        self.broker.produce(self.input, ring[1:])
        service.wait_committed({f"{self.input}[0]": len(updates) + 3})
        self.assertEqual(service.get("/readyz")[0], 200)
        (small / "filler").unlink()
        self.assertEqual(service.stop(), 0)  # makes a snapshot
        newest = max((small / "state").glob("snapshot-*.dms")).name
        self.assertEqual(newest, f"snapshot-{self.marks()[-1]['batch']:020}.dms")
        self.check_alerts()

    def test_a_full_disk_stops_it_before_the_commit(self):
        small = self.small_disk("512k")
        self.broker.create(self.input)
        self.config(state__directory=str(small / "state"), state__snapshot_every="1h")
        service = self.start()
        draw = random.Random(11)
        updates = [edge(*draw.sample(range(1_000_000), 2)) for _ in range(200_000)]
        self.broker.produce(self.input, updates)
        self.assertEqual(service.ended(), 1, service.log())
        self.assertIn("No space left on device", service.log())
        committed = self.marks()[-1]["ends"][self.input]["0"]
        self.assertLess(committed, len(updates))
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        service = self.start()
        service.wait_committed({f"{self.input}[0]": len(updates)})
        self.assertEqual(service.stop(), 0)
        self.check_alerts()


class Brokers(ServiceTest):
    own_broker = True

    def test_a_broker_that_stops_and_comes_back(self):
        draw = random.Random(13)
        self.broker.create(self.input)
        self.config()
        service = self.start()
        updates = random_updates(draw, 4000)
        self.broker.produce(self.input, updates[:2000])
        service.wait(lambda: service.status().get("batch", 0) > 1, "the first batches")
        self.broker.stop()
        time.sleep(2)
        self.assertTrue(service.alive(), service.log())
        self.broker.start(keep=True)
        self.broker.produce(self.input, updates[2000:])
        service.wait_committed({f"{self.input}[0]": 4000})
        self.assertEqual(service.stop(), 0)
        self.check_alerts()


if __name__ == "__main__":
    main()
