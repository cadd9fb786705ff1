"""What operators do and see: stop, reload, health, status, metrics, secrets."""

import json
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

from harness import RING, edge, main, ServiceTest

PATH = "(a)-->(b)-->(c)"


class Operation(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.sent = 0

    def send(self, service, *records):
        self.broker.produce(self.input, list(records))
        self.sent += len(records)
        service.wait_committed({f"{self.input}[0]": self.sent})

    def test_sigterm_commits_what_is_read_and_makes_a_snapshot(self):
        self.config(batch__max_delay="1h", batch__max_updates=100_000, state__snapshot_every="1h")
        service = self.start()
        self.broker.produce(self.input, [edge(1, 2), edge(2, 3), edge(3, 1)])
        service.wait(lambda: service.status()["partitions"][f"{self.input}[0]"]["read"] == 3, "reading")
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)
        batch = self.marks()[-1]["batch"]
        self.assertTrue((self.dir / "state" / f"snapshot-{batch:020}.dms").exists())

    def test_files_are_for_owner_and_group_under_any_umask(self):
        for umask in ("000", "077"):
            folder = self.dir / umask
            folder.mkdir()
            self.app = f"{self.app}-{umask}"  # each application belongs to one state directory
            self.config(state={"directory": str(folder / "state"), "snapshot_every": "1s"}, application=self.app,
                        input__on_error="dead-letter", input__dead_letters={"file": str(folder / "letters.jsonl")},
                        sinks={"file": {"type": "file", "path": str(folder / "alerts.jsonl"), "rotate_size": "1KiB"}},
                        queries=[{"name": "edge", "pattern": "(a)-->(b)", "sinks": ["file"]}])
            service = self.start(wrapper=("sh", "-c", f'umask {umask}; exec "$@"', "sh"))
            for batch in range(3):
                self.send(service, *[edge(f"{umask}-{batch}-{vertex}", "end") for vertex in range(8)], b"{broken")
            service.wait(lambda: service.status()["snapshot"]["made"] > 0, "a snapshot")
            service.wait(lambda: all(sink["undelivered"] == 0 for sink in service.status()["sinks"].values()), "delivery")
            self.assertEqual(service.stop(), 0)
            modes = {str(path.relative_to(folder)): oct(path.stat().st_mode & 0o777) for path in folder.rglob("*")}
            self.assertEqual(modes.pop("state"), "0o750")
            self.assertEqual(set(modes.values()), {"0o640"}, modes)
            for part in ("letters.jsonl", "alerts.jsonl", "alerts-000001.jsonl", "alerts.jsonl.series", "state/state.json", "state/lock"):
                self.assertIn(part, modes)
            for pattern in ("snapshot-*.dms", "log-*.dmlog"):
                self.assertTrue(list((folder / "state").glob(pattern)))

    def test_a_second_sigterm_ends_it_at_once(self):
        hang = ["sh", "-c", "exec sleep 600", "put", "{file}", "{name}"]
        self.config(state__share={"put": hang, "get": hang, "list": ["true"]}, shutdown_timeout="50s")
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 1))
        service.process.send_signal(signal.SIGTERM)
        service.wait(lambda: "snapshot_made" in service.log(), "stopping")
        time.sleep(2)
        self.assertTrue(service.alive())  # it waits for the share
        service.process.send_signal(signal.SIGTERM)
        self.assertEqual(service.ended(5), 128 + signal.SIGTERM)

    def test_stopping_does_not_wait_for_a_dead_sink_beyond_its_time(self):
        hole = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(hole.close)
        self.config(sinks={"hook": {"type": "webhook", "url": f"http://127.0.0.1:{hole.getsockname()[1]}/", "timeout": "60s"}},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["hook"]}], shutdown_timeout="2s")
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 1))
        start = time.monotonic()
        self.assertEqual(service.stop(30), 0)
        self.assertLess(time.monotonic() - start, 12)

    def test_reload_adds_and_removes_queries(self):
        self.config()
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 1))
        self.config(queries=[{"name": "path", "pattern": PATH, "sinks": ["alerts"], "report_existing": True}])
        code, answer = service.get("/reload", "POST")
        self.assertEqual((code, json.loads(answer)), (200, {"state": "running", "added": ["path"], "removed": ["ring"], "needs_restart": []}))
        self.send(service, edge(3, 1, "-"))
        self.config()
        service.process.send_signal(signal.SIGHUP)
        service.wait(lambda: service.status()["queries"] == ["ring"], "the old query")
        self.send(service, edge(3, 1))
        self.assertEqual(service.stop(), 0)
        alerts = [(alert["query"], alert["sign"], len(alert["cause"])) for alert in map(json.loads, self.alert_lines())]
        self.assertEqual(alerts, [("ring", "+", 3)] + [("path", "+", 0)] * 3 + [("path", "-", 1)] * 2 + [("ring", "+", 1)])

    def test_a_reload_while_it_recovers_holds_from_the_start(self):
        self.config()
        self.start().stop()
        service = self.start_signalled("recovering", 1, signal.SIGSTOP)
        stat = pathlib.Path(f"/proc/{service.process.pid}/stat")
        service.wait(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "a halt")
        self.config(queries=[{"name": "path", "pattern": PATH, "sinks": ["alerts"]}])
        service.process.send_signal(signal.SIGHUP)
        service.process.send_signal(signal.SIGCONT)
        service.wait_ready()
        self.assertIn("this instance uses the new queries once it begins to work", service.log())
        self.assertEqual(service.status()["queries"], ["path"])
        self.send(service, edge(1, 2), edge(2, 3))
        self.assertEqual(service.stop(), 0)
        self.assertEqual([json.loads(line)["query"] for line in self.alert_lines()], ["path"])

    def test_a_reload_of_a_broken_configuration_changes_nothing(self):
        self.config()
        service = self.start()
        self.config(queries=[{"name": "ring", "pattern": "(a)-->", "sinks": ["alerts"]}])
        code, answer = service.get("/reload", "POST")
        self.assertEqual(code, 409)
        self.assertIn("service.yaml", answer)
        service.process.send_signal(signal.SIGHUP)
        service.wait(lambda: "so they stay as they are" in service.log(), "a word about it")
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 1))
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.alert_lines()), 1)

    def test_a_reload_says_what_needs_a_restart(self):
        self.config()
        service = self.start()
        self.config(batch__max_updates=7, shutdown_timeout="20s")
        code, answer = service.get("/reload", "POST")
        self.assertEqual((code, json.loads(answer)),
                         (200, {"state": "running", "added": [], "removed": [], "needs_restart": ["batch", "shutdown_timeout"]}))
        self.assertIn("the configuration has changed in more than its queries", service.log())
        self.config(sinks__fresh={"type": "kafka", "topic": self.letters},
                    queries=[{"name": "path", "pattern": PATH, "sinks": ["fresh"]}])
        code, answer = service.get("/reload", "POST")
        self.assertEqual(code, 409)
        self.assertIn("the sink 'fresh' is new, and only queries can change while the service runs; start the service again", answer)
        self.assertEqual(service.status()["queries"], ["ring"])
        self.assertEqual(service.stop(), 0)

    def test_status_lists_the_queries_from_the_start(self):
        self.config()
        service = self.start()
        self.send(service, edge(1, 2))
        self.assertEqual(service.stop(), 0)
        service = self.start()
        self.assertEqual(service.status()["queries"], ["ring"])
        self.assertEqual(service.stop(), 0)

    def test_without_brokers_it_waits_and_can_be_stopped(self):
        self.config(kafka={"bootstrap.servers": "127.0.0.1:1"})
        service = self.start(ready=False)
        service.wait(lambda: "waiting for the brokers" in service.log(), "a word about it", 20)
        self.assertEqual(service.status()["state"], "starting")
        self.assertEqual(service.get("/livez")[0], 200)
        code, why = service.get("/readyz")
        self.assertEqual(code, 503)
        self.assertIn("bootstrap.servers", why)
        begin = time.monotonic()
        self.assertEqual(service.stop(20), 0, service.log())
        self.assertLess(time.monotonic() - begin, 10)

    def test_metrics_and_status_count(self):
        self.config()
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 1), edge(3, 1))
        self.send(service, edge(2, 3, "-"))
        self.assertEqual(sum(service.metric("deltamatch_updates_total").values()), 5)
        self.assertEqual(service.metric("deltamatch_matches_total"), {'{query="ring",sign="+"}': 1, '{query="ring",sign="-"}': 1})
        self.assertEqual(service.metric("deltamatch_graph_edges"), {"": 2})
        self.assertEqual(service.metric("deltamatch_state")['{state="running"}'], 1)
        self.assertEqual(service.metric("deltamatch_consumer_lag"), {f'{{partition="0",topic="{self.input}"}}': 0})
        self.assertGreater(sum(service.metric("deltamatch_batch_seconds_count").values()), 0)
        status = service.status()
        self.assertEqual((status["application"], status["state"], status["queries"]), (self.app, "running", ["ring"]))
        self.assertEqual(status["graph"]["edges"], 2)
        self.assertEqual(service.get("/livez")[0], 200)
        self.assertEqual(service.get("/nothing")[0], 404)
        self.assertEqual(service.stop(), 0)

    def test_matches_are_counted_as_they_are_reported(self):
        few = {"name": "few", "pattern": PATH, "sinks": ["alerts"], "budget": {"matches": 2}}
        ring = {"name": "ring", "pattern": RING, "sinks": ["alerts"]}
        self.config(queries=[few])
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 1))
        self.assertEqual(list(service.status()["suspended"]), ["few"])
        self.assertEqual([json.loads(line).get("partial") for line in self.alert_lines()], ["limit"])
        self.assertEqual(set(service.metric("deltamatch_matches_total").values()), {0})
        self.config(queries=[ring | {"report_existing": True}])
        self.assertEqual(service.get("/reload", "POST")[0], 200)
        self.assertEqual(service.metric("deltamatch_matches_total")['{query="ring",sign="+"}'], 1)
        self.send(service, edge(3, 1, "-"))
        counts = service.metric("deltamatch_matches_total")
        self.assertEqual([counts[f'{{query="ring",sign="{sign}"}}'] for sign in "+-"], [1, 1])
        self.assertEqual(service.status()["matches"]["ring"]["appeared"], 1)
        self.assertEqual(len(self.alert_lines()), 3)
        self.assertEqual(service.stop(), 0)

    def curl(self, service, path, *options):
        """The answer to curl as (status, headers and body)."""
        if shutil.which("curl") is None:
            self.skipTest("curl is missing; run scripts/setup")
        service.get("/livez")
        done = subprocess.run(["curl", "-sS", "--max-time", "30", "-i", "-w", "\n%{http_code}", *options, service.url + path],
                              capture_output=True, text=True, check=True)
        answer, _, code = done.stdout.rpartition("\n")
        return int(code), answer

    def test_http_as_curl_speaks_it(self):
        self.config()
        service = self.start()
        code, answer = self.curl(service, "/reload", "-X", "POST")  # sends neither body nor Content-Length
        self.assertEqual(code, 200, answer)
        self.assertIn('"needs_restart":[]', answer)
        self.assertEqual(self.curl(service, "/reload", "-d", "")[0], 200)
        self.assertEqual(self.curl(service, "/reload/?now", "--json", "{}")[0], 200)
        code, answer = self.curl(service, "/metrics", "-I")
        self.assertEqual(code, 200)
        self.assertIn("Content-Length: ", answer)
        whole = self.curl(service, "/livez")[1]
        for option in (["--range", "0-0"], ["-H", "Range: bytes=" + ",".join(["0-"] * 2000)]):
            self.assertEqual(self.curl(service, "/livez", *option), (200, whole))
        for code, path, *options in [(404, "/nothing"), (405, "/reload"), (405, "/metrics", "-X", "POST"), (403, "/status", "-H", "Host: evil.example"),
                                     (403, "/status", "-H", "Sec-Fetch-Site: cross-site"), (403, "/reload", "-X", "POST", "-H", "Origin: http://localhost"),
                                     (413, "/reload", "-d", "x" * 100_000), (431, "/status", "-H", "X: " + "x" * 100_000), (400, "/status", "-H", "Host:")]:
            got, answer = self.curl(service, path, *options)
            self.assertEqual(got, code, (path, answer))
            self.assertEqual(set(json.loads(answer.splitlines()[-1])), {"v", "error"}, answer)
        self.assertEqual(service.stop(), 0)

    def test_slow_and_greedy_clients_do_no_harm(self):
        self.config()
        service = self.start()
        service.get("/livez")
        address = ("127.0.0.1", int(service.url.rpartition(":")[2]))
        head = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
        dripping = [socket.create_connection(address) for _ in range(40)]
        for client in dripping:
            self.addCleanup(client.close)
            client.sendall(head + b"X: ")
        begin = time.monotonic()
        self.assertEqual(service.get("/livez")[0], 200)
        self.assertEqual(service.get("/readyz")[0], 200)
        self.assertLess(time.monotonic() - begin, 2)
        sizes = []

        def ask_for_ranges():
            with socket.create_connection(address) as client:
                client.sendall(head + b"Range: bytes=0-" + b",0-" * 2500 + b"\r\n\r\n")
                sizes.append(sum(len(part) for part in iter(lambda: client.recv(1 << 16), b"")))
        threads = [threading.Thread(target=ask_for_ranges) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLess(max(sizes), 200_000)
        self.assertEqual(len(sizes), 8)
        self.assertEqual(service.stop(), 0)

    def test_a_dead_webhook_is_given_up_and_holds_up_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]  # nobody listens there afterwards
        file = self.dir / "alerts.jsonl"
        self.config(sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(file)},
                           "hook": {"type": "webhook", "url": f"http://127.0.0.1:{port}/secret-path", "max_tries": 5, "max_backoff": "20ms"}},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["alerts", "file", "hook"]}])
        service = self.start()
        for ring in range(5):
            a = ring * 10
            self.send(service, edge(a, a + 1), edge(a + 1, a + 2), edge(a + 2, a))
        service.wait(lambda: service.status()["sinks"]["hook"]["dropped"] == 5, "the end of the webhook's patience")
        status = service.status()["sinks"]
        self.assertEqual((status["hook"]["undelivered"], status["hook"]["alerts"], status["file"]["alerts"]), (0, 0, 5))
        self.assertEqual(sum(service.metric("deltamatch_alerts_dropped_total").values()), 5)
        self.assertEqual(service.stop(), 0)
        letters = [json.loads(line) for line in (self.dir / "state" / "hook.dead-letters.jsonl").read_text().splitlines()]
        self.assertEqual([letter["alert"] for letter in letters], [json.loads(line) for line in file.read_text().splitlines()])
        self.assertEqual(letters[0]["reason"], "no connection: Connection refused")
        self.assertNotIn("secret-path", service.log())
        self.assertEqual(len(self.alert_lines()), 5)
        self.assertEqual(self.start().stop(), 0)
        self.assertEqual(len((self.dir / "state" / "hook.dead-letters.jsonl").read_text().splitlines()), 5)

    def test_rate_limits_and_signs_filter(self):
        self.config(sinks={"some": {"type": "kafka", "topic": self.alerts, "signs": "removed"},
                           "few": {"type": "kafka", "topic": self.letters, "rate_limit": "2/1h"}},
                    queries=[{"name": "ring", "pattern": RING, "sinks": ["some", "few"]}])
        service = self.start()
        for ring in range(3):
            a = ring * 10
            self.send(service, edge(a, a + 1), edge(a + 1, a + 2), edge(a + 2, a))
        self.send(service, edge(0, 1, "-"))
        self.assertEqual(sum(service.metric("deltamatch_alerts_suppressed_total").values()), 2)
        self.assertEqual(service.stop(), 0)
        self.assertEqual([json.loads(line)["sign"] for line in self.alert_lines()], ["-"])
        few = [json.loads(line) for line in self.alert_lines(self.letters)]
        self.assertEqual([alert.get("sign") for alert in few], ["+", "+", None])
        self.assertEqual(few[2]["suppressed"], 2)  # reported at the stop

    def test_suppressed_alerts_are_told_when_nothing_more_comes(self):
        self.config(sinks={"few": {"type": "kafka", "topic": self.alerts, "rate_limit": "1/2s"}},
                    queries=[{"name": "edge", "pattern": "(a)-->(b)", "sinks": ["few"]}])
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 4))
        service.wait(lambda: len(self.alert_lines()) > 1, "a record of suppression", 15)
        told, suppressed = [json.loads(line) for line in self.alert_lines()]
        self.assertEqual((told["sign"], suppressed["suppressed"]), ("+", 2))
        self.assertGreater(suppressed["batch"], told["batch"])
        self.assertEqual(service.stop(), 0)

    def test_the_console_is_a_sink(self):
        self.config(sinks={"out": {"type": "stdout"}}, queries=[{"name": "ring", "pattern": RING, "sinks": ["out"]}])
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 3), edge(3, 1))
        self.assertEqual(service.stop(), 0)
        alerts = [event for event in service.events() if event.get("sign")]
        self.assertEqual([alert["bindings"] for alert in alerts], [{"a": 1, "b": 2, "c": 3}])

    def test_secrets_stay_secret(self):
        self.config(**{"kafka__sasl.password": "${WORD}", "kafka__sasl.username": "me", "log__level": "trace"})
        service = self.start(environment={"WORD": "correct-horse"})
        self.assertEqual(service.stop(), 0)
        self.assertNotIn("correct-horse", service.log())

    def test_systemd_is_told(self):
        path = self.dir / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(str(path))
            listener.settimeout(30)
            self.config()
            service = self.start(environment={"NOTIFY_SOCKET": str(path)})
            self.assertEqual(service.stop(), 0)
            told = b""
            listener.setblocking(False)
            try:
                while True:
                    told += listener.recv(4096) + b"\n"
            except BlockingIOError:
                pass
        self.assertLess(told.index(b"READY=1"), told.index(b"STOPPING=1"))

    def test_what_cannot_start_says_why(self):
        self.config(queries=[{"name": "ring", "pattern": "(a)-->", "sinks": ["alerts"]}])
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 78)
        self.config(transaction_timeout="20m", state__directory=str(self.dir / "other"))
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 78)
        self.assertIn("transaction_timeout: the brokers do not accept 1200000 ms", service.log())
        self.assertIn("INVALID_TRANSACTION_TIMEOUT", service.log())
        self.assertIn("raise transaction.max.timeout.ms of the brokers", service.log())


if __name__ == "__main__":
    main()
