"""Queries of a running service over REST, with curl as people use it."""

import json
import re
import signal
import subprocess
import threading
import time
import urllib.parse

import openapi
from harness import PROGRAM, RING, edge, main, ServiceTest

TOKEN = "0123456789-abcdefghij"
PAIR = "(a)-->(b)-->(a)"
EDGE = "(a)-->(b)"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.text = status, headers, body

    @property
    def body(self):
        return json.loads(self.text)


class QueriesApi(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.sent = 0
        (self.dir / "token").write_text(TOKEN + "\n")

    def configure(self, **changes):
        return self.config(http={"listen": "127.0.0.1:0", "admin_token": {"file": str(self.dir / "token")}}, **changes)

    def send(self, service, *records):
        self.broker.produce(self.input, list(records))
        self.sent += len(records)
        service.wait_committed({f"{self.input}[0]": self.sent})

    def curl(self, service, path, *options, token=TOKEN):
        """What curl prints, with the status and the headers of the answer."""
        service.get("/livez")  # finds the address
        sign = ["-H", f"Authorization: Bearer {token}"] if token else []
        done = subprocess.run(["curl", "-sS", "-i", "--max-time", "60", *sign, *options, service.url + path], capture_output=True, check=False)
        if done.returncode != 0:
            return Answer(0, {}, done.stderr.decode())
        text = done.stdout.decode()
        while text.startswith("HTTP/1.1 100"):
            text = text.partition("\r\n\r\n")[2]
        head, _, body = text.partition("\r\n\r\n")
        lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        answer = Answer(int(lines[0].split()[1]), headers, body)
        method = options[options.index("-X") + 1] if "-X" in options else "POST" if {"-d", "--data-binary"} & set(options) else "GET"
        openapi.check_answer(method, path, answer.status, headers, body)
        return answer

    def put(self, service, name="pair", pattern=PAIR, status=200, **more):
        answer = self.curl(service, f"/v1/queries/{name}", "-X", "PUT", "-d", json.dumps({"pattern": pattern, **more}))
        self.assertEqual(answer.status, status, answer.text)
        return answer

    def create(self, service, name="pair", pattern=PAIR, **more):
        answer = self.curl(service, "/v1/queries", "-d", json.dumps({"name": name, "pattern": pattern, **more}))
        self.assertEqual(answer.status, 201, answer.text)
        return answer

    def names(self, service):
        answer = self.curl(service, "/v1/queries", token=None)
        self.assertEqual(answer.status, 200, answer.text)
        return {query["name"]: query for query in answer.body["queries"]}

    def alerts_of(self, query):
        return [json.loads(line) for line in self.alert_lines() if json.loads(line)["query"] == query]


class Changes(QueriesApi):
    def test_create_see_an_alert_replace_and_delete(self):
        self.configure()
        service = self.start()
        self.send(service, edge(1, 2))
        made = self.create(service)
        self.assertEqual(made.headers["Location"], "/v1/queries/pair")
        self.assertEqual(made.headers["ETag"], made.body["etag"])
        marks = self.marks()
        self.assertEqual(marks[made.body["batch"]]["over_http"], ["pair"])
        self.assertIn("pair", marks[made.body["batch"]]["queries"])
        self.assertNotIn("pair", marks[made.body["batch"] - 1]["queries"])
        self.send(service, edge(2, 1))
        self.assertEqual(len(self.alerts_of("pair")), 1)

        listed = self.names(service)
        self.assertEqual(set(listed), {"pair", "ring"})
        self.assertEqual((listed["pair"]["source"], listed["ring"]["source"]), ("api", "file"))
        self.assertEqual(listed["ring"]["pattern"], RING)
        self.assertEqual(listed["pair"]["matches"], {"new": 1, "removed": 0})
        self.assertEqual(listed["pair"]["sinks"], ["alerts"])
        one = self.curl(service, "/v1/queries/pair", token=None)
        self.assertEqual(one.headers["ETag"], made.headers["ETag"])
        explained = subprocess.run([PROGRAM, "explain", "--query", f"pair={PAIR}", "--directed"],
                                   capture_output=True, text=True, check=True).stdout
        self.assertEqual(one.body["plan"].strip(), explained.partition("\n")[2].strip())

        same = self.curl(service, "/v1/queries/pair", "-X", "PUT", "-d", json.dumps({"pattern": PAIR}))
        self.assertEqual((same.status, same.body["changed"]), (200, False))
        other = self.curl(service, "/v1/queries/pair", "-X", "PUT", "-d", json.dumps({"pattern": EDGE}))
        self.assertEqual((other.status, other.body["changed"]), (200, True))
        self.send(service, edge(5, 6))
        self.assertEqual([alert["bindings"] for alert in self.alerts_of("pair")][1:], [{"a": 5, "b": 6}])
        self.assertEqual(self.names(service)["pair"]["matches"], {"new": 1, "removed": 0}, "of the new definition")

        gone = self.curl(service, "/v1/queries/pair", "-X", "DELETE")
        self.assertEqual(gone.status, 200)
        self.send(service, edge(7, 8))
        self.assertEqual(len(self.alerts_of("pair")), 2)
        self.assertEqual(set(self.names(service)), {"ring"})
        self.assertEqual(self.curl(service, "/v1/queries/pair").status, 404)
        self.assertEqual(self.curl(service, "/v1/queries/pair", "-X", "DELETE").status, 404)
        self.assertEqual(service.stop(), 0)
        self.assertNotIn("over_http", self.marks()[-1])

    def test_existing_matches_are_reported_on_request(self):
        self.configure()
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 1), edge(3, 4), edge(4, 3))
        made = self.create(service, report_existing=True)
        self.assertEqual([alert["batch"] for alert in self.alerts_of("pair")], [made.body["batch"]] * 2)
        self.assertEqual(service.stop(), 0)
        service = self.start()
        self.send(service, edge(9, 10))
        self.assertEqual(len(self.alerts_of("pair")), 2, "a restart reports nothing again")

    def test_a_put_reports_existing_matches_on_request(self):
        self.configure()
        service = self.start()
        self.send(service, edge(1, 2), edge(2, 1), edge(3, 4), edge(4, 3))
        made = self.put(service, status=201, report_existing=True)
        self.assertEqual([(alert["batch"], alert["cause"]) for alert in self.alerts_of("pair")], [(made.body["batch"], [])] * 2)
        self.assertEqual(self.marks()[made.body["batch"]]["over_http"], ["pair"])
        self.assertEqual(self.names(service)["pair"]["matches"], {"new": 2, "removed": 0})
        self.assertFalse(self.put(service, report_existing=True).body["changed"])
        self.assertEqual(len(self.alerts_of("pair")), 2, "the same definition is reported once")

        other = self.put(service, pattern=EDGE, report_existing=True)
        self.assertEqual([alert["batch"] for alert in self.alerts_of("pair")][2:], [other.body["batch"]] * 4, "what replaces it is new")
        self.put(service, pattern=PAIR)
        self.assertEqual(len(self.alerts_of("pair")), 6, "nobody asked for those of this one")
        self.put(service, pattern=PAIR, report_existing=True)
        self.assertEqual(len(self.alerts_of("pair")), 6, "a query that stands is not new")
        self.send(service, edge(5, 6), edge(6, 5))
        self.assertEqual(len(self.alerts_of("pair")), 7)

        before = len(self.marks()), self.names(service)
        refused = self.put(service, pattern=EDGE, status=422, report_existing=True, budget={"matches": 5})
        self.assertIn("the existing matches of 'pair' are more than 5 (budget.matches)", refused.body["error"])
        refused = self.put(service, pattern=EDGE, status=422, report_existing=True, sinks=[])
        self.assertIn("the query has no sink to report to", refused.body["error"])
        self.assertEqual((len(self.marks()), self.names(service)), before, "what is refused changes nothing")
        self.assertEqual(service.stop(), 0)
        service = self.start()
        self.assertEqual(len(self.alerts_of("pair")), 7, "a restart reports nothing again")
        self.assertEqual(service.stop(), 0)

    def test_a_suspended_query_that_is_put_again_reports_what_matched_meanwhile(self):
        self.configure()
        service = self.start()
        hub = {"name": "hub", "pattern": "(a)-->(b)-->(c)", "report_existing": True}
        self.put(service, **hub, status=201, budget={"matches": 5})
        self.send(service, *[edge(f"s{i}", "hub") for i in range(10)], *[edge("hub", f"t{i}") for i in range(10)])
        service.wait(lambda: self.names(service)["hub"]["state"] == "suspended", "suspension")
        reported = {alert["id"] for alert in self.alerts_of("hub") if "id" in alert}
        again = self.put(service, **hub, budget={"matches": 1000})
        alerts = [alert for alert in self.alerts_of("hub") if alert.get("batch") == again.body["batch"]]
        self.assertEqual(len(alerts), 100)
        self.assertLess(len(reported), 100)
        self.assertEqual(self.names(service)["hub"]["state"], "standing")
        self.assertEqual(service.stop(), 0)

    def test_what_is_wrong_is_told_with_its_place(self):
        self.configure()
        service = self.start()
        for body, status, key, part in [
                ('{"name": "x", "pattern": "(a)-->(b)-["}', 422, "pattern", "expected ']'"),
                ('{"name": "x", "pattern": "(a)-->(b)", "modus": 1}', 422, "modus", "does not exist"),
                ('{"name": "x", "pattern": "(a)-->(b)", "sinks": ["nowhere"]}', 422, "sinks", "there is no sink"),
                ('{"name": "x", "pattern": "(a)-->(b)", "file": "/etc/passwd"}', 422, "file", "does not exist"),
                ('{"name": "x", "pattern": "(a)-->(b) WHERE a.x > 3"}', 422, "pattern", "no attribute 'x'"),
                ('{"name": "x", "pattern": "${HOME}"}', 422, "pattern", "expected"),
                ('{"name": "x"}', 422, "pattern", "missing"),
                ('{"pattern": "(a)-->(b)"}', 422, "name", "missing"),
                ('{"name": "", "pattern": "(a)-->(b)"}', 422, "name", "empty"),
                ('{"name": ".", "pattern": "(a)-->(b)"}', 422, "name", "cannot be part of a path"),
                ('{"name": "..", "pattern": "(a)-->(b)"}', 422, "name", "cannot be part of a path"),
                (r'{"name": "x\u0000y", "pattern": "(a)-->(b)"}', 422, "name", "control character"),
                (r'{"name": "x\u0085", "pattern": "(a)-->(b)"}', 422, "name", "control character"),
                ('{"name": "x", "pattern": ["(a)-->(b)"]}', 422, "pattern", "this is a list"),
                ('{"name": "x", "name": "y", "pattern": "(a)-->(b)"}', 400, "name", "twice"),
                ('{"name": "x", "pattern": "(a)-->(b)"', 400, None, "at line 1"),
                ('[' * 100_00, 400, None, "nested"),
                ('"ring"', 400, None, "no JSON object"),
                ("", 400, None, "no JSON"),
                ("name=x&pattern=y", 400, None, "no JSON")]:
            answer = self.curl(service, "/v1/queries", "-d", body)
            self.assertEqual(answer.status, status, (body[:60], answer.text))
            problem = answer.body["problems"][0]
            self.assertEqual(problem.get("key"), key, body[:60])
            self.assertIn(part, problem["what"], body[:60])
            self.assertIn(part, answer.body["error"])
            self.assertTrue(problem["remedy"], body[:60])
        bad = self.curl(service, "/v1/queries", "-d", json.dumps({"name": "x", "pattern": "(a)-->(b)\n-->("})).body["problems"][0]
        self.assertEqual((bad["line"], bad["column"]), (2, 5))
        self.assertEqual(self.curl(service, "/v1/queries", "--data-binary", b'{"name": "x\xff", "pattern": "(a)-->(b)"}').status, 400)
        self.assertEqual(self.curl(service, "/v1/queries", "-d", json.dumps({"name": "x", "pattern": " " * 70_000})).status, 413)
        self.assertEqual(self.curl(service, "/v1/queries/y", "-X", "PUT", "-d", json.dumps({"name": "x", "pattern": EDGE})).status, 422)
        self.assertEqual(self.curl(service, "/v1/queries/a%09b", "-X", "PUT", "-d", json.dumps({"pattern": EDGE})).status, 422)
        self.assertEqual(self.curl(service, "/v1/queries/%zz").status, 400)
        self.assertEqual(set(self.names(service)), {"ring"}, "nothing of that was made")

    def test_checking_changes_nothing(self):
        self.configure()
        service = self.start()
        batch = self.names(service)["ring"], len(self.marks())
        good = self.curl(service, "/v1/queries?validate=true", "-d", json.dumps({"name": "x", "pattern": EDGE}))
        self.assertEqual((good.status, good.body["valid"]), (200, True))
        self.assertEqual(self.curl(service, "/v1/queries?validate", "-d", '{"name": "x", "pattern": "(a"}').status, 422)
        for parameter in ("validat=true", "validate=yes", "validate=true&x"):
            answer = self.curl(service, f"/v1/queries?{parameter}", "-d", json.dumps({"name": "x", "pattern": EDGE}))
            self.assertEqual(answer.status, 400, "a mistyped parameter must not make the query")
        self.assertEqual((self.names(service)["ring"], len(self.marks())), batch)

    def test_two_people_do_not_overwrite_each_other(self):
        self.configure()
        service = self.start()
        first = self.create(service).headers["ETag"]
        put = ["-X", "PUT", "-d", json.dumps({"pattern": PAIR, "sinks": []})]
        self.assertEqual(self.curl(service, "/v1/queries/pair", *put, "-H", f"If-Match: {first}").status, 200)
        late = self.curl(service, "/v1/queries/pair", "-X", "PUT", "-d", json.dumps({"pattern": EDGE}), "-H", f"If-Match: {first}")
        self.assertEqual(late.status, 412)
        self.assertEqual(self.curl(service, "/v1/queries/pair", "-X", "DELETE", "-H", f"If-Match: {first}").status, 412)
        self.assertEqual(self.curl(service, "/v1/queries/new", "-X", "PUT", "-d", json.dumps({"pattern": EDGE}), "-H", "If-Match: *").status, 412)
        self.assertEqual(self.curl(service, "/v1/queries/pair", *put, "-H", "If-None-Match: *").status, 412)
        self.assertEqual(self.curl(service, "/v1/queries/new", "-X", "PUT", "-d", json.dumps({"pattern": EDGE}), "-H", "If-None-Match: *").status, 201)
        self.assertEqual(self.curl(service, "/v1/queries", "-d", json.dumps({"name": "pair", "pattern": EDGE})).status, 409)
        now = self.curl(service, "/v1/queries/pair").headers["ETag"]
        self.assertEqual(self.curl(service, "/v1/queries/pair", "-H", f"If-None-Match: {now}").status, 304)

    def test_names_are_encoded_in_paths(self):
        self.configure()
        service = self.start()
        name = "a/b ä%?#"
        made = self.create(service, name=name)
        self.assertEqual(made.headers["Location"], "/v1/queries/" + urllib.parse.quote(name, safe=""))
        self.assertEqual(self.curl(service, made.headers["Location"]).body["name"], name)
        self.assertEqual(self.curl(service, made.headers["Location"], "-X", "DELETE").status, 200)

    def test_queries_of_the_file_belong_to_the_file(self):
        self.configure()
        service = self.start()
        for options in (["-X", "PUT", "-d", json.dumps({"pattern": EDGE})], ["-X", "DELETE"]):
            answer = self.curl(service, "/v1/queries/ring", *options)
            self.assertEqual(answer.status, 409)
            self.assertIn("service.yaml:", answer.body["error"])
        self.create(service)
        queries = self.last_config["queries"]
        self.configure(queries=[*queries, {"name": "pair", "pattern": EDGE}])
        answer = self.curl(service, "/reload", "-X", "POST")
        self.assertEqual(answer.status, 409)
        self.assertIn("made over HTTP", answer.body["error"])
        self.configure(queries=[*queries, {"name": "edge", "pattern": EDGE}])
        self.assertEqual(self.curl(service, "/reload", "-X", "POST").body["added"], ["edge"])
        self.assertEqual(set(self.names(service)), {"ring", "edge", "pair"}, "a reload keeps those that were made over HTTP")

    def test_a_suspended_query_stays_so_until_it_is_sent_again(self):
        self.configure()
        service = self.start()
        self.create(service, name="hub", pattern="(a)-->(b)-->(c)", budget={"matches": 5})
        self.send(service, *[edge(f"s{i}", "hub") for i in range(10)], *[edge("hub", f"t{i}") for i in range(10)])
        service.wait(lambda: self.names(service)["hub"]["state"] == "suspended", "suspension")
        self.assertEqual(self.names(service)["hub"]["suspended"]["over"], "limit")
        self.create(service)
        self.assertEqual(self.names(service)["hub"]["state"], "suspended", "another change does not concern it")
        self.assertEqual(service.stop(), 0)
        service = self.start()
        self.assertEqual(self.names(service)["hub"]["state"], "suspended", "a restart neither")
        again = self.curl(service, "/v1/queries/hub", "-X", "PUT", "-d",
                          json.dumps({"pattern": "(a)-->(b)-->(c)", "budget": {"matches": 5}}))
        self.assertTrue(again.body["changed"])
        self.assertEqual(self.names(service)["hub"]["state"], "standing")


    def test_a_suspended_query_that_is_deleted_leaves_no_metric_behind(self):
        self.configure()
        service = self.start()
        definition = {"name": "hub", "pattern": "(a)-->(b)-->(c)", "budget": {"matches": 5}}
        self.create(service, **definition)
        self.send(service, *[edge(f"s{i}", "hub") for i in range(10)], *[edge("hub", f"t{i}") for i in range(10)])
        service.wait(lambda: self.names(service)["hub"]["state"] == "suspended", "suspension")
        self.assertIn('query="hub"', service.get("/metrics")[1])
        self.assertEqual(self.curl(service, "/v1/queries/hub", "-X", "DELETE").status, 200)
        self.assertNotIn('query="hub"', service.get("/metrics")[1])
        self.assertNotIn("hub", service.status()["matches"])
        queries = self.last_config["queries"]
        self.configure(queries=[*queries, definition])
        self.curl(service, "/reload", "-X", "POST")
        self.send(service, *[edge("hub", f"u{i}") for i in range(10)])
        service.wait(lambda: self.names(service)["hub"]["state"] == "suspended", "suspension")
        self.configure(queries=queries)
        self.assertEqual(self.curl(service, "/reload", "-X", "POST").body["removed"], ["hub"])
        self.assertNotIn('query="hub"', service.get("/metrics")[1])


class ExistingMatches(QueriesApi):
    """330,791,175 matches exist already."""
    MANY = {"name": "many", "pattern": "(a)-->(h), (b)-->(h), (c)-->(h), (d)-->(h)", "report_existing": True}

    def begin(self, **changes):
        self.configure(**changes)
        service = self.start()
        self.send(service, *[edge(f"s{i}", "hub") for i in range(300)])
        return service

    def ask(self, service, **more):
        return self.curl(service, "/v1/queries", "-d", json.dumps({**self.MANY, **more}))

    def test_limits_refuse_the_change_and_nothing_has_changed(self):
        service = self.begin(existing={"max_matches": 200_000})
        before = len(self.marks()), self.names(service)
        for limits, reason in [({"budget": {"matches": 1000}}, "are more than 1000 (budget.matches)"),
                               ({"budget": {"time": "1ms"}}, "take longer than 0.001 s to list (budget.time)"),
                               ({}, "are more than 200000 (existing.max_matches)")]:
            answer = self.ask(service, **limits)
            self.assertEqual(answer.status, 422, answer.text)
            self.assertIn(f"the existing matches of 'many' {reason}", answer.body["error"])
            self.assertIn("leave report_existing out", answer.body["error"])
            self.assertEqual((len(self.marks()), self.names(service)), before)
        self.create(service, name="few", pattern="(a)-->(b)", report_existing=True)
        self.assertEqual(len(self.alerts_of("few")), 300)
        self.assertEqual(self.alerts_of("many"), [])
        self.assertEqual(service.stop(), 0)

        self.configure(queries=[*self.last_config["queries"], self.MANY], existing={"max_matches": 1000})
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 78)
        self.assertIn("are more than 1000 (existing.max_matches)", service.log())

    def test_it_is_shown_and_ends_with_the_service(self):
        service = self.begin(existing={"max_time": "10m", "max_matches": 10**12, "max_size": "20GiB"}, batch__max_match_time="500ms")
        answers = []
        client = threading.Thread(target=lambda: answers.append(self.ask(service)))
        client.start()
        service.wait(lambda: service.status().get("under_way", {}).get("seconds", 0) > 0.6, "listing")
        now = service.status()["under_way"]
        self.assertEqual((now["query"], now["existing"]), ("many", True))
        self.assertGreater(now["matches"], 0)
        code, why = service.get("/readyz")
        self.assertEqual(code, 503)
        self.assertIn("the existing matches of query 'many' have been listed for", why)
        for options in (["-X", "DELETE"], ["-X", "PUT", "-d", json.dumps({"pattern": EDGE})]):
            other = self.curl(service, "/v1/queries/many", *options)
            self.assertEqual(other.status, 503, other.text)
            self.assertIn("another change is under way, and nothing of this one is done: the existing matches", other.body["error"])
        code, why = service.get("/reload", method="POST")
        self.assertEqual(code, 401)
        self.assertEqual(self.curl(service, "/reload", "-X", "POST").status, 409)
        begin = time.monotonic()
        self.assertEqual(service.stop(), 0)
        self.assertLess(time.monotonic() - begin, 10)
        client.join()
        self.assertEqual(answers[0].status, 503, answers[0].text)
        self.assertIn("the service is stopping, and nothing has changed", answers[0].body["error"])
        events = [event["event"] for event in service.events()]
        self.assertIn("a change of the queries was abandoned because the service stops", events)
        self.assertNotIn("the service stopped before it began to work", events)
        service = self.start()
        self.assertEqual(set(self.names(service)), {"ring"})
        self.assertEqual(self.alerts_of("many"), [])
        self.assertEqual(service.stop(), 0)


class Access(QueriesApi):
    def test_only_the_token_may_change_something(self):
        self.configure()
        service = self.start()
        body = ["-d", json.dumps({"name": "pair", "pattern": PAIR})]
        missing = self.curl(service, "/v1/queries", *body, token=None)
        self.assertEqual((missing.status, missing.headers["WWW-Authenticate"]), (401, "Bearer"))
        self.assertEqual(self.curl(service, "/v1/queries", *body, token="hunter2-hunter2-hunter2").status, 401)
        self.assertEqual(self.curl(service, "/v1/queries", token=None).status, 200)
        self.assertEqual(self.curl(service, "/reload", "-X", "POST", token=None).status, 401)
        for headers in (["-H", "Host: evil.example"], ["-H", "Origin: http://evil.example"], ["-H", "Sec-Fetch-Site: cross-site"]):
            self.assertEqual(self.curl(service, "/v1/queries", *body, *headers).status, 403, headers)
        guesses = "/v1/queries?guess=[1-100]"  # curl sends these one after the other
        told = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} ", "-H", "Authorization: Bearer hunter2-hunter2-hunter2",
                               *body, service.url + guesses], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(set(told), {"401", "429"})
        last = self.curl(service, "/v1/queries", *body, token="hunter2-hunter2-hunter2")
        if last.status == 429:  # not if a second has passed since
            self.assertEqual(last.headers["Retry-After"], "1")
        self.assertEqual(set(self.names(service)), {"ring"})
        log = service.log()
        self.assertIn("a request had a wrong admin token", log)
        self.assertNotIn("hunter2", log)
        self.assertNotIn(TOKEN, log)
        self.assertEqual(self.curl(service, "/v1/queries", *body).status, 201, "the right one always passes")

    def test_without_a_token_nobody_may(self):
        self.config()
        service = self.start()
        answer = self.curl(service, "/v1/queries", "-d", json.dumps({"name": "pair", "pattern": PAIR}), token=None)
        self.assertEqual(answer.status, 403)
        self.assertIn("set http.admin_token: {file: PATH}", answer.body["error"])
        self.assertEqual(self.curl(service, "/v1/queries/ring", "-X", "DELETE", token=None).status, 403)
        self.assertEqual(self.curl(service, "/reload", "-X", "POST", token=None).status, 200, "as before there were tokens")
        self.assertEqual(self.broker.consume(self.app + ".queries"), [], "no topic is needed")
        addresses = [event["address"] for event in service.events() if event.get("event") == "listening"]
        self.assertTrue(addresses[0].startswith("127.0.0.1:"))


class Description(QueriesApi):
    def test_the_document_and_the_server_have_the_same_paths(self):
        self.configure()
        service = self.start()
        served = self.curl(service, "/v1/openapi.json", token=None)
        self.assertEqual(served.body, openapi.DOCUMENT)
        error = self.curl(service, "/nowhere", token=None).body["error"]
        listed = set()
        for part in error.partition("; use ")[2].split("; "):
            method, _, paths = part.partition(" ")
            listed |= {(method, path) for path in paths.split(", ")}
        self.assertEqual(listed, openapi.operations())
        for method, path in openapi.operations() - {("GET", "/v1/alerts")}:  # its answer does not end
            known = self.curl(service, re.sub(r"{[^}]*}", "ring", path), "-X", method, token=None)
            self.assertNotIn(known.status, (404, 405), (method, path))
        stream = subprocess.run(["curl", "-sS", "-i", "-N", "--max-time", "2", service.url + "/v1/alerts"], capture_output=True, check=False)
        head, _, events = stream.stdout.decode().partition("\r\n\r\n")
        openapi.check_answer("GET", "/v1/alerts", int(head.split()[1]), dict(line.split(": ", 1) for line in head.split("\r\n")[1:]), events)
        self.assertIn("event: start", events)
        for path in ("/status", "/metrics", "/livez", "/readyz"):
            self.assertEqual(self.curl(service, path, token=None).status, 200)
        self.assertEqual(self.curl(service, "/reload", "-X", "POST").status, 200)


class Survives(QueriesApi):
    def test_a_restart_and_a_lost_state_directory(self):
        self.configure()
        service = self.start()
        self.send(service, edge(1, 2))
        self.create(service)
        self.create(service, name="edge", pattern=EDGE, sinks=[])
        self.curl(service, "/v1/queries/edge", "-X", "DELETE")
        before = self.names(service)
        self.assertEqual(service.stop(), 0)
        service = self.start()
        self.assertEqual({name: query["etag"] for name, query in self.names(service).items()},
                         {name: query["etag"] for name, query in before.items()})
        self.send(service, edge(2, 1))
        self.assertEqual(len(self.alerts_of("pair")), 1)
        service.kill()
        subprocess.run(["rm", "-rf", self.dir / "state"], check=True)
        service = self.start()
        self.assertEqual(set(self.names(service)), {"ring", "pair"})
        self.send(service, edge(3, 4), edge(4, 3))
        self.assertEqual(len(self.alerts_of("pair")), 2)
        self.assertEqual(service.stop(), 0)

    def test_a_standby_takes_over_with_it(self):
        self.configure()
        first = self.start(log="first.log")
        standby_config = self.configure(name="standby.yaml", state={"directory": str(self.dir / "standby")})
        second = self.start(standby_config, ready=False, log="second.log")
        second.wait(lambda: second.status().get("state") == "standby", "standby")
        for options in ([], ["-d", json.dumps({"name": "x", "pattern": EDGE})]):
            answer = self.curl(second, "/v1/queries", *options)
            self.assertEqual(answer.status, 503)
            self.assertIn("stands by", answer.body["error"])
        self.create(first)
        self.send(first, edge(1, 2))
        first.kill()
        second.wait_ready()
        self.assertEqual(set(self.names(second)), {"ring", "pair"})
        self.broker.produce(self.input, [edge(2, 1)])
        second.wait_committed({f"{self.input}[0]": 2})
        self.assertEqual(len(self.alerts_of("pair")), 1)
        self.assertEqual(second.stop(), 0)

    def test_a_lost_topic_is_told_and_can_be_mended(self):
        self.configure()
        service = self.start()
        self.create(service)
        self.assertEqual(service.stop(), 0)
        self.broker.delete(self.app + ".queries")
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 78)
        self.assertIn("the query 'pair' was made over HTTP, but its definition is not there", service.log())
        self.configure(queries=[*self.last_config["queries"], {"name": "pair", "pattern": PAIR}])
        service = self.start()
        self.assertEqual(self.names(service)["pair"]["source"], "file")
        self.assertEqual(service.stop(), 0)

    def test_a_query_that_no_longer_fits_is_told(self):
        self.configure(sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "more": {"type": "stdout"}})
        service = self.start()
        self.create(service, sinks=["more"])
        self.assertEqual(service.stop(), 0)
        self.configure()
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 78)
        self.assertIn("there is no sink 'more'", service.log())

    def test_strangers_in_the_topic(self):
        self.configure()
        service = self.start()
        self.create(service)
        self.assertEqual(service.stop(), 0)
        self.broker.produce(self.app + ".queries", [b"hello", b'{"batch": 1}'])
        service = self.start()
        self.assertEqual(set(self.names(service)), {"ring", "pair"})
        self.assertIn("stray_query_record", service.log())
        self.assertEqual(service.stop(), 0)
        self.broker.produce(self.app + ".queries", [b'{"v": 2, "batch": 1, "name": "x", "definition": null}'])
        service = self.start(ready=False)
        self.assertEqual(service.ended(), 1)
        self.assertIn("it has another version", service.log())


class Kills(QueriesApi):
    """At each point of a change it is there after a restart, or it is not, and its alerts agree with that."""

    def check(self, service, made):
        """`made` says whether the change must be there; None: it may."""
        names = set(self.names(service))
        if made is not None:
            self.assertEqual("pair" in names, made)
        marks = self.marks()
        self.assertEqual("pair" in marks[-1].get("over_http", []), "pair" in names)
        self.send(service, edge(2, 1))
        self.assertEqual(len(self.alerts_of("pair")), 1 if "pair" in names else 0)
        self.assertEqual(service.stop(), 0)

    def killed_at(self, point, count):
        self.configure()
        service = self.start()
        self.send(service, edge(1, 2))
        self.assertEqual(service.stop(), 0)
        service = self.start_signalled(point, count, signal.SIGKILL)
        service.wait(lambda: service.get("/readyz")[0] == 200, "readiness")
        self.curl(service, "/v1/queries", "-d", json.dumps({"name": "pair", "pattern": PAIR}))
        self.assertEqual(service.ended(), -signal.SIGKILL)
        return self.start()

    def test_before_the_transaction_ends(self):
        self.check(self.killed_at("transaction", 1), made=False)

    def test_after_the_transaction(self):
        self.check(self.killed_at("committed", 1), made=True)

    def test_at_any_time(self):
        """Kills at times that spread over a change, and loses the state directory every second time."""
        self.configure()
        self.start().stop()
        expected = set()
        for turn in range(8):
            service = self.start()
            self.assertEqual({name for name in self.names(service) if name.startswith("q")}, expected, f"turn {turn}")
            known = set(expected)

            def change(instance=service, number=turn):
                self.curl(instance, "/v1/queries", "-d", json.dumps({"name": f"q{number}", "pattern": PAIR, "report_existing": True}))
                self.curl(instance, f"/v1/queries/q{number - 1}", "-X", "DELETE")

            thread = threading.Thread(target=change)
            thread.start()
            time.sleep(0.004 * turn)
            service.kill()
            thread.join()
            self.instances.clear()
            if turn % 2 == 1:
                subprocess.run(["rm", "-rf", self.dir / "state"], check=True)
            expected = set(self.marks()[-1].get("over_http", []))
            self.assertIn(expected, [known, known | {f"q{turn}"}, (known | {f"q{turn}"}) - {f"q{turn - 1}"}])

    def begin_a_back_fill(self):
        """Kills the service after the first part of a back-fill of 250,000 alerts. Returns how many that part has."""
        self.configure(transaction_timeout="4s")
        service = self.start()
        self.send(service, *[edge(f"s{i}", "hub") for i in range(500)], *[edge("hub", f"t{i}") for i in range(500)])
        self.assertEqual(service.stop(), 0)
        service = self.start_signalled("committed", 1, signal.SIGKILL, DELTAMATCH_SLOW_RECORD="10000")
        service.wait(lambda: service.get("/readyz")[0] == 200, "readiness")
        self.curl(service, "/v1/queries", "-d", json.dumps({"name": "path", "pattern": "(a)-->(b)-->(c)", "report_existing": True}))
        self.assertEqual(service.ended(), -signal.SIGKILL)
        self.assertIn("published", self.commit_records()[-1], "the batch was one transaction")
        return len(self.alerts_of("path"))

    def check_back_fill(self, service):
        self.assertIn("a batch is only partly published", service.log())
        self.assertIn("path", self.names(service))
        ids = [alert["id"] for alert in self.alerts_of("path")]
        self.assertEqual((len(ids), len(set(ids))), (250_000, 250_000))
        self.assertEqual(ids, sorted(ids), "existing matches come in the order of their ids")
        self.assertEqual(service.stop(), 0)

    def test_a_large_back_fill_that_was_begun(self):
        """The definition is committed with the first part of the batch, so whoever completes it knows the query."""
        self.begin_a_back_fill()
        self.check_back_fill(self.start())

    def test_a_large_back_fill_that_was_begun_and_whose_state_is_lost(self):
        first = self.begin_a_back_fill()
        self.assertTrue(0 < first < 250_000, first)
        subprocess.run(["rm", "-rf", self.dir / "state"], check=True)
        self.check_back_fill(self.start())

    def test_a_standby_completes_a_large_back_fill(self):
        config = self.configure(name="standby.yaml", state={"directory": str(self.dir / "standby")}, transaction_timeout="4s")
        self.configure(transaction_timeout="4s")
        self.start().stop()
        self.begin_a_back_fill()
        self.check_back_fill(self.start(config))


if __name__ == "__main__":
    main()
