"""A real Prometheus scrapes a real service: the rules of config/alerts.yml are loaded and fire, and each expression of
config/grafana.json has data. The dashboard is judged by Grafana's own schema.

Skipped (77) without prometheus (scripts/setup --dev).
"""

import json
import math
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

import wheels
from harness import edge, main, RING, ROOT, ServiceTest

wheels.use()
import yaml  # noqa: E402
from grafana_foundation_sdk.cog import plugins  # noqa: E402
from grafana_foundation_sdk.cog.encoder import JSONEncoder  # noqa: E402
from grafana_foundation_sdk.models.dashboard import Dashboard  # noqa: E402

DASHBOARD = json.loads((ROOT / "config/grafana.json").read_text())
RULES = yaml.safe_load((ROOT / "config/alerts.yml").read_text())
WORKERS = re.compile(r"deltamatch_(worker|slot|gate|wrong_digests)_")  # what only workers export
METRIC = re.compile(r"\b(?:deltamatch|process)_[a-z_]+\b")
# With the scenario below these fire, and no other rule does.
FIRE = {"DeltamatchQuerySuspended", "DeltamatchDoubtfulReading", "DeltamatchRecordsShortened", "DeltamatchAlertsDropped"}


def expressions():
    """(panel, expression) of the dashboard."""
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def metrics(expression):
    """The families that an expression reads: a histogram without its suffix."""
    return {re.sub(r"_(bucket|sum|count)$", "", name) if name.endswith(("_seconds_bucket", "_seconds_sum", "_seconds_count")) else name
            for name in METRIC.findall(expression)}


def lost(before, after, path=""):
    """What a reader of the schema did not keep."""
    if isinstance(before, dict):
        for key, value in before.items():
            if value is None:
                continue
            if not isinstance(after, dict) or key not in after:
                yield f"{path}.{key}"
            else:
                yield from lost(value, after[key], f"{path}.{key}")
    elif isinstance(before, list):
        if not isinstance(after, list) or len(before) != len(after):
            yield path
        else:
            for i, (one, other) in enumerate(zip(before, after)):
                yield from lost(one, other, f"{path}[{i}]")
    elif before != after:
        yield path


def through_the_schema(dashboard):
    plugins.register_default_plugins()
    return json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))


class TheDashboard(unittest.TestCase):
    def test_grafanas_schema_knows_each_field(self):
        self.assertEqual(list(lost(DASHBOARD, through_the_schema(DASHBOARD))), [])

    def test_the_schema_finds_what_is_wrong(self):
        wrong = json.loads(json.dumps(DASHBOARD))
        wrong["panels"][1]["gridPos"]["width"] = 3
        wrong["panels"][1]["options"]["colourMode"] = "value"
        self.assertEqual(list(lost(wrong, through_the_schema(wrong))),
                         [".panels[1].gridPos.width", ".panels[1].options.colourMode"])

    def test_the_commands_of_the_page_accept_the_files(self):
        commands = re.findall(r"^ *\$ (promtool .*)$", (ROOT / "docs/guide/operating.md").read_text(), re.MULTILINE)
        self.assertEqual(len(commands), 1)
        done = subprocess.run(["bash", "-c", commands[0]], cwd=ROOT / "config", capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The job in the comment is one, too. Debian's Prometheus does not know Kubernetes, so another discovery stands in.
        text = (ROOT / "config/prometheus.yml").read_text()
        commented = re.sub(r"(?m)^  #( *\S)", r"  \1", text[text.index("  #- job_name"):])
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "prometheus.yml"
            self.assertIn("kubernetes_sd_configs: [{role: pod}]", commented)
            file.write_text("scrape_configs:\n" + commented.replace("kubernetes_sd_configs: [{role: pod}]", "file_sd_configs: [{files: [pods.json]}]"))
            done = subprocess.run(["promtool", "check", "config", file], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_panels_do_not_overlap_and_have_names(self):
        taken, ids = set(), set()
        for panel in DASHBOARD["panels"]:
            self.assertNotIn(panel["id"], ids)
            ids.add(panel["id"])
            self.assertTrue(panel["title"])
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
            if panel["type"] != "row":
                self.assertRegex(panel["description"], r"\.$")

    def test_each_metric_is_in_the_reference(self):
        page = (ROOT / "docs/reference/metrics.md").read_text()
        for title, expression in expressions():
            for metric in metrics(expression):
                with self.subTest(panel=title):
                    self.assertTrue(f"`{metric}`" in page or f"`{metric}{{" in page or metric == "deltamatch_graph_vertices", metric)


class APrometheus:
    """Prometheus on a free port, with config/prometheus.yml but for the target and the intervals."""

    def __init__(self, directory, target, worker):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % free.getsockname()[1]
        config = yaml.safe_load((ROOT / "config/prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["scrape_configs"][0]["static_configs"][0]["targets"] = [target]
        config["scrape_configs"].append(config["scrape_configs"][0] | {"job_name": "deltamatch-workers", "static_configs": [{"targets": [worker]}]})
        folder = directory / "prometheus"
        folder.mkdir()
        (folder / "prometheus.yml").write_text(json.dumps(config))
        shutil.copy(ROOT / "config/alerts.yml", folder)
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                             f"--web.listen-address={self.address}", "--log.level=warn"], stdout=log, stderr=log)

    def get(self, path, **parameters):
        with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as answer:
            return json.loads(answer.read())["data"]

    def wait(self, condition, what, timeout=60):
        end = time.monotonic() + timeout
        while True:
            try:
                if condition():
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no {what}:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.2)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Scraped(ServiceTest):
    """A service that has something to tell for every metric."""

    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.broker.create(self.alerts, max_message_bytes=2000)
        self.config(
            graph__window="24h", input__max_ahead="none", input__on_error="skip",
            batch={"max_updates": 500, "max_delay": "100ms"},
            sinks={"alerts": {"type": "kafka", "topic": self.alerts}, "few": {"type": "kafka", "topic": self.letters, "rate_limit": "1/1h"},
                   "pager": {"type": "webhook", "url": "http://127.0.0.1:9/", "max_tries": 2}},
            queries=[{"name": "ring", "pattern": RING}, {"name": "once", "pattern": "(a)-->(b) ALERT ONCE PER (a) EVERY 1h"},
                     {"name": "many", "pattern": "(a)-->(b)-->(c)", "sinks": [], "budget": {"matches": 3}}])
        self.service = self.start()
        self.done = threading.Event()
        self.producer = threading.Thread(target=self.produce)
        self.producer.start()
        self.addCleanup(self.producer.join)
        self.addCleanup(self.done.set)
        worker = self.config("worker.yaml", application=self.app + "-workers", state__directory=str(self.dir / "worker"),
                             workers__slots=2, input__on_error="skip", sinks__alerts__topic=self.alerts + "-workers")
        self.worker = self.start(worker, log="worker.log")
        self.prometheus = APrometheus(self.dir, *(service.url.removeprefix("http://") for service in (self.service, self.worker)))
        self.addCleanup(self.prometheus.stop)

    def produce(self):
        """Rings, records that cannot be read, and some whose times are in seconds where microseconds are expected."""
        for turn in range(1000):
            records = [edge(f"{turn}-{i}", f"{turn}-{(i + 1) % 3}", time=1_700_000_000 + turn) for i in range(3)]
            records += [edge(f"{turn}-0", f"{turn}-1", time=1_700_000_000 + turn), edge(f"{turn}-0", "other", time=1_700_000_000 + turn), b"{]"]
            if turn % 5 == 0:
                records.append(edge("long" * 250, f"{turn}-0", time=1_700_000_000 + turn))
            self.broker.produce(self.input, records)
            if self.done.wait(0.3):
                return

    def values(self, expression):
        job = "deltamatch-workers" if WORKERS.search(expression) else "deltamatch"
        expression = expression.replace('job="$job"', f'job="{job}"').replace("$__rate_interval", "10s")
        self.assertNotIn("$", expression)
        return [float(result["value"][1]) for result in self.prometheus.get("query", query=expression)["result"]]

    def test_rules_fire_and_panels_have_data(self):
        self.prometheus.wait(lambda: FIRE <= {alert["labels"]["alertname"] for alert in self.prometheus.get("alerts")["alerts"]
                                              if alert["state"] == "firing"}, "alerts")
        alerts = self.prometheus.get("alerts")["alerts"]
        self.assertEqual({alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}, FIRE)
        told = {alert["labels"]["alertname"]: alert["annotations"]["summary"] for alert in alerts}
        self.assertEqual(told["DeltamatchQuerySuspended"], "The query many of deltamatch is suspended.")

        rules = [rule for group in self.prometheus.get("rules")["groups"] for rule in group["rules"]]
        self.assertEqual({rule["name"] for rule in rules}, {rule["alert"] for group in RULES["groups"] for rule in group["rules"]})
        self.assertEqual({(rule["health"], rule.get("lastError", "")) for rule in rules}, {("ok", "")})

        empty = set()

        def all_have_data():
            empty.clear()
            for panel, expression in expressions():
                values = self.values(expression)
                if not values or not all(map(math.isfinite, values)):
                    empty.add((panel, expression))
            return not empty
        try:
            self.prometheus.wait(all_have_data, "data")
        except AssertionError:
            self.fail(f"no data: {sorted(empty)}")

        page = (ROOT / "docs/guide/operating.md").read_text()
        asked = re.findall(r"^\| [^|]*\? \| `(.*)` \|$", page, re.MULTILINE)
        self.assertGreater(len(asked), 4)
        for expression in asked:
            values = self.values(expression)
            self.assertTrue(values and all(map(math.isfinite, values)), expression)

        exported = set()
        for service in (self.service, self.worker):
            exported |= set(re.findall(r"^# TYPE (\S+) ", service.get("/metrics")[1], re.MULTILINE))
        named = set().union(*(metrics(expression) for _, expression in expressions()),
                            *(metrics(rule["expr"]) for group in RULES["groups"] for rule in group["rules"]))
        self.assertEqual(named - exported, set())

    def test_what_costs_most_can_be_asked(self):
        """A query that meets each pair of edges costs more than one that meets each edge. Prometheus and /status agree."""
        self.prometheus.wait(lambda: any(value > 30 for value in self.values('deltamatch_batches_total{job="deltamatch"}')), "batches")
        self.done.set()
        self.producer.join()
        self.prometheus.wait(lambda: sum(self.values("deltamatch_consumer_lag")) == 0, "all records")
        time.sleep(3)
        costs = {result["metric"]["query"]: float(result["value"][1])
                 for result in self.prometheus.get("query", query='deltamatch_query_seconds_total{job="deltamatch"}')["result"]}
        self.assertEqual(set(costs), {"ring", "once", "many"})
        self.assertGreater(min(costs["ring"], costs["once"]), 0)
        for name, seconds in self.service.status()["query_seconds"].items():
            self.assertAlmostEqual(seconds, costs[name], places=6)
        matching, = self.values('deltamatch_step_seconds_sum{job="deltamatch",step="match"}')
        self.assertLessEqual(sum(costs.values()), matching * 1.0001)
        dearest, = self.prometheus.get("query", query='topk(1, deltamatch_query_seconds_total{job="deltamatch"})')["result"]
        self.assertEqual(dearest["metric"]["query"], max(costs, key=costs.get))


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        print("skipped: prometheus is missing; run scripts/setup --dev")
        sys.exit(77)
    main()
