"""docs/upgrade.md, "Go back": a restored backup catches up from the input, or the service says why it cannot."""

import random
import shutil

from harness import main, random_updates, RING, ServiceTest


class BackUp(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.draw = random.Random(37)
        self.sent = 0
        self.state, self.backup, self.file = self.dir / "state", self.dir / "backup", self.dir / "alerts.jsonl"

    def configure(self, **changes):
        self.config(**{"sinks__file": {"type": "file", "path": str(self.file)},
                       "queries": [{"name": "ring", "pattern": RING, "sinks": ["alerts", "file"]}], **changes})

    def run_batches(self, count=1500, **changes):
        """Stops after so many more records."""
        self.configure(**changes)
        service = self.start()
        self.broker.produce(self.input, random_updates(self.draw, count))
        self.sent += count
        service.wait_committed({f"{self.input}[0]": self.sent})
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        return service

    def go_back(self):
        """Batches, a backup, more batches, and the backup in place again. The files of the sinks stay."""
        self.run_batches()
        shutil.copytree(self.state, self.backup)
        self.run_batches()
        self.state.rename(self.dir / "newer")
        shutil.copytree(self.backup, self.state)

    def refuses(self, code, *says):
        service = self.start(ready=False)
        self.assertEqual(service.ended(), code, service.log())
        for text in says:
            self.assertIn(text, service.log())

    def test_it_catches_up_from_the_input(self):
        self.go_back()
        service = self.run_batches()
        self.assertIn("read from the input again", service.log())
        self.assertEqual(sorted(self.file.read_text().splitlines()), sorted(self.check_alerts(queries=[f"ring={RING}"])))

    def test_it_needs_the_input_since_then(self):
        self.go_back()
        offsets = self.dir / "offsets.json"
        offsets.write_text('{"partitions":[{"topic":"%s","partition":0,"offset":%d}],"version":1}' % (self.input, self.sent - 100))
        self.broker.tool("org.apache.kafka.tools.DeleteRecordsCommand", "--offset-json-file", offsets)
        self.refuses(1, f"{self.input}[0]", str(self.sent - 100))

    def test_it_needs_records_to_be_read_alike(self):
        self.run_batches()
        shutil.copytree(self.state, self.backup)
        self.run_batches(input__topics=[{"name": self.input, "format": "json", "edge_label": "PAYS"}])
        shutil.rmtree(self.state)
        shutil.copytree(self.backup, self.state)
        self.configure()
        self.refuses(78, "this configuration or release would read it differently")

    def test_another_application_begins_anew(self):
        self.run_batches()
        self.run_batches()
        first = sorted(self.file.read_text().splitlines())
        self.app += "-anew"
        self.state, self.file = self.dir / "state-anew", self.dir / "alerts-anew.jsonl"
        self.configure(state={"directory": str(self.state)})
        service = self.start()
        service.wait_committed({f"{self.input}[0]": self.sent})
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        again = self.file.read_text().splitlines()
        self.check_alerts(lines=again, queries=[f"ring={RING}"])
        self.assertTrue(first and again)


if __name__ == "__main__":
    main()
