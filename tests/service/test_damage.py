"""A damaged state directory removes nothing that was delivered. Bits are flipped in it after clean stops."""

import random
import re

from harness import RING, edge, main, ServiceTest

FLIPS = 12


class Damage(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.state = self.dir / "state"
        self.sent = 0
        self.next_ring = 0

    def configure(self):
        self.config(state__snapshot_every="1h",
                    sinks={"alerts": {"type": "kafka", "topic": self.alerts},
                           "file": {"type": "file", "path": str(self.dir / "alerts.jsonl"), "rotate_size": "1KiB"}},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts", "file"]}], **{"kafka__session.timeout.ms": "6000"})

    def rings(self, service, count):
        """Makes rings, each in a batch of its own."""
        for _ in range(count):
            a, b, c = range(10 * self.next_ring, 10 * self.next_ring + 3)
            self.next_ring += 1
            self.broker.produce(self.input, [edge(a, b), edge(b, c), edge(c, a)])
            self.sent += 3
            service.wait_committed({f"{self.input}[0]": self.sent})

    def stop(self, service):
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)

    def files(self):
        return {path.name: path.read_text() for path in self.dir.glob("alerts*.jsonl")}

    def lines_in_files(self):
        number = re.compile(r"alerts(?:-(\d+))?\.jsonl")
        ordered = sorted(self.files().items(), key=lambda item: int(number.fullmatch(item[0])[1] or 0))
        return [line for _, text in ordered for line in text.splitlines()]

    def flip(self, path, byte, bit):
        content = bytearray(path.read_bytes())
        content[byte] ^= 1 << bit
        path.write_bytes(content)

    def test_a_flipped_bit_after_a_clean_stop_takes_no_alert_back(self):
        draw = random.Random(3)
        self.configure()
        service = self.start()
        self.rings(service, 20)
        self.stop(service)
        self.assertGreater(len(self.files()), 2)
        refused = 0
        for number in range(FLIPS):
            newest = max(self.state.glob("snapshot-*.dms"))
            self.assertEqual(newest.name, f"snapshot-{self.marks()[-1]['batch']:020}.dms")
            path = [max(self.state.glob("log-*")), newest, max(self.state.glob("log-*")), self.state / "state.json"][number % 4]
            sound = path.read_bytes()
            byte, bit = draw.randrange(len(sound)), draw.randrange(8)
            before = self.files()
            self.flip(path, byte, bit)
            what = f"byte {byte} of {path.name}, bit {bit}"
            service = self.start(ready=False)
            if path.name == "state.json":
                self.assertIn(service.ended(), (1, 78), what)
                self.assertIn("state.json" if "belongs to another" not in service.log() else str(self.state), service.log(), what)
                self.assertEqual(self.files(), before, what)
                path.write_bytes(sound)
                refused += 1
                continue
            service.wait_ready()
            for name, text in before.items():
                self.assertTrue(self.files()[name].startswith(text), what)
            self.rings(service, 1)
            self.stop(service)
            self.assertEqual(self.lines_in_files(), sorted(self.alert_lines(), key=self.batch_of), what)
        self.assertEqual(refused, FLIPS // 4)
        self.check_alerts()

    @staticmethod
    def batch_of(line):
        return int(re.search(r'"batch":(\d+)', line)[1])

    def test_what_cannot_be_known_is_told(self):
        self.configure()
        service = self.start()
        self.rings(service, 12)
        self.stop(service)
        before = self.files()
        log = max(self.state.glob("log-*"))
        self.flip(log, log.stat().st_size // 2, 3)
        service = self.start()
        told = [event for event in service.events() if event["event"].startswith("the log does not cover all lines of a file")]
        self.assertEqual([event["sink"] for event in told], ["file"])
        lost = [event for event in service.events() if "lost with the log" in event["event"]]
        self.assertTrue(all("replay --cuts" in event["remedy"] and log.name in event["why"] for event in lost), lost)
        self.assertEqual(self.files(), before)
        self.stop(service)
        # Once this is settled, nothing is reported again.
        service = self.start()
        self.assertFalse([event for event in service.events() if "lost with the log" in event["event"]])
        self.stop(service)
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    main()
