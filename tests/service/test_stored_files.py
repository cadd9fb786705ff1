"""A service goes on from the state that an older version left, without losing or repeating an alert."""

import json
import pathlib
import shutil

from harness import main, ServiceTest
from make_stored_files import ALERTS, APPLICATION, configuration, INPUT, RING, rings

STORED = pathlib.Path(__file__).resolve().parents[1] / "data"


class StoredFiles(ServiceTest):
    maxDiff = None
    own_broker = True

    def setUp(self):
        super().setUp()
        self.app, self.input, self.alerts = APPLICATION, INPUT, ALERTS

    def restore(self, folder):
        """Puts the state and all that lay in Kafka back. Returns the latter."""
        shutil.copytree(folder / "state", self.dir / "state")
        shutil.copy(folder / "alerts.jsonl", self.dir)
        shutil.copy(folder / "refused.jsonl", self.dir)
        kafka = json.loads((folder / "kafka.json").read_text())
        for topic, records in kafka.items():
            self.broker.create(topic, 2 if topic == INPUT else 1)
            for partition in {record[0] for record in records}:
                self.broker.produce(topic, [(key.encode(), value.encode()) for p, key, value in records if p == partition], partition)
        (self.dir / "service.yaml").write_text(json.dumps(configuration(self.dir, self.broker)))
        return kafka

    def go_on(self, folder):
        kafka = self.restore(folder)
        service = self.start()
        self.assertEqual(service.status()["batch"], json.loads(kafka[f"{APPLICATION}.commits"][-1][2])["batch"])
        edges = sum('"source"' in line for line in (folder / "graph.jsonl").read_text().splitlines())
        self.assertEqual(service.status()["graph"]["edges"], edges)
        for partition in (0, 1):
            self.broker.produce(INPUT, rings(2020 + partition), partition)
        service.wait_committed({f"{INPUT}[{partition}]": 50 for partition in (0, 1)})
        service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
        self.assertEqual(service.stop(), 0)
        self.assertNotIn("snapshot_set_aside", service.log())
        alerts = self.check_alerts("--window", "24h", "--on-error", "skip", queries=[f"ring={RING}"])
        self.assertEqual(sorted((self.dir / "alerts.jsonl").read_text().splitlines()), sorted(alerts))

    def test_version_0(self):
        self.go_on(STORED / "v0" / "service")

    def test_version_1(self):
        self.go_on(STORED / "v1" / "service")

    def test_every_version_has_a_test(self):
        self.assertEqual({folder.name for folder in STORED.glob("v*")}, {"v0", "v1"})


if __name__ == "__main__":
    main()
