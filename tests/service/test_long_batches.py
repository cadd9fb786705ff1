"""Batches that explode: they are visible, a stop or a reload ends them, and a budget limits them."""

import json
import shutil
import signal
import time

from harness import edge, main, ServiceTest

LENGTH = 21
LONG = "".join(f"(v{i})-->" for i in range(LENGTH)) + "(v0)"
MUTUAL = "(a)-->(b)-->(a)"
WIDE = "(a)-[:IN]->(b)-[:BRIDGE]->(c)-[:OUT]->(d)"
HUB = 100  # edges to it, and from it


def crowd(size=LENGTH - 1):
    """Edges in both directions between any two vertices. They are too few for a long ring, and the search for it takes forever."""
    return [edge(f"c{i}", f"c{j}") for i in range(size) for j in range(size) if i != j]


PAIRS = len(crowd()) // 2
# A batch is cut once it has the whole crowd. A part of it may take long and yet end.
WHOLE = {"batch__max_updates": len(crowd()), "batch__max_delay": "60s"}


def hub():
    return [edge(f"from-{i}", "left", label="IN") for i in range(HUB)] + [edge("right", f"to-{i}", label="OUT") for i in range(HUB)]


BRIDGE = edge("left", "right", label="BRIDGE")


class LongBatches(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.place = f"{self.input}[0]"
        self.sent = 0

    def send(self, *records):
        self.broker.produce(self.input, list(records))
        self.sent += len(records)

    def settled(self, service):
        service.wait_committed({self.place: self.sent})

    def query(self, name, pattern, **more):
        return {"name": name, "pattern": pattern, "sinks": ["alerts"], **more}

    def alerts_of(self, name, lines=None):
        lines = self.alert_lines() if lines is None else lines
        return [line for line in lines if json.loads(line)["query"] == name]

    def explode(self, **changes):
        """A service in a batch that never ends."""
        self.config(batch__max_match_time="300ms", queries=[self.query("mutual", MUTUAL), self.query("long", LONG)], **WHOLE, **changes)
        service = self.start()
        self.send(*crowd())
        service.wait(lambda: service.get("/readyz")[0] == 503, "the batch to take long")
        return service

    def test_a_batch_that_takes_long_is_seen(self):
        service = self.explode()
        batch = len(self.marks())
        code, why = service.get("/readyz")
        self.assertEqual(code, 503)
        self.assertIn(f"batch {batch} has been matching for ", why)
        service.wait(lambda: "query 'long'" in service.get("/readyz")[1], "the query's name")
        words = [event for event in service.events() if event.get("event") == "a batch takes long to match"]
        self.assertEqual(words[0]["batch"], str(batch))
        service.wait(lambda: any(event.get("query") == "long" for event in service.events()
                                 if event.get("event") == "a batch takes long to match"), "the query's name in the log")
        self.assertGreaterEqual(sum(service.metric("deltamatch_batch_under_way_seconds").values()), 0.3)
        under_way = service.status()["under_way"]
        self.assertEqual((under_way["batch"], under_way["query"]), (batch, "long"))
        self.assertEqual(service.get("/livez")[0], 200)
        # Records that were read but not committed count as lag.
        behind = self.sent - self.marks()[-1]["ends"][self.input]["0"]
        self.assertGreater(behind, 0)
        service.wait(lambda: sum(service.metric("deltamatch_consumer_lag").values()) == behind, f"a lag of {behind}")
        self.assertEqual(service.status()["partitions"][self.place]["lag"], behind)
        service.kill()

    def test_sigterm_abandons_the_batch_in_time_and_the_next_start_takes_it_again(self):
        service = self.explode(shutdown_timeout="4s", state__snapshot_every="1h")
        before = self.marks()
        begin = time.monotonic()
        self.assertEqual(service.stop(30), 0, service.log())
        self.assertLess(time.monotonic() - begin, 5.5)
        self.assertIn("a batch was abandoned because the service stops", service.log())
        self.assertEqual(self.marks(), before)
        self.assertTrue((self.dir / "state" / f"snapshot-{before[-1]['batch']:020}.dms").exists())
        self.config(queries=[self.query("mutual", MUTUAL)])
        service = self.start()
        self.settled(service)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.check_alerts(queries=[f"mutual={MUTUAL}"])), PAIRS)

    def test_a_reload_does_not_wait_for_the_batch(self):
        service = self.explode()
        self.config(queries=[self.query("mutual", MUTUAL)])
        code, answer = service.get("/reload", "POST", timeout=60)
        self.assertEqual((code, json.loads(answer)["removed"]), (200, ["long"]), answer)
        self.settled(service)
        service.wait_ready()
        self.assertIn("the batch that took long is matched", service.log())
        self.assertEqual(sum(service.metric("deltamatch_batch_under_way_seconds").values()), 0)
        self.assertNotIn("under_way", service.status())
        self.assertEqual(service.stop(), 0)
        self.assertEqual(len(self.check_alerts(queries=[f"mutual={MUTUAL}"])), PAIRS)

    def check_suspended(self, service, name, over):
        status = service.status()
        self.assertEqual(list(status["suspended"]), [name])
        self.assertEqual(status["suspended"][name]["over"], over)
        self.assertNotIn(name, status["queries"])
        self.assertEqual(service.metric("deltamatch_query_suspended"), {f'{{query="{name}"}}': 1})

    def test_a_query_over_its_time_is_suspended_until_a_reload_and_the_others_go_on(self):
        self.config(queries=[self.query("mutual", MUTUAL), self.query("long", LONG, budget={"time": "200ms"})])
        service = self.start()
        self.send(*crowd())
        self.settled(service)
        self.check_suspended(service, "long", "timeout")
        self.assertEqual(service.metric("deltamatch_query_over_budget_total"), {'{over="timeout",query="long"}': 1})
        words = [event for event in service.events() if event.get("event") == "a query exceeded its budget and is suspended"]
        self.assertEqual([(word["query"], word["budget"]) for word in words], [("long", "budget.time (0.2 s)")])
        batch = service.status()["suspended"]["long"]["batch"]
        marker = json.dumps({"v": 1, "query": "long", "batch": batch, "partial": "timeout", "matches": 0}, separators=(",", ":"))
        self.assertEqual(self.alerts_of("long"), [marker])
        self.send(*[edge(f"r{i}", f"r{(i + 1) % LENGTH}") for i in range(LENGTH)])  # it would find this now
        self.settled(service)
        self.assertEqual(service.stop(), 0)

        service = self.start()  # recovers from the snapshot
        self.check_suspended(service, "long", "timeout")
        self.assertIn('"a query is suspended"', service.log())
        service.kill()
        shutil.rmtree(self.dir / "state")
        service = self.start()  # recovers from the input, with the commit records
        self.check_suspended(service, "long", "timeout")
        self.assertEqual(self.alerts_of("long"), [marker])

        code, answer = service.get("/reload", "POST")
        self.assertEqual((code, json.loads(answer)["added"]), (200, ["long"]), answer)
        self.assertEqual(service.status()["suspended"], {})
        self.assertEqual(service.metric("deltamatch_query_suspended"), {'{query="long"}': 0})
        self.send(edge(f"r{LENGTH - 1}", "r0", "-"), *[edge(f"s{i}", f"s{(i + 1) % LENGTH}") for i in range(LENGTH)])
        self.settled(service)
        self.assertEqual(service.stop(), 0)
        self.assertEqual([json.loads(line).get("sign") for line in self.alerts_of("long")], [None, "-", "+"])
        self.check_alerts(queries=[f"mutual={MUTUAL}"], lines=self.alerts_of("mutual"))
        marks = self.marks()
        self.assertEqual([sorted(mark["queries"]) for mark in (marks[batch - 1], marks[batch], marks[-1])],
                         [["long", "mutual"], ["mutual"], ["long", "mutual"]])
        resumed = next(mark["batch"] for mark in marks[batch:] if "long" in mark["queries"])
        self.assertEqual([mark["batch"] for mark in marks if "suspended" in mark], list(range(batch, resumed)))

    def test_a_query_over_its_matches_is_suspended_in_every_sink_and_whatever_is_killed(self):
        file = self.dir / "alerts.jsonl"
        self.config(state__snapshot_every="1h", budget={"matches": 1000},
                    sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "file": {"type": "file", "path": str(file)}},
                    queries=[self.query("bridge", "(a)-[:BRIDGE]->(b)"), {"name": "wide", "pattern": WIDE, "sinks": ["alerts", "file"]}])
        service = self.start()
        self.send(*hub())
        self.settled(service)
        self.assertEqual(service.stop(), 0)
        self.send(BRIDGE)
        service = self.start_signalled("committed", 1, signal.SIGKILL)
        self.assertEqual(service.ended(60), -signal.SIGKILL, service.log())
        for _ in range(2):
            service = self.start()
            self.settled(service)
            self.check_suspended(service, "wide", "limit")
            service.wait(lambda: service.status()["sinks"]["file"]["undelivered"] == 0, "delivery")
            batch = service.status()["suspended"]["wide"]["batch"]
            marker = json.dumps({"v": 1, "query": "wide", "batch": batch, "partial": "limit", "matches": 0}, separators=(",", ":"))
            self.assertEqual(self.alerts_of("wide"), [marker])
            self.assertEqual(file.read_text().splitlines(), [marker])
            self.assertEqual(len(self.alerts_of("bridge")), 1)
            service.kill()

    def test_a_query_over_its_budget_stops_the_service_if_told_to(self):
        queries = [self.query("bridge", "(a)-[:BRIDGE]->(b)"), self.query("wide", WIDE, budget={"matches": 1000, "then": "stop"})]
        self.config(queries=queries)
        service = self.start()
        self.send(*hub())
        self.settled(service)
        before = self.marks()
        self.send(BRIDGE)
        self.assertEqual(service.ended(60), 65, service.log())
        self.assertEqual(self.marks(), before)
        self.assertEqual(self.alert_lines(), [])
        for _ in range(2):  # each start ends in the same way
            service = self.start(ready=False)
            self.assertEqual(service.ended(60), 65, service.log())
            self.assertIn(f"batch {len(before)} takes the query 'wide' over its budget.matches (1000)", service.log())
            self.assertIn("raise the query's budget, or set its budget.then to suspend", service.log())
            self.assertEqual(self.marks(), before)
        queries[1]["budget"]["matches"] = HUB * HUB
        self.config(queries=queries)
        service = self.start()
        self.settled(service)
        self.assertEqual(service.stop(), 0)
        self.check_alerts(queries=["bridge=(a)-[:BRIDGE]->(b)", f"wide={WIDE}"])
        self.assertEqual(len(self.alerts_of("wide")), HUB * HUB)


if __name__ == "__main__":
    main()
