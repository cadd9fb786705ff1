"""Alerts for webhooks, Slack and PagerDuty: what arrives, and that neither a lost state directory nor a take-over loses any.

The servers follow the rules of the services' APIs.
"""

import contextlib
import http.server
import json
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request

from harness import edge, main, random_updates, RING, ROOT, ServiceTest

ONCE = "(a)-->(b)-->(c) ALERT ONCE PER (b) EVERY 1h"
PATH = "(a)-->(b)-->(c)"
KEY = "0123456789abcdef0123456789abcdef"


class Server:
    """Takes POSTs. `rules(body)` gives (status, text). While it is down, it answers 503."""

    def __init__(self, rules=lambda body: (200, "ok")):
        self.accepted = []
        self.refused = []
        self.down = False
        self.before_answer = None
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, text = (503, "down") if server.down else rules(body)
                (server.accepted if status < 300 else server.refused).append(body)
                if server.before_answer:
                    server.before_answer()
                with contextlib.suppress(BrokenPipeError):  # an owner that stops waits no longer
                    self.send_response(status)
                    self.end_headers()
                    self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hooks/s3cret"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def alerts(self):
        """All alerts of the usual form, in the order in which they came."""
        return [alert for body in self.accepted for alert in body["alerts"]]


def pagerduty(body):
    errors = []
    if len(body.get("routing_key", "")) != 32:
        errors.append("Length of 'routing_key' is incorrect")
    if body.get("event_action") not in ("trigger", "acknowledge", "resolve"):
        errors.append("'event_action' is invalid")
    if not 0 < len(body.get("dedup_key", "")) <= 255:
        errors.append("'dedup_key' is invalid")
    if body.get("event_action") == "trigger":
        payload = body.get("payload", {})
        if not 0 < len(payload.get("summary", "")) <= 1024 or not payload.get("source"):
            errors.append("'payload' is invalid")
        if payload.get("severity") not in ("critical", "error", "warning", "info"):
            errors.append("'payload.severity' is invalid")
    if errors:
        return 400, json.dumps({"status": "invalid event", "message": "Event object is invalid", "errors": errors})
    return 202, json.dumps({"status": "success", "message": "Event processed", "dedup_key": body["dedup_key"]})


def slack(body):
    blocks = body.get("blocks", [])
    if not body.get("text") or len(blocks) > 50:
        return 400, "invalid_payload"
    if any(len(block["text"]["text"]) > 150 for block in blocks if block["type"] == "header"):
        return 400, "invalid_blocks"
    return 200, "ok"


class Alerting(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.sent = 0

    def server(self, *arguments):
        server = Server(*arguments)
        self.addCleanup(server.close)
        return server

    def send(self, updates):
        self.broker.produce(self.input, updates)
        self.sent += len(updates)

    def committed(self, service):
        service.wait_committed({f"{self.input}[0]": self.sent})

    def notes(self):
        return [record for record in self.commit_records() if "delivered" in record]

    def ring(self, number, sign="+"):
        a = 10 * number
        return [edge(a + 1, a + 2, sign), edge(a + 2, a + 3, sign), edge(a + 3, a + 1, sign)]


class Services(Alerting):
    def test_a_match_appears_and_vanishes(self):
        pager, channel, cases = self.server(pagerduty), self.server(slack), self.server()
        self.config(sinks={
            "alerts": {"type": "kafka", "topic": self.alerts},
            "pager": {"type": "pagerduty", "url": pager.url, "routing_key": KEY, "severities": {"ring": "critical"}},
            "channel": {"type": "slack", "url": channel.url, "min_interval": "10ms", "link": "https://dm.example/?id={{id}}"},
            "cases": {"type": "webhook", "url": cases.url, "each": "alert",
                      "body": '{"title": "{{summary}}", "id": "{{id}}", "a": {{{bindings.a}}}}'}},
            queries=[{"name": "ring", "pattern": RING}])
        service = self.start()
        self.send(self.ring(1))
        service.wait(lambda: len(pager.accepted) == 1, "an incident")
        self.send([edge(11, 12, "-")])
        service.wait(lambda: len(pager.accepted) == 2 and len(channel.accepted) == 2 and len(cases.accepted) == 2, "its end")
        self.assertEqual(service.stop(), 0)
        appeared, vanished = map(json.loads, self.alert_lines())
        trigger, resolve = pager.accepted
        self.assertEqual((trigger["event_action"], resolve["event_action"]), ("trigger", "resolve"))
        self.assertEqual((trigger["dedup_key"], vanished["id"]), (resolve["dedup_key"], appeared["id"]))
        self.assertEqual(trigger["payload"]["severity"], "critical")
        self.assertEqual(trigger["payload"]["custom_details"], appeared)
        self.assertIn("ring: a match appeared", channel.accepted[0]["text"])
        self.assertIn(f"<https://dm.example/?id={appeared['id']}|open>", json.dumps(channel.accepted[0]))
        self.assertIn("ring: a match vanished", channel.accepted[1]["text"])
        self.assertEqual([case["id"] for case in cases.accepted], [appeared["id"]] * 2)
        self.assertEqual(cases.accepted[0]["a"], appeared["bindings"]["a"])
        self.assertNotIn(KEY, service.log())
        self.assertNotIn("s3cret", service.log())

    def test_a_channel_hears_what_is_left_out_and_gets_it_later(self):
        """A pause makes a large batch. The rest is sent again as docs/guide/alerting.md says."""
        channel = self.server(slack)
        self.config(sinks={"channel": {"type": "slack", "url": channel.url, "min_interval": "10ms", "max_messages": 1}},
                    queries=[{"name": "ring", "pattern": RING}])
        self.send([update for number in range(10) for update in self.ring(number)])
        service = self.start()
        service.wait(lambda: len(channel.accepted) == 2, "the message about the rest")
        self.assertEqual(service.stop(), 0)
        file = self.dir / "state" / "channel.dead-letters.jsonl"
        self.assertIn(f"2 more alerts of batch 1 are not shown here (ring 2). They are in {file} on {socket.gethostname()}",
                      channel.accepted[1]["text"])
        (self.dir / "slack-url").write_text(channel.url + "\n")
        text = (ROOT / "docs/guide/alerting.md").read_text().replace("/run/secrets/slack-url", str(self.dir / "slack-url"))
        text = text[text.index("### Send dead letters again"):]
        script = re.search(r"(?m)^    \$ mv (?:.*\n)+?.*done$", text)[0].replace("\n    $ ", "\n").replace("    $ ", "", 1)
        subprocess.run(["bash", "-ec", script], cwd=file.parent, check=True, timeout=60)
        self.assertEqual([message["text"][:13] for message in channel.accepted[2:]], ['ring +: {"a":'] * 2)

    def test_what_a_template_cannot_show_is_refused_at_once(self):
        self.config(sinks={"web": {"type": "webhook", "url": "http://127.0.0.1:9/", "each": "alert", "body": '{"a": "{{bindings.zz}}"}'}},
                    queries=[{"name": "ring", "pattern": RING}])
        service = self.start(ready=False)
        self.assertEqual(service.ended(20), 78)
        self.assertIn("the alerts of query 'ring' have no 'bindings.zz'", service.log())


class LostDirectory(Alerting):
    """A webhook that is always up, the witness, says what the other one must get."""

    def setUp(self):
        super().setUp()
        self.witness, self.web = self.server(), self.server()
        self.draw = random.Random(5)

    def configure(self, name="service.yaml", directory="state", **changes):
        def hook(server, **more):
            return {"type": "webhook", "url": server.url, "max_backoff": "100ms", "max_tries": "unlimited", **more}
        queries = changes.pop("queries", [{"name": "ring", "pattern": RING}, {"name": "once", "pattern": ONCE}])
        limit = changes.pop("limit", {})
        return self.config(name, state__directory=str(self.dir / directory), batch__max_updates=100,
                           sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "witness": hook(self.witness, **limit),
                                  "web": hook(self.web, **limit)},
                           queries=queries, **changes)

    def updates(self, count):
        updates = random_updates(self.draw, count)
        self.send(updates)

    def settled(self, service, server):
        """Waits until the server has all alerts that the brokers have, and the topic of commit records says so."""
        def done():
            batch = service.status().get("batch", 0)
            notes = self.notes()
            return bool(notes) and notes[-1]["up_to"] == batch and set(notes[-1]["delivered"].values()) <= {batch}
        service.wait(done, "everything delivered and noted", 30)

    def witnessed(self, service):
        """The same for the witness alone."""
        def done():
            batch = service.status().get("batch", 0)
            notes = self.notes()
            return bool(notes) and notes[-1]["up_to"] == batch and notes[-1]["delivered"].get("witness", batch) == batch
        service.wait(done, "the witness", 30)

    def same(self):
        told = [(a.get("id"), a.get("sign"), a["batch"]) for a in self.witness.alerts()]
        got = [(a.get("id"), a.get("sign"), a["batch"]) for a in self.web.alerts()]
        return told, got

    def lose(self, service):
        service.kill()
        shutil.rmtree(self.dir / "state")

    def check(self, service, same=None):
        same = same or self.same
        service.wait(lambda: set(same()[0]) <= set(same()[1]), "what waited", 60)
        self.assertEqual(service.stop(), 0)
        return same()

    def test_nothing_that_waited_is_lost(self):
        self.configure()
        service = self.start()
        self.updates(600)
        self.committed(service)
        self.settled(service, self.web)
        before = len(self.web.alerts())
        self.assertGreater(before, 0)
        self.web.down = True
        self.updates(600)
        self.committed(service)
        self.witnessed(service)
        self.lose(service)
        self.web.down = False
        service = self.start()
        told, got = self.check(service)
        self.assertGreater(len(told), before)
        self.assertEqual(told, got)  # in order, each once, and the witness has none twice
        self.assertIn("alerts that waited in a lost log are made again", service.log())
        self.assertNotIn("alerts are lost", service.log())

    def test_budgets_and_changes_of_queries_are_repeated(self):
        self.configure(queries=[{"name": "ring", "pattern": RING}])
        service = self.start()
        self.web.down = True
        self.updates(300)
        self.committed(service)
        self.configure(queries=[{"name": "ring", "pattern": RING},
                                {"name": "path", "pattern": PATH, "report_existing": True},
                                {"name": "many", "pattern": PATH, "mode": "homomorphism", "budget": {"matches": 5}}])
        self.assertEqual(service.get("/reload", "POST")[0], 200)
        self.updates(300)
        self.committed(service)
        self.assertEqual(list(service.status()["suspended"]), ["many"])
        self.witnessed(service)
        self.lose(service)
        self.web.down = False
        service = self.start()
        told, got = self.check(service)
        self.assertEqual(sorted(map(str, told)), sorted(map(str, got)))
        self.assertEqual({alert["query"] for alert in self.web.alerts()}, {"ring", "path", "many"})

    def test_rate_limits_run_by_the_time_of_the_commits(self):
        """A limit's time begins with a batch, and in what is made again with its commit. How long a commit takes decides in which
        batch the sum of what was left out is told, but not the sum."""
        def left_out(server):
            return sum(alert.get("suppressed", 0) for alert in server.alerts())

        def matches():
            return [[alert for alert in alerts if alert[0]] for alerts in self.same()]

        self.configure(queries=[{"name": "path", "pattern": PATH}], limit={"rate_limit": "3/2s"})
        service = self.start()
        self.web.down = True
        for _ in range(3):
            before = left_out(self.witness)
            self.updates(100)
            self.committed(service)
            service.wait(lambda: left_out(self.witness) > before, "what was left out", 30)
            time.sleep(2)  # for commits that take longer than others
        self.witnessed(service)
        self.lose(service)
        self.web.down = False
        service = self.start()
        service.wait(lambda: left_out(self.web) >= left_out(self.witness), "what was left out", 60)
        told, got = self.check(service, matches)
        self.assertEqual(told, got)
        self.assertEqual(len(told), 9)
        self.assertEqual(left_out(self.witness), left_out(self.web))

    def test_alerts_of_a_changed_query_are_told_to_be_lost(self):
        self.configure()
        service = self.start()
        self.web.down = True
        self.updates(600)
        self.committed(service)
        self.witnessed(service)
        self.lose(service)
        self.web.down = False
        self.configure(queries=[{"name": "ring", "pattern": RING}, {"name": "once", "pattern": PATH + " ALERT ONCE PER (a) EVERY 2h"}])
        service = self.start()
        rings = {alert["id"] for alert in self.witness.alerts() if alert["query"] == "ring"}
        service.wait(lambda: rings <= {alert["id"] for alert in self.web.alerts()}, "the rings")
        counted = service.metric("deltamatch_log_events_total")
        self.assertEqual(counted['{event="alerts of a query are lost with the log, because it has changed since",level="error"}'], 1)
        self.assertEqual(service.stop(), 0)
        lost = [event for event in service.events() if event["event"].startswith("alerts of a query are lost")]
        self.assertEqual([event["query"] for event in lost], ["once"])

    def test_alerts_of_a_query_that_was_changed_over_http_are_made_again(self):
        """The topic of queries has the definition that stood in each batch."""
        (self.dir / "token").write_text("0123456789-abcdefghij")
        self.configure(queries=[{"name": "ring", "pattern": RING}], http__admin_token={"file": str(self.dir / "token")})
        service = self.start()

        def change(name, method, **definition):
            request = urllib.request.Request(f"{service.url}/v1/queries/{name}", method=method, data=json.dumps(definition).encode() if definition else None,
                                             headers={"Authorization": "Bearer 0123456789-abcdefghij"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.assertIn(answer.status, (200, 201))
        self.web.down = True
        change("path", "PUT", pattern=PATH)
        change("pair", "PUT", pattern="(a)-->(b)-->(a)")
        change("elsewhere", "PUT", pattern=PATH, sinks=["witness", "web"])
        self.updates(200)
        self.committed(service)
        change("path", "PUT", pattern="(a)-->(b)<--(c)")
        change("pair", "DELETE")
        change("elsewhere", "PUT", pattern=PATH, sinks=["alerts"])  # the same matches for others
        self.updates(200)
        self.committed(service)
        self.witnessed(service)
        self.lose(service)
        self.web.down = False
        service = self.start()
        told, got = self.check(service)
        self.assertEqual(sorted(map(str, told)), sorted(map(str, got)))
        self.assertEqual({alert["query"] for alert in self.web.alerts()}, {"ring", "path", "pair", "elsewhere"})
        self.assertNotIn("are lost with the log", service.log())

    def test_files_get_what_they_lack_and_dead_letters_too(self):
        file = self.dir / "letters.jsonl"
        self.configure(input={"topics": [{"name": self.input, "format": "json"}], "on_error": "dead-letter", "dead_letters": {"file": str(file)},
                              "max_labels": 1})
        copy = self.dir / "copy.jsonl"
        config = self.last_config
        config["sinks"]["copy"] = {"type": "file", "path": str(copy)}
        (self.dir / "service.yaml").write_text(json.dumps(config))

        def letters():
            return [json.loads(line)["reason"] for line in file.read_text().splitlines()] if file.exists() else []
        service = self.start()
        for gone, bad in ((False, [b"no json", edge(900, 901, label="one"), edge(900, 902, label="two")]), (True, [b"none either"])):
            before = letters()
            self.web.down = True
            self.updates(300)
            self.send(bad)
            self.updates(300)
            self.committed(service)
            self.witnessed(service)
            service.wait(lambda: len(letters()) > len(before), "dead letters")
            here = letters()
            self.lose(service)
            if gone:
                file.unlink()
            self.web.down = False
            service = self.start()
            service.wait(lambda: set(self.same()[0]) <= set(self.same()[1]), "what waited", 60)
            self.settled(service, self.web)
            if gone:
                service.wait(letters, "the file")
            self.assertEqual(letters(), here[len(before):] if gone else here, "what the file lacks, and nothing twice")
            self.assertNotIn("are lost with the log", service.log())
            service.wait(lambda: service.status()["sinks"]["copy"]["undelivered"] == 0, "the copy")
            self.assertEqual([json.loads(line)["id"] for line in copy.read_text().splitlines()], [one[0] for one in self.same()[0]])
        self.assertEqual(here, ["malformed", "label_limit", "malformed"])
        self.assertEqual(service.stop(), 0)

    def test_another_instance_knows_what_waits(self):
        first = self.start(self.configure("first.yaml", "first"), log="first.log")
        self.updates(300)
        self.committed(first)
        self.settled(first, self.web)
        self.web.down = True
        self.updates(300)
        self.committed(first)
        self.witnessed(first)
        first.kill()
        second = self.start(self.configure("second.yaml", "second"), log="second.log")
        self.updates(300)
        self.committed(second)
        self.web.down = False
        second.wait(lambda: set(self.same()[0]) <= set(self.same()[1]), "what waited", 60)
        self.settled(second, self.web)
        self.assertEqual(second.stop(), 0)
        told, got = self.same()
        self.assertEqual(told, got)
        first = self.start(self.configure("first.yaml", "first"), log="first.log")
        self.updates(100)
        self.committed(first)
        told, got = self.check(first)
        self.assertEqual(told, got)  # what waited in its log has come meanwhile, so it is not sent again
        self.assertEqual(len(set(got)), len(got))

    def test_a_planned_stop_does_not_wait_for_a_slow_webhook(self):
        """The standby takes over at once, and gives the webhook what the owner could not."""
        slow = {"limit": {"timeout": "60s"}, "shutdown_timeout": "40s"}
        first = self.start(self.configure("first.yaml", "first", **slow), log="first.log")
        second = self.start(self.configure("second.yaml", "second", **slow), ready=False, log="second.log")
        awake = threading.Event()
        self.addCleanup(awake.set)
        self.web.before_answer = lambda: awake.wait(60)
        for number in range(15):
            self.send(self.ring(number))
            self.committed(first)
        self.witnessed(first)
        second.wait(lambda: second.status().get("standby", {}).get("could_take_over"), "that it could take over")
        begin = time.monotonic()
        first.process.send_signal(signal.SIGTERM)
        second.wait_ready(60)
        self.assertLess(time.monotonic() - begin, 30, first.log() + second.log())
        self.assertEqual(first.ended(), 0, first.log())
        self.web.before_answer = None
        awake.set()
        self.send(self.ring(20))
        self.committed(second)
        second.wait(lambda: set(self.same()[0]) <= set(self.same()[1]), "what waited", 60)
        self.settled(second, self.web)
        self.assertEqual(second.stop(), 0)
        told, got = self.same()
        self.assertEqual(told, list(dict.fromkeys(got)))
        twice = {alert for alert in got if got.count(alert) > 1}
        requests = [{(a["id"], a["sign"], a["batch"]) for a in body["alerts"]} for body in self.web.accepted]
        self.assertTrue(any(twice <= request for request in requests), twice)  # what was under way

    def test_what_was_under_way_comes_twice_under_one_id(self):
        self.configure(queries=[{"name": "ring", "pattern": RING}])
        service = self.start()
        self.send(self.ring(1))
        self.committed(service)
        self.settled(service, self.web)
        self.web.before_answer = lambda: service.process.send_signal(signal.SIGKILL)
        self.send(self.ring(2))
        service.ended(30)
        self.web.before_answer = None
        shutil.rmtree(self.dir / "state")
        service = self.start()
        service.wait(lambda: len(self.web.alerts()) == 3, "the alert again")
        time.sleep(1)
        self.assertEqual(service.stop(), 0)
        ids = [alert["id"] for alert in self.web.alerts()]
        self.assertEqual((len(ids), ids[1]), (3, ids[2]))
        self.assertNotEqual(ids[0], ids[1])

    def without_log(self):
        """Stops with alerts that wait, and loses the log. The snapshot made at the end is past these alerts."""
        self.configure(shutdown_timeout="2s")
        service = self.start()
        self.updates(300)
        self.committed(service)
        self.settled(service, self.web)
        self.web.down = True
        self.updates(300)
        self.committed(service)
        self.witnessed(service)
        self.assertEqual(service.stop(), 0)
        for file in (self.dir / "state").glob("log-*"):
            file.unlink()
        self.web.down = False

    def test_a_snapshot_that_is_past_them(self):
        self.without_log()
        service = self.start()
        self.updates(100)
        self.committed(service)
        told, got = self.check(service)
        self.assertEqual(told, got)

    def test_what_cannot_be_made_again_is_told(self):
        self.without_log()
        self.broker.delete_records(self.input, self.sent)
        service = self.start()
        self.updates(100)
        self.committed(service)
        self.settled(service, self.web)
        self.assertEqual(service.stop(), 0)
        lost = [event for event in service.events() if event["event"].startswith("alerts are lost with the log")]
        self.assertEqual([event["sink"] for event in lost], ["web"])
        self.assertIn("cannot be made again, because the input is gone", service.log())
        missing = {alert["batch"] for alert in self.witness.alerts()} - {alert["batch"] for alert in self.web.alerts()}
        self.assertTrue(missing)
        self.assertLessEqual(int(lost[0]["from"]), min(missing))
        self.assertLessEqual(max(missing), int(lost[0]["to"]))

    def shared_instance(self, name, **changes):
        """An instance with a directory of its own, that shares many snapshots."""
        share = {"path": str(self.dir / "share")}
        return self.start(self.configure(f"{name}.yaml", name, state__share=share, state__snapshot_every="1s", **changes),
                          ready=name == "first", log=f"{name}.log")

    def shared(self):
        """The batches of the shared snapshots."""
        return sorted(int(path.name.split(".")[2]) for path in (self.dir / "share").glob(self.app + ".*.dms"))

    def share_more(self, service, times):
        for _ in range(times):
            self.updates(300)
            self.committed(service)
            self.witnessed(service)
            batch = service.status()["batch"]
            service.wait(lambda batch=batch: self.shared()[-1:] == [batch], "a shared snapshot")

    def test_the_share_keeps_a_snapshot_before_what_waits(self):
        """The input lacks what stands before the alerts that wait, and newer snapshots have been shared than are kept."""
        first = self.shared_instance("first")
        self.share_more(first, 1)
        self.settled(first, self.web)
        start, read = self.shared()[-1], self.sent
        self.web.down = True
        self.share_more(first, 4)
        self.assertEqual((self.shared()[0], len(self.shared())), (start, 3))
        self.broker.delete_records(self.input, read)
        second = self.shared_instance("second")
        second.wait(lambda: second.status().get("standby", {}).get("could_take_over"), "that it could take over")
        first.kill()
        self.web.down = False
        second.wait_ready(60)
        told, got = self.check(second)
        self.assertEqual(told, got)
        self.assertNotIn("are lost with the log", second.log())

    def test_a_standby_says_that_what_waits_could_not_be_made_again(self):
        first = self.shared_instance("first")
        self.share_more(first, 1)
        self.settled(first, self.web)
        self.web.down = True
        self.share_more(first, 1)
        second = self.shared_instance("second")
        could = lambda: second.status().get("standby", {}).get("could_take_over")
        second.wait(could, "that it could take over")
        self.broker.delete_records(self.input, self.sent)
        second.wait(lambda: not could(), "that it could not")
        why = second.status()["standby"]["why_not"]
        self.assertIn("alerts that 'web' waits for", why)
        self.assertIn(f"{self.input}[0]: offset", why)
        self.assertEqual(second.get("/readyz?for=takeover")[0], 503)
        self.assertEqual(second.metric("deltamatch_standby_ready"), {"": 0})
        self.web.down = False
        self.settled(first, self.web)
        second.wait(could, "that it could again")
        self.assertEqual((second.stop(), first.stop()), (0, 0))

    def test_a_shared_snapshot_nearer_than_that_of_the_directory_is_taken(self):
        """The directory has one before what waits, but the input lacks what follows it."""
        first, second = self.shared_instance("first"), self.shared_instance("second")
        self.share_more(first, 1)
        second.wait(lambda: second.status().get("standby", {}).get("batch") == self.shared()[-1], "a standby that follows")
        second.wait(lambda: "snapshot_made" in second.log() or "snapshot_fetched" in second.log(), "its snapshot")
        self.assertEqual(second.stop(), 0)
        self.share_more(first, 1)
        self.settled(first, self.web)
        read = self.sent
        self.web.down = True
        self.share_more(first, 1)
        self.broker.delete_records(self.input, read)
        first.kill()
        self.web.down = False
        second = self.shared_instance("second").wait_ready(60)
        told, got = self.check(second)
        self.assertEqual(told, got)
        self.assertNotIn("are lost with the log", second.log())

    def test_a_crash_while_alerts_are_made_again(self):
        self.configure()
        service = self.start()
        self.web.down = True
        self.updates(1200)
        self.committed(service)
        self.witnessed(service)
        self.lose(service)
        for entries in (2, 6):  # the log gets so many entries
            service = self.start_signalled("logged", entries, signal.SIGKILL)
            self.assertEqual(service.ended(60), -signal.SIGKILL, service.log())
        self.web.down = False
        service = self.start()
        told, got = self.check(service)
        self.assertEqual(told, got)


if __name__ == "__main__":
    main()
