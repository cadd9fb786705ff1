"""Avro and Protobuf with a schema registry, and compacted topics. Apicurio is the registry (scripts/registry), and the packages
of Apache and Google for Python write the records.
"""

import base64
import datetime
import decimal
import http.server
import io
import json
import random
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from harness import main, program, ROOT, ServiceTest

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, for another interpreter too
import avro.io  # noqa: E402
import avro.schema  # noqa: E402
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: E402

START = 1_700_000_000_000  # milliseconds
UTC = datetime.timezone.utc
PARTY = {"type": "record", "name": "Party", "namespace": "bank", "fields": [
    {"name": "iban", "type": "string"}, {"name": "kinds", "type": {"type": "array", "items": "string"}}]}
AMOUNT = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
TIME = {"type": "long", "logicalType": "timestamp-millis"}
FIRST = {"type": "record", "name": "Payment", "namespace": "bank", "fields": [
    {"name": "payer", "type": "Party"}, {"name": "payee", "type": ["null", "Party"]}, {"name": "amount", "type": AMOUNT},
    {"name": "at", "type": TIME}]}
# The next version: other order, a new field, and the amount may lack.
SECOND = {"type": "record", "name": "Payment", "namespace": "bank", "fields": [
    {"name": "at", "type": TIME}, {"name": "channel", "type": {"type": "enum", "name": "Channel", "symbols": ["WEB", "ATM"]}},
    {"name": "amount", "type": ["null", AMOUNT], "default": None}, {"name": "payee", "type": "Party"}, {"name": "payer", "type": "Party"}]}
KEY = {"type": "record", "name": "Key", "namespace": "bank", "fields": [{"name": "id", "type": "string"}]}
COLUMNS = {"source": "payer.iban", "target": "payee.iban", "source_label": "payer.kinds", "time": "at", "edge": "kafka:key.id"}
GRAPH = {"edges": "keyed", "attributes": {"amount": "decimal(2)", "channel": "symbol"}}
BIG = "(a)-[t1]->(b)-->(c) WHERE t1.amount > 50"


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, check=True)


class Registry:
    """A registry of this test's own, and a client that registers schemas."""

    def __init__(self, directory):
        self.directory = directory
        done = subprocess.run([ROOT / "scripts" / "registry", "start", "--dir", directory], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        self.url = done.stdout.split()[-1]

    def stop(self):
        subprocess.run([ROOT / "scripts" / "registry", "stop", "--dir", self.directory], check=True)

    def register(self, subject, schema, kind="AVRO", references=()):
        text = schema if isinstance(schema, str) else json.dumps(schema)
        body = {"schema": text, "schemaType": kind, "references": [{"name": name, "subject": other, "version": 1} for name, other in references]}
        request = urllib.request.Request(f"{self.url}/subjects/{subject}/versions", json.dumps(body).encode(),
                                         {"Content-Type": "application/vnd.schemaregistry.v1+json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())["id"]


class Proxy:
    """Stands before a registry: with TLS that wants a client's certificate, and with a user and password."""

    def __init__(self, url, folder, user="me", password="word"):
        wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.headers["Authorization"] != wanted:
                    return self.answer(401, b'{"error_code":40101,"message":"Unauthorized"}')
                try:
                    with urllib.request.urlopen(url + self.path, timeout=30) as answer:
                        return self.answer(answer.status, answer.read())
                except urllib.error.HTTPError as error:
                    return self.answer(error.code, error.read())

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        context.load_verify_locations(folder / "ca.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def certificates(folder):
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "names", "-out", f"{name}.pem")


def framed(number, record):
    return b"\0" + number.to_bytes(4, "big") + record


def writer(*schemas):
    """A function that encodes values of the last schema, which may use the names of those before it."""
    names = avro.schema.Names()
    for schema in schemas:
        made = avro.schema.make_avsc_object(json.loads(json.dumps(schema)), names)

    def encode(value):
        out = io.BytesIO()
        avro.io.DatumWriter(made).write(value, avro.io.BinaryEncoder(out))
        return out.getvalue()
    return encode


def at(milliseconds):
    return datetime.datetime.fromtimestamp(milliseconds / 1000, UTC)


_registry = None


def setUpModule():
    global _registry
    directory = tempfile.mkdtemp(prefix="deltamatch-registry-")
    unittest.addModuleCleanup(shutil.rmtree, directory, True)
    _registry = Registry(directory)
    unittest.addModuleCleanup(_registry.stop)


class SchemasTest(ServiceTest):
    def setUp(self):
        super().setUp()
        self.registry = _registry
        self.lines = []  # what `replay` reads in place of the messages

    def send(self, records):
        """Writes messages of any bytes: (key, value)."""
        behind_key, behind = b"<<key ends here>>", b"<<message ends here>>"
        data = b"".join(key + behind_key + (value or b"") + behind for key, value in records)
        command = ["kcat", "-P", "-q", "-b", self.broker.address, "-t", self.input, "-K", behind_key.decode(), "-D", behind.decode(),
                   "-X", "enable.idempotence=true", "-p", "0", "-Z"]
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def remaining(self):
        """The number of messages in the topic."""
        done = subprocess.run(["kcat", "-C", "-q", "-e", "-b", self.broker.address, "-t", self.input, "-o", "beginning", "-f", "%o\\n"],
                              capture_output=True, check=True)
        return len(done.stdout.splitlines())

    def configure(self, format="avro", columns=COLUMNS, **changes):
        topic = {"name": self.input, "format": format, "columns": columns, "key_format": "avro"}
        self.config(**{"input": {"topics": [topic], "registry": {"url": self.registry.url}, "on_error": "fail"}, "graph": GRAPH,
                       "queries": [{"name": "big", "pattern": BIG, "sinks": ["alerts"]}], **changes})

    def check(self):
        """Checks alerts and graph against a replay of the lines."""
        stream, cuts, out, saved = (self.dir / name for name in ("lines", "cuts", "replayed", "replayed.dms"))
        stream.write_text("".join(line + "\n" for line in self.lines))
        ends = [mark["ends"].get(self.input, {}).get("0", 0) for mark in self.marks()]
        cuts.write_text("".join(f"{after - before}\n" for before, after in zip(ends, ends[1:])))
        program("replay", "--updates", stream, "--cuts", cuts, "--format", "jsonl", "--query", f"big={BIG}", "--emit", "matches", "--out", out,
                "--save-snapshot", saved, "--edges", "keyed", "--attributes", "amount:decimal(2),channel:symbol", "--time-unit", "ms")
        lines = self.alert_lines()
        self.assertEqual(sorted(lines), sorted(out.read_text().splitlines()))
        newest = max((self.dir / "state").glob("snapshot-*.dms"))
        self.assertEqual(program("snapshot", "export", newest).stdout, program("snapshot", "export", saved).stdout)
        return lines

    def payments(self, count, draw, labels=True):
        """Payments of both versions, and deletions, with their lines of JSON."""
        self.registry.register("party", PARTY)
        references = [("bank.Party", "party")]
        ids = [self.registry.register(f"{self.app}-{n}-value", schema, references=references) for n, schema in enumerate((FIRST, SECOND))]
        key_id = self.registry.register(f"{self.app}-key", KEY)
        encode = [writer(PARTY, FIRST), writer(PARTY, SECOND)]
        encode_key = writer(KEY)
        records = []
        for number in range(count):
            key = f"tx-{number if draw.random() < 0.7 else draw.randrange(number + 1)}"
            framed_key = framed(key_id, encode_key({"id": key}))
            if draw.random() < 0.15:
                records.append((framed_key, None))
                self.lines.append(json.dumps({"op": "-", "edge": key}))
                continue
            source, target = draw.sample(range(150), 2)
            version = draw.randrange(2)
            cents = draw.randrange(10_000)
            payer, payee = ({"iban": f"acct-{n}", "kinds": ["Account", "Bank"] if n % 3 == 0 else ["Account"]} for n in (source, target))
            value = {"payer": payer, "payee": payee, "amount": decimal.Decimal(cents).scaleb(-2), "at": at(START + number)}
            line = {"edge": key, "source": payer["iban"], "target": payee["iban"], "source_label": payer["kinds"], "time": START + number,
                    "amount": f"{cents / 100:.2f}"}
            if not labels:
                del line["source_label"]
            if version == 1:
                value["channel"] = line["channel"] = draw.choice(["WEB", "ATM"])
                if draw.random() < 0.1:
                    value["amount"] = None
                    del line["amount"]
            records.append((framed_key, framed(ids[version], encode[version](value))))
            self.lines.append(json.dumps(line))
        return records


class Avro(SchemasTest):
    def test_two_versions_of_a_schema_with_references_and_keys(self):
        records = self.payments(700, random.Random(1))
        self.broker.create(self.input)
        self.configure()
        service = self.start()
        self.send(records)
        service.wait_committed({f"{self.input}[0]": len(records)})
        self.assertEqual(service.stop(), 0)
        self.assertGreater(len(self.check()), 50)

    def test_a_registry_that_is_down_is_waited_for(self):
        records = self.payments(300, random.Random(2))
        self.broker.create(self.input)
        folder = self.dir
        certificates(folder)
        (folder / "password").write_text("word\n")
        proxy = Proxy(self.registry.url, folder)
        url = proxy.url
        registry = {"url": ["http://127.0.0.1:1", url], "user": "me", "password": {"file": str(folder / "password")}, "timeout": "2s",
                    "ca": str(folder / "ca.pem"), "certificate": str(folder / "client.pem"), "key": str(folder / "client.key")}
        waiting = lambda text: any(event.get("event") == "schema_registry_waiting" and text in event.get("why", "") for event in service.events())

        self.send(records)
        # A wrong password, then no certificate of the client's own: it says so and reads nothing.
        for change, told in (({"password": "wrong"}, "HTTP 401: Unauthorized (40101); check user and password"),
                             ({"certificate": None, "key": None}, url), ({"ca": None}, "its certificate is not trusted")):
            with self.subTest(told):
                self.configure(input__registry={key: value for key, value in {**registry, **change}.items() if value is not None})
                service = self.start(ready=False)
                service.wait(lambda: waiting(told), f"the word {told}")
                service.wait(lambda: service.get("/readyz")[0] == 503, "no readiness")
                self.assertIn("waiting for the schema registry", service.get("/readyz")[1])
                self.assertIn("waiting for the schema registry", service.status()["doing"])
                self.assertNotIn("word\n", service.log().replace("password", ""))
                self.assertEqual(service.stop(), 0)
                self.assertEqual(self.alert_lines(), [])

        # The registry is away, and comes back.
        proxy.close()
        self.configure(input__registry=registry)
        service = self.start(ready=False)
        service.wait(lambda: waiting("no connection"), "a word about the registry")
        proxy.__init__(self.registry.url, folder)
        self.addCleanup(proxy.close)
        if proxy.url != url:  # the port may be taken by now; then the service begins again
            self.assertEqual(service.stop(), 0)
            self.configure(input__registry={**registry, "url": ["http://127.0.0.1:1", proxy.url]})
            service = self.start(ready=False)
        service.wait_committed({f"{self.input}[0]": len(records)})
        service.wait_ready()
        self.assertEqual(service.stop(), 0)
        self.check()

    def test_what_cannot_be_read_is_a_dead_letter_with_its_reason(self):
        records = self.payments(20, random.Random(3))
        broken = [(b"plain", b"x"), (records[0][0], framed(999_999, b"")), (records[0][0], b"{}"), (records[0][0], framed(1, b"\xff" * 40))]
        self.broker.create(self.input)
        self.broker.create(self.letters)
        self.configure(input__on_error="dead-letter", input__dead_letters={"topic": self.letters}, input__max_refused=1)
        service = self.start()
        self.send(broken + records)
        service.wait_committed({f"{self.input}[0]": len(broken) + len(records)})
        self.assertEqual(service.stop(), 0)
        letters = [(value, headers) for _, _, _, value, headers in self.broker.consume(self.letters)]
        self.assertEqual([value for value, _ in letters], [value for _, value in broken])
        messages = " ".join(str(headers) for _, headers in letters)
        for part in ("the message's key cannot be read", "the registry has no schema 999999", "does not begin with a byte 0"):
            self.assertIn(part, messages)


class Protobuf(SchemasTest):
    def test_messages_by_place_with_imports_and_times(self):
        common = 'syntax = "proto3"; package bank; message Party { string iban = 1; repeated string kinds = 2; }'
        payment = ('syntax = "proto3"; package bank; import "party.proto"; import "google/protobuf/timestamp.proto"; message Other {} '
                   "message Outer { message Payment { Party payer = 1; Party payee = 2; double amount = 3; google.protobuf.Timestamp at = 4; "
                   "enum Channel { WEB = 0; ATM = 1; } Channel channel = 5; } }")
        self.registry.register("party-proto", common, "PROTOBUF")
        number = self.registry.register(f"{self.app}-value", payment, "PROTOBUF", [("party.proto", "party-proto")])
        key_id = self.registry.register(f"{self.app}-key", KEY)
        (self.dir / "party.proto").write_text(common)
        (self.dir / "payment.proto").write_text(payment)
        subprocess.run(["protoc", "-I", self.dir, "--include_imports", f"--descriptor_set_out={self.dir / 'set'}", self.dir / "payment.proto"], check=True)
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString((self.dir / "set").read_bytes()).file:
            pool.Add(file)
        made = message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("bank.Outer.Payment"))
        encode_key = writer(KEY)
        draw, records, plain = random.Random(4), [], []
        for count in range(1000):
            source, target = draw.sample(range(150), 2)
            message = made()
            message.payer.iban, message.payee.iban = f"acct-{source}", f"acct-{target}"
            message.payer.kinds.append("Account")
            message.amount, message.channel = draw.randrange(400) / 4, draw.randrange(2)
            message.at.FromMilliseconds(START + count)
            key = framed(key_id, encode_key({"id": f"tx-{count}"}))
            body = message.SerializeToString()
            records.append((key, framed(number, bytes([4, 2, 0]) + body)))  # place: 2 numbers, 1 and 0
            plain.append((f"tx-{count}".encode(), body))
            self.lines.append(json.dumps({"edge": f"tx-{count}", "source": message.payer.iban, "target": message.payee.iban,
                                          "source_label": ["Account"], "time": START + count, "amount": f"{message.amount:.2f}",
                                          "channel": ["WEB", "ATM"][message.channel]}))
        self.broker.create(self.input)
        self.configure("protobuf")
        service = self.start()
        self.send(records)
        service.wait_committed({f"{self.input}[0]": len(records)})
        self.assertEqual(service.stop(), 0)
        self.assertGreater(len(self.check()), 50)

        # The same payments without a registry: the schema is a file, which imports another one beside it.
        self.app += "x"
        self.input, self.alerts = self.app + "-in", self.app + "-alerts"
        shutil.rmtree(self.dir / "state")
        self.broker.create(self.input)
        topic = {"name": self.input, "format": "protobuf", "columns": {**COLUMNS, "edge": "kafka:key"},
                 "schema": {"file": str(self.dir / "payment.proto"), "message": "bank.Outer.Payment"}}
        self.configure(input={"topics": [topic]}, sinks={"alerts": {"type": "kafka", "topic": self.alerts}})
        service = self.start()
        self.send(plain)
        service.wait_committed({f"{self.input}[0]": len(records)})
        self.assertEqual(service.stop(), 0)
        self.assertGreater(len(self.check()), 50)


class Compacted(SchemasTest):
    def test_upserts_and_tombstones_before_and_after_compaction(self):
        """The graph after compaction is the same. Batches that must be read again are not: the service says so."""
        records = self.payments(900, random.Random(5), labels=False)
        columns = {role: name for role, name in COLUMNS.items() if role != "source_label"}
        self.broker.create(self.input, cleanup_policy="compact", segment_ms="500", min_cleanable_dirty_ratio="0.001",
                           max_compaction_lag_ms="1000", delete_retention_ms="3600000")
        self.configure(columns=columns)
        service = self.start()
        self.send(records)
        service.wait_committed({f"{self.input}[0]": len(records)})
        self.assertEqual(service.stop(), 0)
        self.check()
        exported = program("snapshot", "export", max((self.dir / "state").glob("snapshot-*.dms"))).stdout

        # The active segment is never compacted, so another record closes it.
        end = time.monotonic() + 120
        extra = 0
        while self.remaining() > len(records) * 0.8:
            self.assertLess(time.monotonic(), end, "the broker has not compacted the topic")
            time.sleep(1)
            self.send([records[-1]])
            extra += 1

        # A service that begins with the compacted topic has the same graph.
        first = self.app
        self.app += "y"
        self.configure(columns=columns, state__directory=str(self.dir / "other"))
        service = self.start()
        service.wait_committed({f"{self.input}[0]": len(records) + extra})
        self.assertEqual(service.stop(), 0)
        again = program("snapshot", "export", max((self.dir / "other").glob("snapshot-*.dms"))).stdout
        self.assertEqual(sorted(again.splitlines()), sorted(exported.splitlines()))

        # The first one has lost its state, and its batches cannot be made again.
        self.app = first
        shutil.rmtree(self.dir / "state")
        self.configure(columns=columns)
        service = self.start(ready=False)
        self.assertEqual(service.ended(120), 1)
        self.assertIn("the input has changed since", service.log())


if __name__ == "__main__":
    main()
