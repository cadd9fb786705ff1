#!/usr/bin/env python3
"""Load on the service, with the broker on the same machine.

It measures the updates a second from Kafka to a committed batch, and how that time splits. It also measures the time from an
update to its alert, and the memory of a service that falls behind.

usage: service_load.py [--build build/release] [--updates 4000000] [--warm-up 45] [--latency-seconds 60]
  [--call-seconds 10] [--overload SECONDS] [--workers 1 2 4] [--state FOLDER] [--only PART] [--out FILE]

Parts: throughput, latency, file, rest (what REST calls cost the throughput). Two more need an option that says for how long, or
how many: overload and workers. Prints one JSON object for each part; with --out, it also appends them there. Each part
checks what it measured: all updates are committed, every planted ring is reported exactly once, and any number of workers finds
the same.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "service"))

RARE = {  # matches are rare among random edges of a million accounts
    "ring3": "(a)-[:TRANSFER]->(b)-[:TRANSFER]->(c)-[:TRANSFER]->(a)",
    "ring4": "(a)-[:TRANSFER]->(b)-[:TRANSFER]->(c)-[:TRANSFER]->(d)-[:TRANSFER]->(a)",
    "triangle": "(a)-[:TRANSFER]->(b)-[:TRANSFER]->(c), (a)-[:TRANSFER]->(c)",
    "mutual": "(a)-[:TRANSFER]->(b)-[:TRANSFER]->(a)",
    "diamond": "(a)-[:TRANSFER]->(b)-[:TRANSFER]->(d), (a)-[:TRANSFER]->(c)-[:TRANSFER]->(d)",
    "refund": "(a)-[:TRANSFER]->(b)-[:REFUND]->(a)",
    "loan": "(a)-[:LOAN]->(b)-[:TRANSFER]->(c)-[:LOAN]->(a)",
    "mule": "(a)-[:TRANSFER]->(b:Mule)-[:TRANSFER]->(c)",
}


# Members of a group of eight that all have paid each other: matching takes nearly all of the time, and few alerts come of it.
CLIQUE = ", ".join(f"(v{a})-[:TRANSFER]-(v{b})" for a in range(8) for b in range(a + 1, 8))

SLOTS = 16  # of several workers


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores"


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        build = pathlib.Path(arguments.build).resolve()
        os.environ["DELTAMATCH_PROGRAM"] = str(build / "bin" / "deltamatch")
        import harness
        self.harness = harness
        self.load = build / "bin" / "service_load"
        self.slots = arguments.slots
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="deltamatch-load-"))
        self.state = pathlib.Path(tempfile.mkdtemp(prefix="deltamatch-state-", dir=arguments.state))
        self.broker = harness.Broker(self.folder / "broker")

    def close(self):
        self.broker.stop()
        subprocess.run(["rm", "-rf", self.folder, self.state], check=False)

    def tell(self, part, **figures):
        line = json.dumps({"part": part, "machine": machine(), "commit": self.commit(), **figures})
        print(line, flush=True)
        if self.arguments.out:
            with open(self.arguments.out, "a", encoding="utf-8") as out:
                print(line, file=out)

    @staticmethod
    def commit():
        return subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()

    def service(self, name, slots=None, **changes):
        slots = self.slots if slots is None else slots
        config = {
            "application": name, "state": {"directory": str(self.state / name)}, "kafka": {"bootstrap.servers": self.broker.address},
            "input": {"topics": [{"name": f"{name}-in", "format": "json"}]}, "batch": {"max_updates": 32768, "max_delay": "100ms"},
            "sinks": {"alerts": {"type": "kafka", "topic": f"{name}-alerts"}},
            "queries": [{"name": query, "pattern": pattern, "sinks": ["alerts"]} for query, pattern in RARE.items()],
            "http": {"listen": "127.0.0.1:0"}, "log": {"format": "json"},
        }
        if slots:
            config["workers"] = {"slots": slots}
        for key, value in changes.items():
            config[key] = {**config.get(key, {}), **value} if isinstance(value, dict) else value
        file = self.folder / f"{uuid.uuid4().hex[:6]}-{name}.yaml"
        file.write_text(json.dumps(config))
        return self.harness.Instance(file, file.with_suffix(".log"))

    def fill(self, name, count):
        subprocess.run([self.load, "--brokers", self.broker.address, "--topic", f"{name}-in", "fill", "--count", str(count)], check=True)

    @staticmethod
    def steps(service):
        return {label[7:-2]: round(value, 3) for label, value in service.metric("deltamatch_step_seconds_sum").items()}

    def throughput(self):
        """The topic is full before the service starts, so the producer takes no core."""
        name, count = "load" + uuid.uuid4().hex[:6], self.arguments.updates
        self.fill(name, count)
        service = self.service(name)
        service.wait_ready()
        start = time.monotonic()
        before = service.status().get("updates", 0)
        service.wait_committed({f"{name}-in[0]": count}, 600)
        seconds = time.monotonic() - start
        steps, status, processor = self.steps(service), service.status(), self.processor_seconds(service)
        assert service.stop() == 0
        self.tell("throughput", slots=self.slots, updates=count, seconds=round(seconds, 2), processor_seconds=round(processor, 2),
                  updates_per_second=round((count - before) / seconds),
                  batches=status["batch"], transactions=status.get("transactions"), steps=steps)

    def file(self):
        """Without a broker: the same updates in binary records from a file, the same patterns."""
        source = self.folder / "updates.jsonl"
        binary = self.folder / "updates.dmu"
        with open(source, "w", encoding="utf-8") as out:
            import random
            draw = random.Random(1)
            for number in range(self.arguments.updates):
                a, b = draw.sample(range(1_000_000), 2)
                out.write(f'{{"op":"+","source":"acct-{a}","target":"acct-{b}","label":"TRANSFER","time":{1_700_000_000_000_000 + number}}}\n')
        program = os.environ["DELTAMATCH_PROGRAM"]
        subprocess.run([program, "convert", source, binary, "--to", "binary"], stdout=subprocess.DEVNULL, check=True)
        queries = [part for query, pattern in RARE.items() for part in ("--query", f"{query}={pattern}")]
        for name, path in (("json", source), ("binary", binary)):
            report = json.loads(subprocess.run([program, "replay", "--updates", path, *queries, "--batch", "32768", "--json", "--progress", "never"],
                                               capture_output=True, check=True).stdout)
            assert report["updates"] == self.arguments.updates
            self.tell(f"file, {name}", updates=report["updates"], seconds=report["seconds"],
                      updates_per_second=round(report["updates"] / report["seconds"]["total"]))

    def latency(self):
        name = "load" + uuid.uuid4().hex[:6]
        self.broker.create(f"{name}-in")
        self.broker.create(f"{name}-alerts")
        service = self.service(name, batch={"max_updates": 32768, "max_delay": "10ms"},
                               queries=[{"name": "ring3", "pattern": RARE["ring3"], "sinks": ["alerts"]}])
        service.wait_ready()
        done = subprocess.run([self.load, "--brokers", self.broker.address, "--topic", f"{name}-in", "latency", "--alerts", f"{name}-alerts",
                               "--rate", "50000", "--warm-up", str(self.arguments.warm_up), "--seconds",
                               str(self.arguments.warm_up + self.arguments.latency_seconds)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"not every ring was reported once: {done.stdout}{done.stderr}")
        steps = self.steps(service)
        assert service.stop() == 0
        self.tell("latency", slots=self.slots, rate=50_000, max_delay_ms=10, steps=steps, **json.loads(done.stdout))

    def rest(self):
        """What 20 REST calls a second cost: nine of ten read, one checks a definition. Throughput without and with them, in
        turns; and the processor time of the calls, which a busy machine does not change."""
        token = self.folder / "token"
        token.write_text("0123456789-abcdefghij")
        rates, seconds_of_calls, calls = {False: [], True: []}, 0.0, 0
        for turn in range(6):
            name, count, asks = "load" + uuid.uuid4().hex[:6], self.arguments.updates, turn % 2 == 1
            self.fill(name, count)
            service = self.service(name, http={"admin_token": {"file": str(token)}})
            service.wait_ready()
            start = time.monotonic()
            before = service.status().get("updates", 0)
            stop = threading.Event()
            asked = []
            thread = threading.Thread(target=self.ask, args=(service, stop, asked))
            if asks:
                thread.start()
            service.wait_committed({f"{name}-in[0]": count}, 600)
            rates[asks].append(round((count - before) / (time.monotonic() - start)))
            stop.set()
            if asks:
                thread.join()
                assert asked and all(status == 200 for status in asked), set(asked)
                idle = self.processor_seconds(service)
                stop.clear()
                more = []
                thread = threading.Thread(target=self.ask, args=(service, stop, more))
                thread.start()
                time.sleep(self.arguments.call_seconds)
                stop.set()
                thread.join()
                busy = self.processor_seconds(service)
                time.sleep(self.arguments.call_seconds)
                quiet = self.processor_seconds(service) - busy
                seconds_of_calls += busy - idle - quiet
                calls += len(more)
            assert service.stop() == 0
        median = {asks: sorted(values)[1] for asks, values in rates.items()}
        self.tell("rest", without=rates[False], with_calls=rates[True], cost=round(1 - median[True] / median[False], 4),
                  processor_ms_per_call=round(seconds_of_calls / calls * 1000, 3))

    @staticmethod
    def processor_seconds(service):
        with open(f"/proc/{service.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def ask(service, stop, asked):
        """20 calls a second until `stop`. Each is a connection of its own, as with curl."""
        body = json.dumps({"name": "new", "pattern": RARE["ring4"]}).encode()
        paths = ["/v1/queries", "/v1/queries/ring3", "/status", "/v1/queries", "/v1/queries/diamond"] * 2
        due = time.monotonic()
        while not stop.is_set():
            for number, path in enumerate(paths):
                check = number == 9
                request = urllib.request.Request(service.url + ("/v1/queries?validate=true" if check else path), data=body if check else None,
                                                 headers={"Authorization": "Bearer 0123456789-abcdefghij"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    answer.read()
                    asked.append(answer.status)
                due += 0.05
                time.sleep(max(0, due - time.monotonic()))

    def overload(self):
        """Updates come faster than they are matched. The window keeps the graph at two million edges, so only queues could
        grow. The producer pauses while `most_lag` updates wait, because the topic would fill the disk."""
        most_lag = 50_000_000
        name = "load" + uuid.uuid4().hex[:6]
        self.broker.create(f"{name}-in")
        service = self.service(name, graph={"window": "2s"})  # of event time: the load gives each update a microsecond
        service.wait_ready()
        producer = subprocess.Popen([self.load, "--brokers", self.broker.address, "--topic", f"{name}-in", "fill", "--count", str(10**12)])
        rss, end = [], time.monotonic() + self.arguments.overload
        try:
            while time.monotonic() < end:
                time.sleep(min(10, self.arguments.overload / 10))
                with open(f"/proc/{service.process.pid}/statm", encoding="utf-8") as file:
                    pages = int(file.read().split()[1])
                lag = sum(service.metric("deltamatch_consumer_lag").values())
                producer.send_signal(signal.SIGSTOP if lag > most_lag else signal.SIGCONT)
                rss.append({"seconds": round(self.arguments.overload - (end - time.monotonic())), "rss_mib": pages * 4096 >> 20, "lag": int(lag),
                            "edges": service.status().get("graph", {}).get("edges")})
        finally:
            producer.kill()
        assert service.alive()
        service.kill()
        self.tell("overload", seconds=self.arguments.overload, samples=rss)

    def workers(self):
        """The same updates are matched by an owner, and by so many workers. Each has one core of its own, if there are enough."""
        found = {}
        for count in (0, *self.arguments.workers):
            seconds, matches, processor = self.run_on_cores(count)
            found[count] = matches
            self.tell("workers", workers=count, slots=SLOTS if count else 0, updates=self.arguments.clique_updates, seconds=round(seconds, 2),
                      processor_seconds=processor, matches=matches)
        if len(set(found.values())) > 1 or not found[0]:
            sys.exit(f"the number of matches, by workers: {found}")

    def run_on_cores(self, workers):
        """Without workers, one owner runs. Returns seconds, matches, and the processor time of each instance."""
        name, slots = "load" + uuid.uuid4().hex[:6], SLOTS if workers else 0
        self.broker.create(f"{name}-in")
        cores = sorted(os.sched_getaffinity(0))
        instances = []
        for number in range(max(1, workers)):
            os.sched_setaffinity(0, {cores[-1 - number % len(cores)]})  # what is started inherits it
            own = {"workers": {"name": f"w{number}"}} if workers else {}
            instances.append(self.service(name, slots, state={"directory": str(self.state / f"{name}-{number}")}, engine={"threads": 1},
                                          batch={"max_updates": 4096, "max_delay": "100ms"},
                                          queries=[{"name": "clique8", "pattern": CLIQUE, "sinks": ["alerts"]}], **own))
        os.sched_setaffinity(0, cores)
        for instance in instances:
            instance.wait_ready()
        if workers:
            shares = {slots // workers, -(-slots // workers)}
            instances[0].wait(lambda: shares.issuperset(self.slots_of(instances[0], workers)), "an equal share for each")
        start = time.monotonic()
        subprocess.run([self.load, "--brokers", self.broker.address, "--topic", f"{name}-in", "fill", "--count",
                        str(self.arguments.clique_updates), "--vertices", str(self.arguments.clique_vertices)], check=True)
        instances[0].wait_committed({f"{name}-in[0]": self.arguments.clique_updates}, 600)
        if workers:
            instances[0].wait(lambda: (worker := instances[0].status()["worker"])["published"] == worker["cut"], "publication of all cuts", 600)
        seconds = time.monotonic() - start
        matches = sum(sum(instance.metric("deltamatch_matches_total").values()) for instance in instances)
        processor = [round(self.processor_seconds(instance), 2) for instance in instances]
        for instance in instances:
            instance.process.send_signal(signal.SIGTERM)
        assert [instance.ended() for instance in instances] == [0] * len(instances)
        return seconds, int(matches), processor

    @staticmethod
    def slots_of(instance, workers):
        """How many slots each worker has; 0 for those without any."""
        owners = [slot["worker"] for slot in instance.status().get("worker", {}).get("slots", [])]
        counts = [owners.count(owner) for owner in set(owners)]
        return counts + [0] * (workers - len(counts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--updates", type=int, default=4_000_000)
    parser.add_argument("--latency-seconds", type=int, default=60)
    parser.add_argument("--warm-up", type=int, default=45, help="seconds before latency counts: until the broker's code is compiled")
    parser.add_argument("--call-seconds", type=int, default=10, help="how long the processor time of REST calls is measured, after each run with calls")
    parser.add_argument("--overload", type=int, default=0)
    parser.add_argument("--slots", type=int, default=0, help="one worker with so many slots works, instead of an owner")
    parser.add_argument("--workers", type=int, nargs="+", default=[], help="so many workers, each on a core of its own")
    parser.add_argument("--clique-vertices", type=int, default=2_000, help="accounts of the workers' updates")
    parser.add_argument("--clique-updates", type=int, default=400_000, help="the workers' updates")
    parser.add_argument("--state", help="folder for the state directory; /dev/shm shows what the disk's syncs cost")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default="")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    with contextlib.closing(bench):
        parts = ["throughput", "latency", "file", "rest", *(["overload"] if arguments.overload else []),
                 *(["workers"] if arguments.workers else [])]
        for part in parts:
            if arguments.only in ("", part):
                getattr(bench, part)()


if __name__ == "__main__":
    main()
