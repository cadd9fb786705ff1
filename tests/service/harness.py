"""Runs the service against a real broker, and compares its results with a replay of the same input.

DELTAMATCH_PROGRAM is the built program. DELTAMATCH_SIGNAL_AT_LIBRARY is the library built from signal_at.cpp. The broker is
at DELTAMATCH_KAFKA (host:port), or at the address in the file DELTAMATCH_KAFKA_FILE. Tests that stop brokers, or find none
there, start their own with scripts/kafka. kcat writes and reads the records, so the tests use another client than the
service.
"""

import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("DELTAMATCH_PROGRAM", "")
RING = "(a)-->(b)-->(c)-->(a)"


def program(*arguments, check=True, **more):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, check=False, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{arguments}\nexit {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done


class Broker:
    """A broker, shared or only for one test."""

    def __init__(self, directory=None, secure_port=None, port=None, **settings):
        """`settings` are broker settings, with _ for the dots in their names. With a secure_port, the broker also listens there
        with SASL_SSL. Without a port, it takes a free one.
        """
        self.directory = directory
        self.settings = [] if port is None else ["--port", str(port)]
        self.settings += [part for key, value in settings.items() for part in ("--set", f"{key.replace('_', '.')}={value}")]
        if secure_port is not None:
            self.settings += ["--secure-port", str(secure_port)]
            self.secure_address = f"127.0.0.1:{secure_port}"
        self.address = os.environ.get("DELTAMATCH_KAFKA", "")
        noted = os.environ.get("DELTAMATCH_KAFKA_FILE", "")  # ctest's own broker writes its address there
        if not self.address and noted and os.path.exists(noted):
            self.address = pathlib.Path(noted).read_text().strip()
        if directory is not None or not self.address:
            self.start()

    def signal(self, number):
        """Only for a broker of the test's own: SIGSTOP makes it hang, SIGCONT makes it continue."""
        os.kill(int((pathlib.Path(self.directory) / "pid").read_text()), number)

    def delete(self, topic):
        self.tool("org.apache.kafka.tools.TopicCommand", "--delete", "--topic", topic)

    def delete_records(self, topic, before, partition=0):
        """Deletes the records before an offset, as retention does."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as wanted:
            json.dump({"version": 1, "partitions": [{"topic": topic, "partition": partition, "offset": before}]}, wanted)
            wanted.flush()
            self.tool("org.apache.kafka.tools.DeleteRecordsCommand", "--offset-json-file", wanted.name)

    def tool(self, name, *arguments):
        done = subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", f"{ROOT}/build/kafka/lib/*",
                               name, "--bootstrap-server", self.address, *map(str, arguments)], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{name} {arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")

    def script(self, *arguments):
        where = ["--dir", str(self.directory)] if self.directory else []
        return subprocess.run([ROOT / "scripts" / "kafka", *arguments, *where], capture_output=True, text=True, check=True).stdout

    def start(self, keep=False):
        self.address = self.script("start", *(["--keep"] if keep else []), *self.settings).split()[-1]

    def stop(self):
        self.script("stop")

    def create(self, topic, partitions=1, **settings):
        """Creates a topic with the broker's own tool."""
        options = [part for key, value in settings.items() for part in ("--config", f"{key.replace('_', '.')}={value}")]
        self.tool("org.apache.kafka.tools.TopicCommand", "--create", "--topic", topic, "--partitions", partitions, *options)

    def produce(self, topic, records, partition=None):
        """Writes records in order, each once. They are bytes, or (key, bytes) with None for a null. Without idempotence a request that
        is tried again could change their order."""
        if not records:
            return
        lines = []
        for record in records:
            key, value = record if isinstance(record, tuple) else (b"", record)
            lines.append((key or b"") + b"\x1e" + (b"" if value is None else value) + b"\x1d")
        nulls = any(isinstance(record, tuple) and record[1] is None for record in records)
        command = ["kcat", "-P", "-q", "-b", self.address, "-t", topic, "-K", "\x1e", "-D", "\x1d",
                   "-X", "topic.partitioner=murmur2_random", "-X", "linger.ms=5", "-X", "enable.idempotence=true",
                   "-X", "message.max.bytes=2000000", *(["-Z"] if nulls else [])]
        if partition is not None:
            command += ["-p", str(partition)]
        done = subprocess.run(command, input=b"".join(lines), capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())

    def consume(self, topic, isolation="read_committed"):
        """All committed records as (partition, offset, key, value, headers), by partition and offset. A missing topic has none."""
        done = subprocess.run(["kcat", "-C", "-q", "-e", "-b", self.address, "-t", topic, "-o", "beginning",
                               "-X", f"isolation.level={isolation}", "-X", "allow.auto.create.topics=false",
                               "-f", "%p\x1f%o\x1f%k\x1f%S\x1f%h\x1f%s\x1d"], capture_output=True, check=False)
        if done.returncode != 0:
            if b"Unknown topic" in done.stderr:
                return []
            raise AssertionError(done.stderr.decode(errors="replace"))
        records = []
        for record in done.stdout.split(b"\x1d")[:-1]:
            partition, offset, key, size, headers, value = record.split(b"\x1f", 5)
            split = dict(item.split(b"=", 1) for item in headers.split(b",") if b"=" in item)
            records.append((int(partition), int(offset), key, None if size == b"-1" else value, split))
        return sorted(records, key=lambda record: record[:2])


_shared = None


def shared_broker():
    global _shared
    if _shared is None:
        _shared = Broker()
    return _shared


class Instance:
    """A process that runs the service."""

    def __init__(self, config, log, environment=None, wrapper=(), arguments=()):
        self.log_path = log
        self.log_file = open(log, "ab")
        self.log_start = self.log_file.tell()  # the instances of a test share a file
        self.process = subprocess.Popen([*wrapper, PROGRAM, "run", "--config", str(config), *arguments], stdout=self.log_file, stderr=self.log_file,
                                        env={**os.environ, **(environment or {})})
        self.url = None

    def log(self):
        return self.log_path.read_bytes()[self.log_start:].decode(errors="replace")

    def events(self):
        """The events of its journal (the configuration selects JSON)."""
        for line in self.log().splitlines():
            with contextlib.suppress(ValueError):
                yield json.loads(line)

    def get(self, path, method="GET", timeout=10):
        """The answer as (status, body)."""
        if self.url is None:
            addresses = [event["address"] for event in self.events() if event.get("event") == "listening"]
            if not addresses:
                return 0, ""
            self.url = "http://" + addresses[-1]
        request = urllib.request.Request(self.url + path, method=method, data=b"" if method == "POST" else None)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return 0, ""

    def status(self):
        code, body = self.get("/status")
        return json.loads(body) if code == 200 else {}

    def metric(self, name):
        """The values by label text, e.g. {'{query="ring",sign="+"}': 3.0}."""
        found = {}
        for line in self.get("/metrics")[1].splitlines():
            match = re.fullmatch(re.escape(name) + r"(\{.*\})? (\S+)", line)
            if match:
                found[match[1] or ""] = float(match[2])
        return found

    def alive(self):
        return self.process.poll() is None

    def wait(self, condition, what, timeout=60):
        """Waits until condition() is true. Fails if the process ends first, or after the timeout."""
        end = time.monotonic() + timeout
        while not condition():
            if not self.alive():
                raise AssertionError(f"the service ended with {self.process.returncode} before {what}:\n{self.log()[-4000:]}")
            if time.monotonic() > end:
                raise AssertionError(f"no {what} within {timeout} s:\n{self.log()[-4000:]}")
            time.sleep(0.02)

    def wait_ready(self, timeout=60):
        self.wait(lambda: self.get("/readyz")[0] == 200, "readiness", timeout)
        return self

    def wait_committed(self, ends, timeout=120):
        """Waits until the committed offsets reach `ends`, {"topic[0]": offset}."""
        def reached():
            partitions = self.status().get("partitions", {})
            return all(partitions.get(name, {}).get("committed", -1) >= end for name, end in ends.items())
        self.wait(reached, f"commit of {ends}", timeout)

    def stop(self, timeout=60):
        """Stops it as an operator would. Returns the exit code."""
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        return self.ended(timeout)

    def ended(self, timeout=60):
        code = self.process.wait(timeout)
        self.log_file.close()
        return code

    def kill(self):
        self.process.kill()
        self.ended()


class Receiver:
    """A webhook that stores what it receives, and sometimes refuses."""

    def __init__(self, draw):
        received = self.received = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                code = 503 if draw.random() < 0.03 else 200
                if code == 200:
                    received.append((self.headers["Idempotency-Key"], json.loads(body)))
                self.send_response(code)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/alerts"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def alerts(self):
        """All alerts. Parts are taken by key, because a part may be sent again; it must then be the same."""
        parts = {}
        for key, body in self.received:
            assert parts.setdefault(key, body) == body
        return [alert for _, body in sorted(parts.items(), key=lambda item: (item[1]["batch"], item[1]["part"])) for alert in body["alerts"]]


class ServiceTest(unittest.TestCase):
    """A test with its own directory, application and topics."""

    own_broker = False
    broker_settings = {}

    def setUp(self):
        self.assertTrue(os.access(PROGRAM, os.X_OK), "DELTAMATCH_PROGRAM does not name the built program")
        if shutil.which("kcat") is None:
            self.skipTest("kcat is missing; run scripts/setup")
        directory = tempfile.TemporaryDirectory(prefix="deltamatch-service-")
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)
        self.broker = self.find_broker()
        self.app = "t" + uuid.uuid4().hex[:10]
        self.input = self.app + "-in"
        self.alerts = self.app + "-alerts"
        self.letters = self.app + "-letters"
        self.instances = []
        self.addCleanup(self.end_instances)

    def find_broker(self):
        if not self.own_broker:
            return shared_broker()
        broker = Broker(self.dir / "broker", **self.broker_settings)
        self.addCleanup(broker.stop)
        return broker

    def end_instances(self):
        for instance in self.instances:
            if instance.alive():
                instance.process.kill()
                instance.process.wait()

    def config(self, name="service.yaml", **changes):
        """Writes a configuration and returns its path. Keys with __ are paths. JSON is valid YAML."""
        config = {
            "application": self.app,
            "state": {"directory": str(self.dir / "state")},
            "kafka": {"bootstrap.servers": self.broker.address},
            "input": {"topics": [{"name": self.input, "format": "json"}], "on_error": "fail"},
            "batch": {"max_updates": 500, "max_delay": "20ms"},
            "sinks": {"alerts": {"type": "kafka", "topic": self.alerts}},
            "queries": [{"name": "ring", "pattern": RING, "sinks": ["alerts"]}],
            "http": {"listen": "127.0.0.1:0"},
            "log": {"format": "json"},
        }
        for path, value in changes.items():
            keys = path.split("__")
            place = config
            for key in keys[:-1]:
                place = place.setdefault(key, {})
            if value is None:
                place.pop(keys[-1], None)
            else:
                place[keys[-1]] = value
        self.last_config = config
        file = self.dir / name
        file.write_text(json.dumps(config, indent=1))
        return file

    def start_signalled(self, point, count, number, **environment):
        """An instance that gets the signal when it reaches the point for the count-th time. signal_at.cpp lists the points, what
        else than a signal can happen there, and what else can be in its environment.
        """
        signal_at = f"{point}:{count}:{number if isinstance(number, str) else int(number)}"
        return self.start_preloaded("DELTAMATCH_SIGNAL_AT_LIBRARY", DELTAMATCH_SIGNAL_AT=signal_at, **environment)

    def start_preloaded(self, variable, config=None, log="service.log", **environment):
        """An instance with the library that the variable names."""
        library = os.environ.get(variable, "")
        if not os.path.exists(library):
            self.skipTest(f"{variable} does not name the built library")
        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return self.start(config, ready=False, log=log, environment={"LD_PRELOAD": library, "ASAN_OPTIONS": sanitizer, **environment})

    def small_disk(self, size):
        """A folder on a file system of its own with the given size (512k)."""
        small = self.dir / "small"
        small.mkdir()
        if os.geteuid() != 0:
            self.skipTest("needs root, to mount a small file system")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", small], capture_output=True, check=False).returncode != 0:
            self.skipTest("a file system cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)], check=False)
        return small

    def start(self, config=None, ready=True, log="service.log", **more):
        instance = Instance(config or self.dir / "service.yaml", self.dir / log, **more)
        self.instances.append(instance)
        return instance.wait_ready() if ready else instance

    # What the service wrote.

    def marks(self):
        """The committed batches from 1 on. Checks that they are contiguous."""
        marks = [record for record in self.commit_records() if "batch" in record]
        self.assertEqual([mark["batch"] for mark in marks], list(range(len(marks))), "commit records are not contiguous")
        return marks

    def commit_records(self):
        """All commit records, including progress records."""
        return [json.loads(record[3]) for record in self.broker.consume(self.app + ".commits")]

    def alert_lines(self, topic=None):
        records = self.broker.consume(topic or self.alerts)
        for _, _, key, value, _ in records:
            told = json.loads(value)
            self.assertEqual(key.decode(), told.get("id", ""))
        return [value.decode() for _, _, _, value, _ in records]

    # What it should have written.

    def cut_input(self, marks, topics=None):
        """(stream, cuts) to replay the input with the batches of the marks. A tombstone becomes a blank line, which has no
        effect.
        """
        records = {}
        for topic in topics or [self.input]:
            for partition, offset, _, value, _ in self.broker.consume(topic):
                records.setdefault((topic, partition), []).append((offset, value))
        stream, cuts = [], []
        for before, mark in zip(marks, marks[1:]):
            count = 0
            for topic in sorted(mark["ends"]):
                for partition in sorted(mark["ends"][topic], key=int):
                    start = before["ends"].get(topic, {}).get(partition)
                    if start is None:
                        continue  # its first mark: the partition begins here
                    for offset, value in records.get((topic, int(partition)), []):
                        if start <= offset < mark["ends"][topic][partition]:
                            stream.append(b"" if value is None else value.replace(b"\n", b" "))
                            count += 1
            cuts.append(f"{count} {'-' if mark['time'] is None else mark['time']}")
        stream_file, cuts_file = self.dir / "replayed.stream", self.dir / "replayed.cuts"
        stream_file.write_bytes(b"".join(line + b"\n" for line in stream))
        cuts_file.write_text("".join(cut + "\n" for cut in cuts))
        return stream_file, cuts_file

    def replayed(self, marks, queries, *options, topics=None, format="jsonl"):
        """The alerts that `replay` finds in the input with the batches of the marks."""
        stream, cuts = self.cut_input(marks, topics)
        out = self.dir / "replayed-alerts.jsonl"
        wanted = [part for query in queries for part in ("--query", query)]
        program("replay", "--updates", stream, "--cuts", cuts, "--format", format, *wanted, "--emit", "matches", "--out", out, *options)
        return out.read_text().splitlines()

    def check_alerts(self, *options, queries=None, lines=None, topics=None, format="jsonl"):
        """Checks that the alerts equal those of a replay, byte for byte. Returns them."""
        lines = self.alert_lines() if lines is None else lines
        expected = self.replayed(self.marks(), queries or [f"ring={RING}"], *options, topics=topics, format=format)
        self.assertEqual(len(lines), len(expected))
        self.assertEqual(sorted(lines), sorted(expected))
        return lines


def edge(source, target, op="+", **more):
    return json.dumps({"op": op, "source": source, "target": target, **more}).encode()


def random_updates(draw, count, vertices=40, deletes=0.25):
    """Insertions and deletions of random edges. Some have no effect; none is a self-loop."""
    updates = []
    for _ in range(count):
        source, target = draw.sample(range(vertices), 2)
        updates.append(edge(source, target, "-" if draw.random() < deletes else "+"))
    return updates


def main():
    """Exits with 77 if no test could run. ctest counts that as skipped."""
    result = unittest.main(module="__main__", exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)
