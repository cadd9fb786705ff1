"""deltamatch test-sink sends one alert, marked as a test, as the service would, and tells the answer."""

import http.server
import json
import pathlib
import re
import socket
import subprocess
import threading
import time

import harness

GUIDE = pathlib.Path(__file__).parents[2] / "docs/guide/alerting.md"
CONFIG = """application: app
state: {{directory: state}}
kafka: {{bootstrap.servers: 'localhost:9092'}}
input: {{topics: [{{name: payments, columns: {{edge: id, source: from, target: to, time: at}}}}]}}
graph: {{edges: keyed, attributes: {{amount: decimal(2)}}}}
sinks:
  alerts: {{type: kafka, topic: alerts}}
  channel: {{type: slack, url: {{file: url}}, dead_letters: {{file: letters.jsonl}}}}
  hook: {{type: webhook, url: {{file: url}}, times: iso, headers: {{Authorization: s3cret}}}}
  own: {{type: webhook, url: {{file: url}}, each: alert, body: '{{"text": "{{{{query}}}} {{{{bindings.a}}}} {{{{#edges}}}}{{{{amount}}}} {{{{/edges}}}}"}}'}}
  idle: {{type: webhook, url: {{file: url}}}}
queries:
  - {{name: other, pattern: (x)-->(y), sinks: [alerts]}}
  - {{name: ring, pattern: "(a)-[t WHERE t.time > prev(t).time]->{{2,3}}(a) WITHIN 1d", sinks: [alerts, channel, hook, own]}}
"""


class TestSink(harness.CliTest):
    def setUp(self):
        super().setUp()
        self.got = got = []
        self.answer = answer = [200, "ok"]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                got.append((dict(self.headers), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(answer[0])
                self.end_headers()
                self.wfile.write(answer[1].encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.origin = f"http://127.0.0.1:{server.server_port}"
        self.write("url", self.origin + "/hooks/s3cret\n")
        self.write("service.yaml", CONFIG.format())

    def send(self, sink):
        return self.run_program("test-sink", "--config", "service.yaml", sink)

    def test_one_alert_comes_as_the_service_would_send_it(self):
        said = self.send("hook")
        self.assertEqual((said.code, said.out, said.err), (0, f"a test alert of ring was sent to the webhook {self.origin}: the server answered with status 200: ok\n", ""))
        (headers, body), = self.got
        self.assertEqual(headers["Authorization"], "s3cret")
        self.assertEqual(headers["Idempotency-Key"], f"app/hook/{body['batch']}/0")
        self.assertAlmostEqual(body["batch"], time.time(), delta=60)  # no batch of the service
        alert, = body["alerts"]
        self.assertEqual((alert["query"], alert["sign"], alert["bindings"]), ("ring (test)", "+", {"a": "test-1", "t": ["test-2"]}))
        self.assertEqual([edge["attributes"] for edge in alert["edges"][0]], [{"amount": "1200.00"}] * 2)
        self.assertRegex(alert["time"], r"^20\d\d-")

    def test_templates_and_forms_hold(self):
        self.assertEqual(self.send("own").code, 0)
        self.assertEqual(self.got[-1][1], {"text": "ring (test) test-1 1200.00 1200.00 "})
        self.assertEqual(self.send("channel").code, 0)
        self.assertIn("ring (test): a match appeared", json.dumps(self.got[-1][1]))

    def test_an_answer_that_refuses_is_told_and_leaves_nothing(self):
        before = sorted(path.name for path in self.dir.iterdir())
        for status, text in ((400, "invalid_payload"), (404, "no_team at /hooks/s3cret"), (503, "down")):
            self.answer[:] = status, text
            said = self.send("channel")
            self.assertEqual(said.code, 1)
            self.assertIn(f"sink 'channel': Slack at {self.origin} did not take it: the server answered with status {status}: {text.split()[0]}", said.err)
            self.assertNotIn("s3cret", said.err)
        self.assertEqual(len(self.got), 3)
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), before)

    def test_what_cannot_be_tried(self):
        self.fails(2, "test-sink", "--config", "service.yaml", "chanel", says="there is no sink 'chanel'; did you mean channel?")
        self.fails(2, "test-sink", "--config", "service.yaml", "alerts", says="the sink 'alerts' sends no requests; name one of the types webhook, slack")
        self.fails(78, "test-sink", "--config", "service.yaml", "idle", says="no query goes to the sink 'idle'; name it in the sinks of a query")
        self.write("url", "http://127.0.0.1:1/\n")
        self.fails(1, "test-sink", "--config", "service.yaml", "hook", says="did not take it: ")

    def test_the_receiver_of_the_guide_prints_what_comes(self):
        command = re.search(r"    \$ (perl .*?) &\n\n", GUIDE.read_text(), re.S)[1]
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        receiver = subprocess.Popen(["bash", "-c", "exec " + command.replace("8099", str(port))], stdout=subprocess.PIPE, text=True)
        self.addCleanup(receiver.stdout.close)
        self.addCleanup(receiver.wait)
        self.addCleanup(receiver.kill)
        self.write("url", f"http://127.0.0.1:{port}/\n")
        end = time.monotonic() + 20
        while (said := self.send("channel")).code != 0 and time.monotonic() < end:
            time.sleep(0.1)
        self.assertIn("answered with status 200: ok", said.out)
        lines = []
        while not lines or not lines[-1].startswith("{"):
            lines.append(receiver.stdout.readline())
        self.assertEqual(lines[0].strip(), "POST / HTTP/1.1")
        self.assertIn("ring (test): a match appeared", lines[-1])


if __name__ == "__main__":
    harness.main()
