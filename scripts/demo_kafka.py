"""Sends generated payments through a Kafka broker to the service, and reads its alerts back. Compares them with what was planted
and with a replay.

usage: demo_kafka.py FOLDER DELTAMATCH HOST:PORT     FOLDER with payments.csv and planted.csv; the broker is empty

Exits with 1 unless the alerts are those of the planted patterns, and equal those of a replay of the same batches, byte for byte.
"""

import json
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import demo_digest

APPLICATION, INPUT, ALERTS = "demo", "payments", "alerts"
PATTERNS = pathlib.Path(__file__).resolve().parents[1] / "config" / "patterns"
ROLES = {"txn_id": "edge", "channel": "-"}  # of columns that are not called so


def kcat(broker, *arguments, **more):
    return subprocess.run(["kcat", "-q", "-b", broker, *arguments], check=True, **more)


def read_topic(broker, topic):
    """The values of its committed records, in order. It has one partition."""
    return kcat(broker, "-C", "-e", "-t", topic, "-o", "beginning", "-X", "isolation.level=read_committed", capture_output=True,
                text=True).stdout.splitlines()


def status(address):
    try:
        with urllib.request.urlopen(f"http://{address}/status", timeout=5) as answer:
            return json.load(answer)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return {}


def committed(state):
    return state.get("partitions", {}).get(f"{INPUT}[0]", {}).get("committed", 0)


def configure(folder, broker, columns):
    config = {
        "application": APPLICATION,
        "state": {"directory": str(folder / "state")},
        "kafka": {"bootstrap.servers": broker},
        "input": {"topics": [{"name": INPUT, "format": "csv", "columns": columns, "time_unit": "s"}]},
        "graph": {"edges": "keyed", "attributes": {"amount": "decimal(2)"}},
        "batch": {"max_updates": 8192, "max_delay": "50ms"},
        "sinks": {ALERTS: {"type": "kafka", "topic": ALERTS}},
        "queries": [{"directory": str(PATTERNS), "sinks": [ALERTS]}],
        "http": {"listen": "127.0.0.1:0"},
        "log": {"format": "json"},
    }
    file = folder / "service.yaml"
    file.write_text(json.dumps(config, indent=2))  # JSON is YAML
    return file


def wait_for(service, log, condition, what):
    """The HTTP address, once the condition holds for the service."""
    address = None
    while True:
        if service.poll() is not None:
            sys.exit(f"the service ended before {what}:\n" + log.read_text()[-2000:])
        if address is None:
            for line in log.read_text().splitlines():
                event = json.loads(line)
                if event["event"] == "listening":
                    address = event["address"]
        if address and condition(status(address)):
            return address
        time.sleep(0.1)


def run_service(deltamatch, folder, config, broker, lines):
    log = folder / "service.log"
    with open(log, "wb") as out:
        service = subprocess.Popen([deltamatch, "run", "--config", config], stderr=out, stdout=out)
    try:
        wait_for(service, log, lambda state: state.get("state") == "running", "it could read")
        start = time.monotonic()
        kcat(broker, "-P", "-t", INPUT, "-p", "0", input=b"".join(lines))
        wait_for(service, log, lambda state: committed(state) >= len(lines), "all was committed")
        seconds = time.monotonic() - start
        service.send_signal(signal.SIGTERM)
        if service.wait(60) != 0:
            sys.exit("the service did not stop as it should:\n" + log.read_text()[-2000:])
        return seconds
    finally:
        service.kill()


def replay(deltamatch, folder, columns, marks):
    """The alerts that a replay finds if the stream is cut as the commit records say."""
    cuts = folder / "cuts"
    with open(cuts, "w", encoding="utf-8") as out:
        for before, mark in zip(marks, marks[1:]):
            records = mark["ends"][INPUT]["0"] - before["ends"][INPUT]["0"]
            print(records, "-" if mark["time"] is None else mark["time"], file=out)
    alerts = folder / "replayed.jsonl"
    subprocess.run([deltamatch, "replay", "--updates", folder / "records.csv", "--format", "csv", "--columns", ",".join(columns),
                    "--edges", "keyed", "--attributes", "amount:decimal(2)", "--cuts", cuts, "--query", PATTERNS, "--emit", "matches",
                    "--out", alerts], check=True, capture_output=True)
    return alerts.read_text(encoding="utf-8").splitlines()


def main(folder, deltamatch, broker):
    header, *lines = (folder / "payments.csv").read_bytes().splitlines(keepends=True)
    columns = [ROLES.get(name, name) for name in header.decode().strip().split(",")]
    (folder / "records.csv").write_bytes(b"".join(lines))
    config = configure(folder, broker, columns)
    kcat(broker, "-L", "-t", INPUT, capture_output=True)  # asking for the topic creates it
    seconds = run_service(deltamatch, folder, config, broker, lines)
    marks = [json.loads(value) for value in read_topic(broker, f"{APPLICATION}.commits")]
    alerts = read_topic(broker, ALERTS)
    print(f"\n{len(lines):,} payments through Kafka in {len(marks) - 1:,} batches, {len(lines) / seconds:,.0f} a second from producer to commit\n")
    right = demo_digest.show(demo_digest.read_truth(folder / "planted.csv"), [json.loads(line) for line in alerts])
    expected = replay(deltamatch, folder, columns, marks)
    equal = sorted(alerts) == sorted(expected)
    print(f"alerts read back {'=' if equal else '≠'} alerts of a replay: {len(alerts):,} and {len(expected):,}")
    return 0 if equal and right else 1


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]))
