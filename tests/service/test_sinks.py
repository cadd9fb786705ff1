"""Sinks outside Kafka: unusable files, files of others, and their effect on the rest of the service."""

import json
import pathlib
import shutil

from harness import edge, main, RING, ServiceTest


class Files(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.out = self.dir / "out"
        self.file = self.out / "alerts.jsonl"
        self.sent = 0

    def configure(self, **file):
        self.config(sinks={"alerts": {"type": "kafka", "topic": self.alerts},
                           "file": {"type": "file", "path": str(self.file), "max_backoff": "200ms", **file}},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts", "file"]}])

    def ring(self, service):
        a = self.sent * 10
        self.broker.produce(self.input, [edge(a + 1, a + 2), edge(a + 2, a + 3), edge(a + 3, a + 1)])
        self.sent += 3
        service.wait_committed({f"{self.input}[0]": self.sent})

    def rings_in(self, file):
        return [line for line in pathlib.Path(file).read_text().splitlines() if line] if file.exists() else []

    def holds(self, service, count):
        service.wait(lambda: len(self.rings_in(self.file)) == count, f"{count} alerts in the file", 20)

    def test_a_folder_that_is_not_there_stops_nothing_else(self):
        self.configure()
        service = self.start()
        self.ring(service)
        self.assertEqual(len(self.alert_lines()), 1)
        service.wait(lambda: "sink not recovered" in service.log(), "a word about it")
        self.assertIn(str(self.out), service.status()["sinks"]["file"]["last_error"])
        self.out.mkdir()
        self.holds(service, 1)
        self.ring(service)
        self.holds(service, 2)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(self.rings_in(self.file), self.alert_lines())

    def test_a_file_that_is_gone_stops_nothing_else(self):
        self.out.mkdir()
        self.configure()
        service = self.start()
        self.ring(service)
        self.holds(service, 1)
        self.assertEqual(service.stop(), 0)
        shutil.move(self.out, self.dir / "aside")
        service = self.start()
        self.ring(service)
        service.wait(lambda: "is gone" in service.status()["sinks"]["file"]["last_error"], "a word about it", 10)
        shutil.move(self.dir / "aside", self.out)
        self.holds(service, 2)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(self.rings_in(self.file), self.alert_lines())

    def test_a_path_that_was_changed_is_told_again_and_again(self):
        self.out.mkdir()
        self.configure()
        service = self.start()
        self.ring(service)
        self.holds(service, 1)
        self.assertEqual(service.stop(), 0)
        self.file = self.out / "elsewhere.jsonl"
        self.file.write_text("mine " * 1000 + "\n")
        self.configure()
        service = self.start()
        self.ring(service)

        def told():
            return [event for event in service.events() if event["event"] == "sink not recovered"]
        service.wait(lambda: any("left_out" in event for event in told()), "a word about the tries left out", 40)
        for event in told():
            self.assertEqual(event["sink"], "file")
            self.assertIn("elsewhere.jsonl: is not the file that sink 'file' wrote", event["error"])
            self.assertIn("give the sink another name", event["error"])
        self.assertEqual(told()[-1]["level"], "error")
        self.assertEqual(len(self.alert_lines()), 2)
        self.file = self.out / "alerts.jsonl"
        self.assertEqual(service.stop(), 0)
        self.assertEqual((self.out / "elsewhere.jsonl").read_text(), "mine " * 1000 + "\n")
        self.configure()
        service = self.start()
        self.holds(service, 2)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(self.rings_in(self.file), self.alert_lines())

    def test_files_of_others_stay_as_they_are(self):
        self.out.mkdir()
        dated = self.out / "alerts-20261122.jsonl"
        dated.write_text("mine\n")
        self.file.write_text('{"v":1,"id":"torn')
        self.configure(rotate_size="1KiB")
        service = self.start()
        for _ in range(7):
            self.ring(service)
        service.wait(lambda: (self.out / "alerts-000001.jsonl").exists(), "a second file", 20)
        self.assertEqual(service.stop(), 0)
        service = self.start()
        self.ring(service)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(dated.read_text(), "mine\n")
        torn, *first = self.file.read_text().splitlines()
        self.assertEqual(torn, '{"v":1,"id":"torn')
        self.assertEqual(first + self.rings_in(self.out / "alerts-000001.jsonl"), self.alert_lines())
        self.assertEqual(len({json.loads(line)["id"] for line in self.alert_lines()}), 8)


if __name__ == "__main__":
    main()
