"""Edges with keys, times and attributes: alerts of version 2, exactly once, whatever happens to the service."""

import json
import random
import shutil
import threading
import time

from harness import main, program, ServiceTest

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
SCHEMA = {"attributes": {"amount": "decimal(2)", "channel": "symbol"}, "vertex_attributes": {"risk": "int"}, "allowed_lateness": "1s"}
QUERIES = {
    "ring": "(a)-[t1]->(b)-[t2]->(c)-[t3]->(a) WHERE t1.time < t2.time < t3.time WITHIN 4s",
    "falls": "(a)-[t1]->(b)-[t2]->(c) WHERE t1.amount > t2.amount AND t2.channel = 'web' WITHIN 2s",
}


def options(model):
    return ("--edges", model, "--attributes", "amount:decimal(2),channel:symbol", "--vertex-attributes", "risk:int",
            "--allowed-lateness", "1s")


def payment(draw, number, time_now, vertices=25, deletions=0.1):
    """A record with a key. Some correct or delete an earlier one, and some are late."""
    key = f"tx-{number}" if draw.random() < 0.8 else f"tx-{max(0, number - draw.randrange(60))}"
    source, target = draw.sample(range(vertices), 2)
    record = {"op": "-" if draw.random() < deletions else "+", "edge": key, "source": source, "target": target,
              "time": time_now - (draw.randrange(3 * SECOND) if draw.random() < 0.2 else 0),
              "amount": f"{draw.randrange(100)}.{draw.randrange(100):02}", "channel": draw.choice(["web", "atm", None])}
    return json.dumps(record).encode()


class EdgesTest(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.sent = 0
        self.now = START

    def configure(self, model, queries=None, **changes):
        queries = [{"name": name, "pattern": pattern, "sinks": ["alerts"]} for name, pattern in (queries or QUERIES).items()]
        return self.config(**{"graph": {"edges": model, **SCHEMA}, "queries": queries, **changes})

    def send(self, draw, count):
        records = []
        for _ in range(count):
            self.now += draw.randrange(60_000)
            records.append(payment(draw, self.sent + len(records), self.now))
        self.broker.produce(self.input, records)
        self.sent += count

    def check(self, model, queries=None, state="state"):
        """Checks alerts and graph against a replay. With one partition, cuts with and without watermarks say the same."""
        stream, stated = self.cut_input(self.marks())
        counts = self.dir / "counts.cuts"
        counts.write_text("".join(line.split()[0] + "\n" for line in stated.read_text().splitlines()))
        out, saved = self.dir / "replayed-alerts.jsonl", self.dir / "replayed.dms"
        wanted = [part for name, pattern in (queries or QUERIES).items() for part in ("--query", f"{name}={pattern}")]
        lines = self.alert_lines()
        for cuts in (stated, counts):
            program("replay", "--updates", stream, "--cuts", cuts, "--format", "jsonl", *wanted, "--emit", "matches",
                    "--out", out, "--save-snapshot", saved, *options(model))
            self.assertEqual(sorted(lines), sorted(out.read_text().splitlines()), cuts)
        for alert in map(json.loads, lines):
            self.assertEqual(alert["v"], 2)
            self.assertIn("amount", alert["edges"][0]["attributes"])
        newest = max((self.dir / state).glob("snapshot-*.dms"))
        self.assertEqual(program("snapshot", "export", newest).stdout, program("snapshot", "export", saved).stdout)
        return lines


class Edges(EdgesTest):
    def test_killed_at_random_moments(self):
        for model in ("keyed", "events"):
            with self.subTest(model):
                self.setUp()
                self.killed(model)

    def killed(self, model):
        draw = random.Random(model)
        self.configure(model, state__snapshot_every="1s", batch__max_delay="5ms")
        done = threading.Event()

        def produce():
            while not done.is_set():
                self.send(draw, draw.randrange(1, 80))
                time.sleep(0.05)

        producer = threading.Thread(target=produce)
        producer.start()
        try:
            for number in range(6):
                service = self.start(ready=False)
                if number % 2 == 0:
                    service.wait(lambda: service.get("/readyz")[0] == 200, "readiness", 60)
                time.sleep(draw.random())
                service.kill()
        finally:
            done.set()
            producer.join()
        service = self.start()
        service.wait_committed({f"{self.input}[0]": self.sent})
        self.assertEqual(service.stop(), 0)
        lines = self.check(model)
        self.assertGreater(len(lines), 50)
        self.assertEqual({json.loads(line)["query"] for line in lines}, set(QUERIES))

    def test_a_lost_state_directory_is_made_anew(self):
        draw = random.Random(5)
        self.configure("keyed", batch__max_updates=50)
        service = self.start()
        for _ in range(5):
            self.send(draw, 150)
        service.wait_committed({f"{self.input}[0]": self.sent})
        service.kill()
        shutil.rmtree(self.dir / "state")
        service = self.start()
        self.send(draw, 400)
        service.wait_committed({f"{self.input}[0]": self.sent})
        self.assertEqual(service.stop(), 0)
        self.check("keyed")

    def test_a_query_that_is_added_starts_from_the_present_graph(self):
        """Edges that no query needs any more are gone; it finds the others."""
        edge = lambda source, target, second, amount: json.dumps(
            {"source": source, "target": target, "time": START + second * SECOND, "amount": amount}).encode()

        def send(*records):
            self.broker.produce(self.input, records)
            self.sent += len(records)
            service.wait_committed({f"{self.input}[0]": self.sent})

        self.configure("events", {"near": "(a)-->(b)-->(c) WITHIN 1m"})
        service = self.start()
        send(edge(1, 2, 0, "7.00"))
        send(edge(5, 2, 100, "8.00"), edge(8, 9, 100, "9.00"))
        send(edge(8, 9, 101, "9.00"))
        pair = "(a)-[t1]->(b)-->(c) WHERE t1.amount > 5 WITHIN 1h"
        self.configure("events", {"pair": pair})
        self.assertEqual(service.get("/reload", "POST")[0], 200)
        send(edge(2, 3, 102, "1.00"))
        service.kill()
        service = self.start()
        send(edge(2, 4, 2000, "1.00"))  # the graph now keeps edges for an hour
        self.assertEqual(service.stop(), 0)
        found = [(alert["query"], [(e["source"], e["target"], e["attributes"]["amount"]) for e in alert["edges"]])
                 for alert in map(json.loads, self.alert_lines())]
        self.assertEqual(found, [("pair", [(5, 2, "8.00"), (2, 3, "1.00")]), ("pair", [(5, 2, "8.00"), (2, 4, "1.00")])])

    def test_a_match_that_ages_within_its_batch_is_an_alert(self):
        """A file of cuts states one watermark for the batch, and a replay with it finds the same."""
        payments = [(1, 2, 0), (2, 3, 1), (3, 1, 2), (8, 9, 1000), (4, 5, 1001), (5, 6, 1002), (6, 4, 1006)]
        common = {"amount": "1.00", "channel": "atm"}
        records = [json.dumps({"edge": f"tx-{number}", "source": source, "target": target, "time": START + second * SECOND,
                               **common}).encode() for number, (source, target, second) in enumerate(payments)]
        self.broker.produce(self.input, records)
        self.configure("keyed", batch={"max_updates": 1000, "max_delay": "2s"})
        service = self.start()
        service.wait_committed({f"{self.input}[0]": len(records)})
        self.assertEqual(service.stop(), 0)
        self.assertEqual([mark["ends"][self.input] for mark in self.marks()], [{"0": 0}, {"0": len(records)}])
        alert, = map(json.loads, self.check("keyed"))
        self.assertEqual([edge["key"] for edge in alert["edges"]], ["tx-0", "tx-1", "tx-2"])


class Partitions(ServiceTest):
    def test_matches_do_not_depend_on_the_cuts(self):
        """Two partitions, read one after the other with a batch for each record, and in one batch: the same matches are new."""
        self.broker.create(self.input, 2)
        draw = random.Random(3)
        records, number = [[], []], 0
        for part in (0, 1):
            now = START
            for _ in range(150):
                now += draw.randrange(60_000)
                records[part].append(payment(draw, number, now, 15, 0))
                number += 1
        found, batches = [], []
        for size, delay in ((1, "20ms"), (1000, "5s")):
            self.app += "x"
            self.alerts = self.app + "-alerts"
            self.config(graph={"edges": "events", **SCHEMA}, state__directory=str(self.dir / f"state-{size}"),
                        batch={"max_updates": size, "max_delay": delay}, input__idle_after="600s",
                        queries=[{"name": name, "pattern": pattern, "sinks": ["alerts"]} for name, pattern in QUERIES.items()])
            service = self.start()
            for part in (0, 1):
                if size == 1:
                    self.broker.produce(self.input, records[part], partition=part)
                service.wait_committed({f"{self.input}[{part}]": 150})
            self.assertEqual(service.stop(), 0)
            ends = [mark["ends"][self.input] for mark in self.marks()]
            batches.append(sum(before != after for before, after in zip(ends, ends[1:])))
            news = [alert for alert in map(json.loads, self.alert_lines()) if alert["sign"] == "+"]
            found.append(sorted((alert["query"], json.dumps([[e["source"], e["target"], e["time"], e["attributes"]] for e in alert["edges"]]))
                                for alert in news))
        self.assertEqual(batches, [300, 1])
        self.assertGreater(len(found[0]), 20)
        self.assertEqual(found[0], found[1])


if __name__ == "__main__":
    main()
