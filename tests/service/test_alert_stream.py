"""GET /v1/alerts and the files of the live page, as programs and hostile clients use them."""

import contextlib
import gzip
import http.client
import json
import socket
import subprocess
import threading
import time
import urllib.request

from harness import edge, main, RING, ServiceTest

PATH = "(a)-->(b)-->(c)"


class Stream:
    """A client of the stream, with curl."""

    def __init__(self, test, url, *options):
        self.process = subprocess.Popen(["curl", "-sSN", *options, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        test.addCleanup(self.close)
        self.text = b""
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while data := self.process.stdout.read1(1 << 16):
            self.text += data

    def close(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()
        self.process.stderr.close()

    def events(self):
        """(id, name, data) of each whole event."""
        found = []
        for event in self.text.decode().split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in event.split("\n") if ": " in line)
            if "data" in fields:
                found.append((fields.get("id"), fields.get("event"), json.loads(fields["data"])))
        return found

    def alerts(self):
        return [json.dumps(data, separators=(",", ":")) for _, name, data in self.events() if name is None]


class AlertStream(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.sent = 0

    def begin(self, **changes):
        self.config(**{"queries": [{"name": "ring", "pattern": RING, "sinks": ["alerts"]}, {"name": "path", "pattern": PATH, "sinks": ["file", "alerts"]},
                                   {"name": "counted", "pattern": "(a)-->(b)", "sinks": []}],
                       "sinks": {"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(self.dir / "alerts.jsonl"), "times": "iso"}},
                       **changes})
        self.service = self.start()

    def send(self, *records):
        self.broker.produce(self.input, list(records))
        self.sent += len(records)
        self.service.wait_committed({f"{self.input}[0]": self.sent})

    def stream(self, parameters="", *options):
        stream = Stream(self, f"{self.service.url}/v1/alerts{parameters}", *options)
        self.service.wait(lambda: stream.events(), "the first event")
        return stream

    def test_the_stream_has_what_the_sinks_got(self):
        self.begin()
        every, rings, gone = self.stream(), self.stream("?query=ring"), self.stream("?query=ring&query=path&sign=-")
        self.assertEqual(every.events()[0][1], "start")
        self.send(edge(1, 2), edge(2, 3), edge(3, 1))
        self.send(edge(3, 1, "-"))
        expected = self.alert_lines()
        self.service.wait(lambda: len(every.alerts()) == len(expected), "all alerts")
        self.assertEqual(every.alerts(), expected, "each once, although one query has two sinks that write times differently")
        self.assertEqual({line for line in rings.alerts()}, {line for line in expected if '"query":"ring"' in line})
        self.service.wait(lambda: len(gone.alerts()) == sum('"sign":"-"' in line for line in expected), "what vanished")
        ids = [event[0] for event in every.events()[1:]]
        self.assertEqual(len(set(ids)), len(ids))
        # Behind an alert come those that follow it, by header and by parameter.
        for resumed in (self.stream("", "-H", f"Last-Event-ID: {ids[3]}"), self.stream(f"?after={ids[3]}")):
            self.service.wait(lambda: len(resumed.alerts()) == len(expected) - 4, "the rest")
            self.assertEqual(resumed.alerts(), expected[4:])
            self.assertEqual(resumed.events()[0][2]["missed"], 0)
        self.assertEqual(self.service.status()["alerts"]["published"], len(expected))
        last = self.stream("?last=2")
        self.service.wait(lambda: len(last.alerts()) == 2, "the last two")
        self.assertEqual(last.alerts(), expected[-2:])
        self.assertEqual(self.service.stop(), 0)
        self.assertEqual(every.process.wait(10), 0, "the stream ends when the service does")

    def test_what_is_not_committed_is_not_shown(self):
        self.begin(batch__max_delay="1h", batch__max_updates=100_000)
        stream = self.stream()
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3), edge(3, 1)])
        self.service.wait(lambda: self.service.status()["partitions"][f"{self.input}[0]"]["read"] == 3, "reading")
        self.assertEqual(stream.alerts(), [])
        self.assertEqual(self.service.stop(), 0)  # commits it
        self.assertEqual(len(self.alert_lines()), 4)

    def test_a_large_batch_shows_its_last_alerts(self):
        count = 400  # spokes: 400 * 400 paths over the hub
        self.begin(batch__max_delay="2s", batch__max_updates=100_000, sinks={"file": {"type": "file", "path": str(self.dir / "alerts.jsonl")}},
                   queries=[{"name": "path", "pattern": PATH, "sinks": ["file"]}])
        stream = self.stream()
        self.send(*[edge(f"in-{i}", "hub") for i in range(count)], *[edge("hub", f"out-{i}") for i in range(count)])
        file = self.dir / "alerts.jsonl"
        self.service.wait(lambda: file.exists() and stream.alerts()[-1:] == file.read_text().splitlines()[-1:] != [], "the last alert", 120)
        left_out = sum(data["alerts"] for _, name, data in stream.events() if name == "left-out")
        self.assertEqual(left_out + len(stream.alerts()), count * count)
        self.assertLessEqual(len(stream.alerts()), 1000)
        self.assertGreaterEqual(len(stream.alerts()), 500)
        self.assertEqual(self.service.status()["alerts"]["left_out"], left_out)

    def test_what_is_wrong_is_refused(self):
        self.begin()
        for parameters, words in (("?sign=x", "sign is + or -"), ("?after=7", "17.3"), ("?last=all", "number")):
            code, body = self.service.get(f"/v1/alerts{parameters}")
            self.assertEqual((code, words in body), (400, True), body)
        self.assertEqual(self.service.get("/v1/alerts", "POST")[0], 405)
        # Streams beyond the limit are refused, and that costs the others nothing.
        streams = [socket.create_connection(self.address()) for _ in range(64)]
        for client in streams:
            client.sendall(b"GET /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b" 200 OK", client.recv(4096))
        answer = subprocess.run(["curl", "-sSi", "--max-time", "10", f"{self.service.url}/v1/alerts"], capture_output=True, text=True, check=True).stdout
        self.assertIn(" 503 ", answer.splitlines()[0])
        self.assertIn("Retry-After:", answer)
        self.assertEqual(self.service.status()["alerts"]["refused_streams"], 1)
        for client in streams:
            client.close()
        self.service.wait(lambda: self.service.status()["alerts"]["streams"] == 0, "room")
        self.stream()

    def address(self):
        host, port = self.service.url.removeprefix("http://").split(":")
        return host, int(port)

    def test_hostile_clients_hurt_nobody(self):
        self.begin()
        stream = self.stream()
        with contextlib.ExitStack() as clients:
            deaf = []
            for _ in range(20):  # open the stream and read nothing
                client = clients.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                client.connect(self.address())
                client.sendall(b"GET /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n")
                deaf.append(client)
            self.service.wait(lambda: self.service.status()["alerts"]["streams"] == 21, "open streams")
            for number in range(1000):  # half a request each, and one byte more now and then
                client = clients.enter_context(socket.create_connection(self.address()))
                with contextlib.suppress(OSError):
                    client.sendall(b"GET /v1/al" if number % 2 else b"")
            begin = time.monotonic()
            self.send(*[edge(f"{i}-a", f"{i}-b") for i in range(100)], *[edge(f"{i}-b", f"{i}-c") for i in range(100)])
            self.service.wait(lambda: len(stream.alerts()) == 100, "alerts beside hostile clients")
            self.assertLess(time.monotonic() - begin, 15)
            self.assertEqual(self.service.get("/livez")[0], 200)
            self.assertEqual(self.service.get("/readyz")[0], 200)
        self.service.wait(lambda: self.service.status()["alerts"]["streams"] == 1, "their end")

    def test_a_client_that_reads_nothing_is_cut_off_and_holds_up_no_batch(self):
        self.begin(batch__max_updates=200)
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            deaf.connect(self.address())
            deaf.sendall(b"GET /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.service.wait(lambda: self.service.metric("deltamatch_alert_streams") == {"": 1}, "the open stream")
            behind, round_number, sent = [], 0, time.monotonic()
            # Each round has 2,500 alerts of some 300 bytes, which is more than the buffers of the socket take.
            while round_number < 8 or self.service.metric("deltamatch_alert_streams_cut_off_total") == {"": 0}:
                self.assertLess(time.monotonic() - sent, 60, "the client is not cut off")
                begin = time.monotonic()
                hub = f"hub-{round_number}"
                self.send(*[edge(f"{hub}-in-{i}", hub) for i in range(50)], *[edge(hub, f"{hub}-out-{i}") for i in range(50)])
                behind.append(time.monotonic() - begin)
                round_number += 1
            # It takes five seconds to cut the client off. A batch that waited for it would take as long.
            self.assertLess(max(behind), 4, behind)
            self.assertEqual(self.service.metric("deltamatch_alert_streams_cut_off_total"), {"": 1})
            self.assertEqual(self.service.metric("deltamatch_alert_streams"), {"": 0})
            self.assertEqual(self.service.status()["alerts"]["cut_off"], 1)
        self.assertEqual(len(self.alert_lines()), 2500 * round_number, "sinks got every alert")

    def test_the_page_comes_from_the_program(self):
        self.begin()
        index = urllib.request.urlopen(self.service.url + "/")
        self.assertEqual(index.headers["Content-Type"], "text/html; charset=utf-8")
        policy = index.headers["Content-Security-Policy"]
        for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
            self.assertIn(rule, policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(index.headers["X-Content-Type-Options"], "nosniff")
        text = index.read().decode()
        self.assertNotIn("http://", text)
        self.assertNotIn("https://", text)
        for name in ("app.js", "app.css", "icon.svg"):
            self.assertIn(name, text)
        for name in ("app.js", "app.css", "icon.svg", "licences.txt"):
            connection = http.client.HTTPConnection(*self.address())
            self.addCleanup(connection.close)
            connection.request("GET", f"/{name}", headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers["Content-Encoding"]), (200, "gzip"), name)
            packed = gzip.decompress(answer.read())
            plain = urllib.request.urlopen(f"{self.service.url}/{name}")
            self.assertIsNone(plain.headers["Content-Encoding"])
            self.assertEqual(plain.read(), packed, name)
            connection = http.client.HTTPConnection(*self.address())
            self.addCleanup(connection.close)
            connection.request("GET", f"/{name}", headers={"If-None-Match": plain.headers["ETag"]})
            again = connection.getresponse()
            self.assertEqual((again.status, again.read()), (304, b""), name)
        self.assertEqual(self.service.get("/app.jsx")[0], 404)
        self.assertIn(self.service.get("/../etc/passwd")[0], (400, 404))


if __name__ == "__main__":
    main()
