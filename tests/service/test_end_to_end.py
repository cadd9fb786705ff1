"""From Kafka to alerts: the service commits exactly what a replay of the same batches finds."""

import gzip
import json
import lzma
import os
import pathlib
import random
import unittest

from harness import RING, ROOT, edge, main, program, random_updates, ServiceTest

DATA = pathlib.Path(os.environ.get("DELTAMATCH_DATA", ROOT.parent / "shared" / "data"))
PATH = "(a)-->(b)-->(c)"


def data_lines(*parts):
    file = DATA.joinpath(*parts)
    if not file.exists():
        raise unittest.SkipTest(f"{file} is missing (DELTAMATCH_DATA)")
    opened = {".xz": lzma.open, ".gz": gzip.open}.get(file.suffix, open)
    with opened(file, "rb") as stream:
        return stream.read().splitlines()


class EndToEnd(ServiceTest):
    def test_alerts_are_those_of_a_replay(self):
        draw = random.Random(1)
        self.broker.create(self.input)
        self.config(queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts"]},
                             {"name": "path", "pattern": PATH, "mode": "homomorphism", "count": "embeddings", "sinks": ["alerts"]},
                             {"name": "counted", "pattern": "(a)-->(b)", "sinks": []}])
        service = self.start()
        updates = random_updates(draw, 6000)
        for start in range(0, len(updates), 1500):
            self.broker.produce(self.input, updates[start:start + 1500])
        service.wait_committed({f"{self.input}[0]": len(updates)})
        self.assertEqual(service.stop(), 0)
        lines = self.alert_lines()
        rings = [line for line in lines if json.loads(line)["query"] == "ring"]
        paths = [line for line in lines if json.loads(line)["query"] == "path"]
        self.check_alerts(lines=rings)
        self.check_alerts("--mode", "homomorphism", "--count", "embeddings", lines=paths, queries=[f"path={PATH}"])
        self.assertGreater(sum(json.loads(line)["sign"] == "-" for line in rings), 100)
        self.assertEqual(len(rings) + len(paths), len(lines))

    def test_several_partitions_and_topics_keep_their_order(self):
        draw = random.Random(2)
        other = self.app + "-other"
        self.broker.create(self.input, 3)
        self.broker.create(other)
        self.config(input__topics=[{"name": f"^{self.app}-(in|other)$", "format": "json"}], batch__max_updates=100)
        service = self.start()
        updates = random_updates(draw, 3000)
        for part in range(3):
            self.broker.produce(self.input, updates[part * 800:(part + 1) * 800], partition=part)
        self.broker.produce(other, updates[2400:])
        service.wait_committed({**{f"{self.input}[{part}]": 800 for part in range(3)}, f"{other}[0]": 600})
        self.assertEqual(service.stop(), 0)
        self.check_alerts(topics=[self.input, other])
        # Another order gives other alerts, but the same final graph.
        self.assertGreater(len(self.marks()), 30)

    def test_new_partitions_and_topics_are_taken_in(self):
        self.broker.create(self.app + "-in-1")
        self.config(input__topics=[{"name": f"^{self.app}-in-.*", "format": "json"}], input__refresh_every="300ms", input__start="latest")
        self.broker.produce(self.app + "-in-1", [edge(9, 9), b"before the start"])
        service = self.start()
        self.broker.produce(self.app + "-in-1", [edge(1, 2), edge(2, 3)])
        service.wait_committed({f"{self.app}-in-1[0]": 4})
        self.broker.create(self.app + "-in-2")
        self.broker.produce(self.app + "-in-2", [edge(3, 1)])
        service.wait_committed({f"{self.app}-in-2[0]": 1})
        self.assertEqual(service.stop(), 0)
        self.assertEqual([json.loads(line)["bindings"] for line in self.check_alerts(topics=[self.app + "-in-1", self.app + "-in-2"])],
                         [{"a": 1, "b": 2, "c": 3}])

    def test_it_goes_on_where_it_stopped(self):
        draw = random.Random(3)
        self.broker.create(self.input)
        self.config()
        updates = random_updates(draw, 2000)
        for start in (0, 1000):
            service = self.start()
            self.broker.produce(self.input, updates[start:start + 1000])
            service.wait_committed({f"{self.input}[0]": start + 1000})
            self.assertEqual(service.stop(), 0)
        self.check_alerts()

    def test_a_window_lets_edges_expire_by_the_watermark_of_all_partitions(self):
        draw = random.Random(4)
        self.broker.create(self.input, 2)
        self.config(graph__window="10s", input__idle_after="500ms")
        service = self.start()
        for part in range(2):
            updates = [edge(*draw.sample(range(12), 2), time=(number * 1_000_000 + draw.randrange(2_000_000)))
                       for number in range(400)]
            self.broker.produce(self.input, updates[:len(updates) // (1 + part)], partition=part)
        service.wait_committed({f"{self.input}[0]": 400, f"{self.input}[1]": 200})
        # Partition 1 ends at half the time. Once it is idle, partition 0 alone decides the watermark, and edges expire without
        # input.
        service.wait(lambda: service.status()["time"] > 395_000_000, "a watermark of the busy partition alone")
        self.assertEqual(service.stop(), 0)
        lines = self.check_alerts("--window", "10s")
        self.assertTrue(any(json.loads(line)["sign"] == "-" for line in lines))

    def test_a_batch_moves_the_watermark_by_no_more_than_max_span(self):
        draw = random.Random(6)
        self.broker.create(self.input)
        self.config(batch={"max_updates": 1000, "max_delay": "1h", "max_span": "1s"})
        service = self.start()
        updates = [edge(*draw.sample(range(6), 2), time=number * 300_000) for number in range(80)]
        self.broker.produce(self.input, updates)
        service.wait(lambda: service.status()["partitions"][f"{self.input}[0]"]["read"] == 80, "reading")
        self.assertEqual(service.stop(), 0)
        marks = self.marks()
        self.assertEqual([mark["ends"][self.input]["0"] for mark in marks], list(range(0, 81, 4)))
        self.assertEqual([mark["time"] for mark in marks[1:]], [(end - 1) * 300_000 for end in range(4, 81, 4)])
        self.assertGreater(len(self.check_alerts()), 0)

    def test_a_start_graph_and_what_it_matches(self):
        graph = self.dir / "graph.csv"
        graph.write_text("source,target\n1,2\n2,3\n3,1\n5,6\n")
        self.broker.create(self.input)
        self.config(graph__start={"files": [{"path": str(graph)}]},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts"], "report_existing": True}])
        service = self.start()
        self.broker.produce(self.input, [edge(2, 3, "-"), edge(6, 7), edge(7, 5)])
        service.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(service.stop(), 0)
        alerts = [json.loads(line) for line in self.alert_lines()]
        self.assertEqual([(alert["sign"], alert["bindings"]["a"], alert["cause"]) for alert in alerts],
                         [("+", 1, []), ("-", 1, [1]), ("+", 5, [1, 2])])
        self.assertEqual(alerts[0]["id"], alerts[1]["id"])

    def test_alerts_carry_when_and_where_in_headers_only(self):
        self.broker.create(self.input)
        self.config()
        service = self.start()
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3), edge(3, 1)])
        service.wait_committed({f"{self.input}[0]": 3})
        self.assertEqual(service.stop(), 0)
        (_, _, key, value, headers), = self.broker.consume(self.alerts)
        self.assertEqual(json.loads(value)["id"].encode(), key)
        self.assertEqual(headers[b"deltamatch.ends"], f"{self.input}[0]=3".encode())
        self.assertGreater(int(headers[b"deltamatch.committed"]), 1_700_000_000_000_000)


class RealStreams(ServiceTest):
    def run_stream(self, records, format, query, options=(), **changes):
        self.broker.create(self.input)
        self.config(**changes)
        service = self.start()
        for start in range(0, len(records), 50_000):
            self.broker.produce(self.input, records[start:start + 50_000])
        service.wait_committed({f"{self.input}[0]": len(records)})
        self.assertEqual(service.stop(), 0)
        lines = self.check_alerts(*options, queries=[query], format=format)
        self.assertGreater(len(lines), 1000)
        return lines

    def test_a_source_tree_with_its_deletions(self):
        records = data_lines("kafka-git-history", "trunk_live_stream_with_deletes.tsv.xz")
        pattern = "(d)-[:5]->(f), (d)-[:5]->(g), (p)-[:6]->(f), (p)-[:6]->(g)"
        lines = self.run_stream(records, "tsv", f"pair={pattern}", input__topics=[{"name": self.input, "format": "tsv", "columns": ["source", "target", "label", "time"]}],
                                batch__max_updates=2000, queries=[{"name": "pair", "pattern": pattern, "sinks": ["alerts"]}])
        self.assertGreater(sum('"sign":"-"' in line for line in lines), 1000)

    def test_questions_answers_and_comments(self):
        rows = []
        for label in ("a2q", "c2q", "c2a"):
            for line in data_lines("sx-mathoverflow", f"sx-mathoverflow-{label}.txt.gz"):
                source, target, time = line.split()
                rows.append((int(time), b"%s\t%s\t%s\t%s" % (source, target, label.encode(), time)))
        rows.sort(key=lambda row: row[0])
        pattern = "(a)-[:a2q]->(b)-[:c2q]->(c)-[:c2a]->(a)"
        self.run_stream([row for _, row in rows], "tsv", f"talk={pattern}", ("--on-error", "skip"),
                        input__topics=[{"name": self.input, "format": "tsv", "columns": ["source", "target", "label", "time"]}], input__on_error="skip", batch__max_updates=5000,
                        queries=[{"name": "talk", "pattern": pattern, "sinks": ["alerts"]}])


if __name__ == "__main__":
    main()
