"""Writes the stored files of one version of deltamatch into a folder, which must not exist.

usage: DELTAMATCH_PROGRAM=build/release/bin/deltamatch tests/service/make_stored_files.py tests/data/vN

Run it with the version that wrote a format last, before the format changes. tests/data/README.md says what the files are, and
which tests read them. It starts a broker of its own with scripts/kafka.
"""

import json
import pathlib
import shutil
import sys
import tempfile

from harness import Broker, edge, Instance, program

APPLICATION = "stored"
INPUT, ALERTS = f"{APPLICATION}-in", f"{APPLICATION}-alerts"
RING = "(a:Account)-[:PAYS]->(b)-[:PAYS]->(c)-->(a)"
MINUTE = 60_000_000
START = 1_700_000_000_000_000


def configuration(folder, broker):
    """What the service of the stored state was told. Its files lie in `folder`."""
    return {
        "application": APPLICATION,
        "state": {"directory": str(folder / "state")},
        "graph": {"window": "24h"},
        "kafka": {"bootstrap.servers": broker.address, "session.timeout.ms": "6000"},
        "input": {"topics": [{"name": INPUT, "format": "json"}], "on_error": "dead-letter",
                  "dead_letters": {"file": str(folder / "refused.jsonl")}},
        "batch": {"max_updates": 500, "max_delay": "20ms"},
        "sinks": {"alerts": {"type": "kafka", "topic": ALERTS},
                  "file": {"type": "file", "path": str(folder / "alerts.jsonl")},
                  "hook": {"type": "webhook", "url": "http://127.0.0.1:9/", "max_tries": 1, "max_backoff": "20ms"}},
        "queries": [{"name": "ring", "pattern": RING, "sinks": ["alerts", "file", "hook"]}],
        "http": {"listen": "127.0.0.1:0"},
        "log": {"format": "json"},
    }


def payment(source, target, minute, **more):
    return edge(source, target, label=more.pop("label", "PAYS"), time=START + minute * MINUTE, **more)


def account(name):
    return {"source_label": "Account"} if isinstance(name, str) else {}


def rings(minute):
    """Records that make a ring, delete an edge, declare and delete a vertex, and leave the window. One is refused."""
    name = f"acct-{minute}"
    return [payment(name, 7, minute, **account(name)), payment(7, -minute, minute + 1),
            payment(-minute, name, minute + 2, label="REFUNDS", target_label="Account"),
            payment("zoë", 2**62, minute, label="", target_label="Shop"), payment(7, 11, minute), payment(7, 11, minute, op="-"),
            json.dumps({"op": "+", "vertex": f"declared {minute}", "label": "Shop"}).encode(),
            json.dumps({"op": "+", "vertex": 99}).encode(), json.dumps({"op": "-", "vertex": 99}).encode(),
            payment("", 7, minute)]


def write_files(folder):
    """A stream, a snapshot, a graph file, and what is found in them."""
    updates = [record for minute in (0, 10, 2000, 2010) for record in rings(minute)[:-1]]
    source = folder / "updates.jsonl"
    source.write_bytes(b"".join(record + b"\n" for record in updates))
    program("convert", source, folder / "stream.dmu", "--to", "binary")
    program("convert", source, folder / "graph.dmg", "--to", "graph", "--times")
    for name, window in (("graph", "36500d"), ("snapshot", "24h")):
        program("replay", "--updates", folder / "stream.dmu", "--window", window, "--query", f"ring={RING}", "--batch", 5,
                "--save-snapshot", folder / f"{name}.dms", "--emit", "matches", "--out", folder / "matches.jsonl")
        program("snapshot", "export", folder / f"{name}.dms", "--out", folder / f"{name}.jsonl")
    (folder / "graph.dms").unlink()
    write_keyed(folder)


def write_keyed(folder):
    """A snapshot of edges with keys and attributes, and its graph."""
    payments = [{"edge": f"p{n}", "source": f"acct-{n % 3}", "target": n % 4, "label": "PAYS", "source_label": "Account",
                 "time": START + n * MINUTE, "amount": f"{n}.25", "channel": ("web", "app", None)[n % 3]} for n in range(12)]
    records = [*payments, {"op": "-", "edge": "p5"}, {"op": "-", "edge": "p9"}]
    source = folder / "keyed-updates.jsonl"
    source.write_text("".join(json.dumps({name: value for name, value in record.items() if value is not None}) + "\n" for record in records))
    program("replay", "--updates", source, "--edges", "keyed", "--attributes", "amount:decimal(2),channel:symbol", "--window", "24h",
            "--query", "ring=(a)-[t:PAYS]->(b)-[u:PAYS]->(a) WHERE t.time < u.time", "--batch", 5, "--save-snapshot", folder / "keyed.dms")
    program("snapshot", "export", folder / "keyed.dms", "--out", folder / "keyed.jsonl")


class Service:
    def __init__(self, folder, broker):
        self.folder, self.broker = folder, broker
        self.sent = [0, 0]
        self.config = folder / "service.json"
        self.config.write_text(json.dumps(configuration(folder, broker)))

    def run(self, minutes, kill):
        """Reads the rings of these minutes. Then it stops with a snapshot, or is killed."""
        service = Instance(self.config, self.folder / "service.log").wait_ready()
        for minute in minutes:
            for partition in (0, 1):
                records = rings(minute + partition)
                self.broker.produce(INPUT, records, partition)
                self.sent[partition] += len(records)
            service.wait_committed({f"{INPUT}[{p}]": self.sent[p] for p in (0, 1)})
            service.wait(lambda: all(sink["undelivered"] == 0 for sink in service.status()["sinks"].values()), "delivery")
        if kill:
            service.kill()
        elif service.stop() != 0:
            raise AssertionError(service.log())


def write_service(folder):
    """The files of a service that was killed behind a snapshot, and all that lay in Kafka."""
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        broker = Broker(work / "broker")
        try:
            broker.create(INPUT, 2)
            service = Service(work, broker)
            service.run([10, 20], kill=False)
            service.run([30, 2000], kill=True)
            shutil.copytree(work / "state", folder / "state", ignore=shutil.ignore_patterns("lock"))
            for file in ("alerts.jsonl", "refused.jsonl"):
                shutil.copy(work / file, folder)
            kafka = {topic: [[partition, key.decode(), value.decode()] for partition, _, key, value, _ in broker.consume(topic)]
                     for topic in (INPUT, ALERTS, APPLICATION + ".commits")}
            (folder / "kafka.json").write_text(json.dumps(kafka, indent=0, ensure_ascii=False) + "\n")
            service.run([], kill=False)
            program("snapshot", "export", max((work / "state").glob("snapshot-*.dms")), "--out", folder / "graph.jsonl")
        finally:
            broker.stop()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    (folder / "service").mkdir(parents=True)
    write_files(folder)
    write_service(folder / "service")


if __name__ == "__main__":
    main()
