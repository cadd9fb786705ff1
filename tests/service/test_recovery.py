"""Whatever is lost of the state, the service comes back to the same graph, or says why it cannot."""

import json
import random
import shutil
import subprocess

from harness import RING, ROOT, edge, main, random_updates, ServiceTest


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
        subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{ROOT}/build/kafka/lib/*", "org.apache.kafka.tools.TopicCommand",
                        "--bootstrap-server", self.broker.address, "--delete", "--topic", self.app + ".commits"],
                       capture_output=True, check=True)
        self.refuses("commit record")

    def test_input_that_is_no_longer_retained_is_refused(self):
        self.some_batches().kill()
        shutil.rmtree(self.state)
        self.delete_records(1000)
        self.refuses(f"{self.input}[0]", "1000")
        self.assertFalse(list(self.state.glob("snapshot-*")), "an empty graph was taken for a lost one")

    def delete_records(self, before):
        offsets = self.dir / "offsets.json"
        offsets.write_text('{"partitions":[{"topic":"%s","partition":0,"offset":%d}],"version":1}' % (self.input, before))
        subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{ROOT}/build/kafka/lib/*", "org.apache.kafka.tools.DeleteRecordsCommand",
                        "--bootstrap-server", self.broker.address, "--offset-json-file", str(offsets)], capture_output=True, check=True)

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
