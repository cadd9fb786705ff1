"""The live page in headless Chromium, against a service and a broker.

DELTAMATCH_SCREENSHOTS names a folder for the pictures of docs/guide/live-page.md, if they are wanted (page/README.md).
"""

import base64
import json
import os
import pathlib
import re
import shutil
import socket
import sys
import threading
import time
import unittest
import urllib.parse

from harness import Broker, edge, main, program, RING, ROOT, ServiceTest

try:
    from selenium import webdriver
    from selenium.common.exceptions import NoAlertPresentException, StaleElementReferenceException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None
    debian = "/usr/bin/python3"  # Debian's packages are there, whichever Python is found first
    if os.path.exists(debian) and not os.path.samefile(debian, sys.executable) and "DELTAMATCH_PYTHON" not in os.environ:
        os.execve(debian, [debian, "-B", *sys.argv], {**os.environ, "DELTAMATCH_PYTHON": debian})

HOSTILE = "<img src=x onerror=\"window.hacked=1\">\u202e'\"&lt;script&gt;"
BROWSER = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")


def payment(number, source, target, amount, time_s, op="+", **more):
    return json.dumps({"op": op, "source": source, "target": target, "label": "TRANSFER", "edge": f"tx-{number}", "amount": amount,
                       "time": time_s * 1_000_000, **more}).encode()


@unittest.skipIf(webdriver is None or BROWSER is None or DRIVER is None, "chromium, chromium-driver or python3-selenium is missing; run scripts/setup --dev")
class Page(ServiceTest):
    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.sent = 0

    def browse(self, url, width=1280, height=800, dark=False):
        options = Options()
        options.binary_location = BROWSER
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                         f"--window-size={width},{height}", f"--user-data-dir={self.dir / f'browser-{width}-{dark}-{time.monotonic_ns()}'}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.page = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.addCleanup(self.page.quit)
        self.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        if dark:
            self.emulate_dark()
        self.page.get(url)

    def emulate_dark(self):
        self.page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})

    def start_payments(self, **changes):
        """A service for payments. Its port is fixed, so that the page finds it again after a restart."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.config(**{
            "graph": {"edges": "keyed", "attributes": {"amount": "decimal(2)"}},
            "http__listen": f"127.0.0.1:{self.port}",
            "queries": [
                {"name": "ring", "pattern": "(a)-[t:TRANSFER]->{3,6}(a)", "sinks": ["alerts"]},
                {"name": "pair", "pattern": "(a)-[x:TRANSFER WHERE x.amount > 1000]->(b)-[y:TRANSFER]->(a)", "sinks": ["alerts"]},
                {"name": "counted", "pattern": "(a)-[x:TRANSFER]->(b)", "sinks": []},
            ], **changes})
        self.service = self.start()
        return f"http://127.0.0.1:{self.port}/"

    def send(self, *records):
        self.broker.produce(self.input, list(records))
        self.sent += len(records)
        self.service.wait_committed({f"{self.input}[0]": self.sent})

    def find(self, css):
        return self.page.find_elements(By.CSS_SELECTOR, css)

    def wait(self, condition, what, timeout=30):
        end = time.monotonic() + timeout
        while True:
            try:
                found = condition()
            except StaleElementReferenceException:
                found = None
            if found:
                return found
            if time.monotonic() > end:
                self.fail(f"no {what} within {timeout} s; the page says:\n{self.page.find_element(By.TAG_NAME, 'body').text[:3000]}")
            time.sleep(0.1)

    def text(self, css="body"):
        return "\n".join(element.text for element in self.find(css))

    def rows(self, query=None, sign=None):
        """The alerts in the list: query, sign and text of each."""
        found = [(row.get_attribute("data-query"), row.get_attribute("data-sign"), row.text) for row in self.find("button.alert")]
        return [row for row in found if query in (None, row[0]) and sign in (None, row[1])]

    def choose(self, query, sign="+"):
        row = next(row for row in self.find("button.alert") if (row.get_attribute("data-query"), row.get_attribute("data-sign")) == (query, sign))
        row.click()
        return row

    def check_clean(self):
        """Nothing was blocked, and no error was thrown. What the service did not answer while it was stopped does not count."""
        told = [entry for entry in self.page.get_log("browser") if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]
        self.assertEqual(told, [])

    def screenshot(self, name):
        folder = pathlib.Path(os.environ["DELTAMATCH_SCREENSHOTS"])
        folder.mkdir(parents=True, exist_ok=True)
        self.page.execute_script("scrollTo(0, 0)")
        for form in ("webp", "png"):
            taken = self.page.execute_cdp_cmd("Page.captureScreenshot", {"format": form, **({"quality": 85} if form == "webp" else {})})
            (folder / f"{name}.{form}").write_bytes(base64.b64decode(taken["data"]))

    RING = [("a1", "b1", "1250.00"), ("b1", "c1", "1200.50"), ("c1", "d1", "1100.00"), ("d1", "a1", "1000.10")]

    def send_ring(self):
        self.send(*[payment(i, s, t, amount, 1_767_614_400 + 3600 * i) for i, (s, t, amount) in enumerate(self.RING)])

    def test_alerts_appear_and_a_match_is_drawn(self):
        self.browse(self.start_payments())
        self.wait(lambda: "running, live" in self.text("header"), "connection")
        self.assertIn("No alerts yet", self.text())
        self.wait(lambda: "Counted only, because they have no sinks: counted" in self.text(), "word of the query without alerts")
        self.send_ring()
        self.wait(lambda: len(self.rows("ring", "+")) == 1, "the alert")
        self.choose("ring")
        self.wait(lambda: self.find("g.vertex"), "picture")
        self.assertEqual(sorted(vertex.get_attribute("data-vertex") for vertex in self.find("g.vertex")), ["a1", "b1", "c1", "d1"])
        self.assertEqual(len(self.find("path.edge")), 4)
        self.assertEqual(len(self.find("path.edge.cause")), 4, "all of its edges came in this batch")
        labels = self.text("text.label")
        for _, _, amount in self.RING:
            self.assertIn(amount, labels, "an amount with all its digits")
        self.assertIn("12:00:00", labels)
        self.assertIn("2026-01-05 13:00:00", self.text("table.edges"))
        self.assertIn("tx-3", self.text("table.edges"))
        self.check_picture()
        self.check_clean()

    def check_picture(self):
        """Vertices and labels lie within the picture, and no two vertices overlap."""
        frame = self.page.find_element(By.CSS_SELECTOR, "figure.picture svg").rect
        places = []
        for element in self.find("g.vertex circle") + self.find("text.label"):
            rect = element.rect
            self.assertGreater(rect["width"], 0)
            self.assertGreaterEqual(rect["x"], frame["x"] - 1)
            self.assertGreaterEqual(rect["y"], frame["y"] - 1)
            self.assertLessEqual(rect["x"] + rect["width"], frame["x"] + frame["width"] + 1)
            self.assertLessEqual(rect["y"] + rect["height"], frame["y"] + frame["height"] + 1)
            places.append(rect)
        for number, one in enumerate(places):
            for other in places[:number]:
                apart = (one["x"] + one["width"] <= other["x"] + 2 or other["x"] + other["width"] <= one["x"] + 2
                         or one["y"] + one["height"] <= other["y"] + 2 or other["y"] + other["height"] <= one["y"] + 2)
                self.assertTrue(apart, (one, other))

    def test_a_link_opens_its_alert(self):
        url = self.start_payments()
        self.send_ring()
        self.send(payment(10, "x1", "y1", "5000.00", 1_767_650_000), payment(11, "y1", "x1", "4900.00", 1_767_650_060))
        (ring,) = [alert["id"] for alert in map(json.loads, self.alert_lines()) if alert["query"] == "ring"]
        self.browse(url + "?id=" + ring)
        self.wait(lambda: self.text("section.detail dd.id") == ring, "the match")
        self.assertEqual([row[0] for row in self.rows()], ["ring"])
        self.check_clean()

    def test_filters_pause_and_keys(self):
        url = self.start_payments()
        self.send_ring()
        self.send(payment(10, "p", "q", "2000.00", 1_767_700_000), payment(11, "q", "p", "5.00", 1_767_700_001))
        self.browse(url)
        self.wait(lambda: len(self.rows()) == 2, "alerts from before the page was opened")
        self.page.find_element(By.CSS_SELECTOR, "input[name=query][value=pair]").send_keys(Keys.SPACE)
        self.wait(lambda: [row[:2] for row in self.rows()] == [("pair", "+")], "alerts of one query")
        self.send(payment(10, "p", "q", "2000.00", 1_767_700_100, op="-"))
        self.wait(lambda: [row[:2] for row in self.rows()] == [("pair", "-"), ("pair", "+")], "the end of the match")
        self.assertIn("vanished", self.rows("pair", "+")[0][2])
        self.page.find_element(By.CSS_SELECTOR, "input[name=sign][value='-']").send_keys(Keys.SPACE)
        self.wait(lambda: [row[:2] for row in self.rows()] == [("pair", "-")], "alerts of one sign")
        self.choose("pair", "-")
        self.wait(lambda: self.find("figure.picture.vanished path.edge.cause"), "a picture of what vanished")
        self.assertEqual(len(self.find("path.edge.cause")), 1, "the deleted payment")
        # The service filters: the page asks for no more than it shows.
        asked = self.page.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
        ended = [urllib.parse.parse_qs(urllib.parse.urlparse(name).query) for name in asked if "/v1/alerts" in name]  # of streams
        self.assertEqual(ended[-1].get("query"), ["pair"], ended)
        # Back to all, then by text.
        self.page.find_element(By.CSS_SELECTOR, "input[name=sign][value='']").send_keys(Keys.SPACE)
        self.page.find_element(By.CSS_SELECTOR, "input[name=query][value=pair]").send_keys(Keys.SPACE)
        self.wait(lambda: len(self.rows()) == 3, "all alerts")
        self.page.find_element(By.NAME, "find").send_keys("2000.00")
        self.wait(lambda: {row[0] for row in self.rows()} == {"pair"}, "alerts with a text")
        self.page.find_element(By.NAME, "find").send_keys(Keys.CONTROL, "a", Keys.DELETE)
        self.wait(lambda: len(self.rows()) == 3, "all alerts")
        # Paused, the list stays and counts.
        self.page.find_element(By.CSS_SELECTOR, "button.pause").send_keys(Keys.ENTER)
        self.send(payment(12, "p", "q", "3000.00", 1_767_700_200))
        self.wait(lambda: "paused; 1 new" in self.text(".count"), "count of what is new")
        self.assertEqual(len(self.rows()), 3)
        self.page.find_element(By.CSS_SELECTOR, "button.pause").send_keys(Keys.ENTER)
        self.wait(lambda: len(self.rows()) == 4, "the list to go on")
        # Arrows move in the list, and Enter opens.
        first = self.find("button.alert")[0]
        first.send_keys(Keys.ARROW_DOWN)
        self.page.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait(lambda: self.find("g.vertex"), "the second alert's match")
        self.check_clean()

    def test_hostile_ids_are_only_shown(self):
        query = "<script>window.hacked=2</script>"
        self.browse(self.start_payments(queries=[{"name": query, "pattern": "(a)-[x:TRANSFER]->(b)-[y:TRANSFER]->(a)", "sinks": ["alerts"]}]))
        self.wait(lambda: "running, live" in self.text("header"), "connection")
        self.send(payment(1, HOSTILE, "__proto__", "1.00", 1_767_614_400),
                  payment("<svg onload=window.hacked=3>", "__proto__", HOSTILE, "2.00", 1_767_614_401))
        self.wait(self.rows, "alerts")
        self.assertEqual(self.rows()[0][0], query)
        self.find("button.alert")[0].click()
        self.wait(lambda: self.find("g.vertex"), "picture")
        self.assertIn("<img src=x onerror", self.text("table.edges"))
        self.assertIn("\\u202e", self.text("table.edges"), "what turns the text is visible")
        self.assertNotIn("\u202e", self.text())
        self.assertEqual(self.find("#page img, #page script, #page iframe, #page object"), [])
        time.sleep(0.5)
        self.assertIsNone(self.page.execute_script("return window.hacked ?? null"))
        with self.assertRaises(NoAlertPresentException):
            self.page.switch_to.alert.accept()
        # Even if a script came to be there, the policy would stop it.
        self.page.execute_script("const s = document.createElement('div'); s.innerHTML = '<img src=x onerror=\"window.hacked=4\">'; document.body.append(s)")
        time.sleep(0.5)
        self.assertIsNone(self.page.execute_script("return window.hacked ?? null"))

    def test_the_page_comes_back_after_a_restart(self):
        self.browse(self.start_payments())
        self.send_ring()
        self.wait(lambda: len(self.rows()) == 1, "the alert")
        self.assertEqual(self.service.stop(), 0)
        self.wait(lambda: "has not answered for" in self.text(".banner"), "word that the service is gone")
        self.assertEqual(len(self.rows()), 1, "what was there stays")
        self.service = self.start(log="again.log")
        self.wait(lambda: "running, live" in self.text("header"), "connection", 60)
        self.wait(lambda: "alerts may be missing" in self.text(".note"), "word of the gap")
        self.send(payment(20, "x", "y", "5000.00", 1_767_800_000), payment(21, "y", "x", "1.00", 1_767_800_001))
        self.wait(lambda: self.rows("pair", "+"), "new alerts")
        self.assertEqual(len(self.rows()), 2)
        self.check_clean()

    def test_health_and_queries_say_what_the_service_does(self):
        url = self.start_payments()
        self.send_ring()
        self.browse(url + "#health")
        self.wait(lambda: "time of a batch" in self.text("main") and self.find(".chart canvas"), "charts")
        text = self.text("main")
        for word in ("behind Kafka", "age of the snapshot", "waiting for the commit", f"{self.input}[0]", "4 edges"):
            self.assertIn(word, text)
        self.assertTrue(self.wait(self.grid_is_of_the_theme, "the grid of a light chart"))
        self.emulate_dark()  # as a system does in the evening
        self.assertTrue(self.wait(self.grid_is_of_the_theme, "the grid of a dark chart"))
        self.page.get(url + "#queries")
        self.wait(lambda: len(self.find("section.query")) == 3, "queries")
        self.assertIn("(a)-[t:TRANSFER]->{3,6}(a)", self.text("section.query[data-query=ring]"))
        self.assertIn("counted only", self.text("section.query[data-query=counted]"))
        self.page.find_element(By.CSS_SELECTOR, "section.query[data-query=pair] details.plan summary").click()
        self.wait(lambda: len(self.text("section.query[data-query=pair] details.plan pre").splitlines()) > 3, "the plan")
        self.wait(lambda: "appeared\n1 " in self.text("section.query[data-query=ring]"), "rates")
        # What a query costs is its share of the service's time of matching.
        for query in ("ring", "pair", "counted"):
            panel = f"section.query[data-query={query}]"
            cost = self.wait(lambda: re.search(r"cost\n([\d.,]+) (µs|ms|s) \((\d+\.\d) % of the time\)", self.text(panel)), f"the cost of {query}")
            seconds = float(cost[1].replace(",", "")) * {"µs": 1e-6, "ms": 1e-3, "s": 1}[cost[2]]
            told = self.service.status()["matches"][query]["seconds"]
            self.assertGreater(told, 0)
            self.assertAlmostEqual(seconds / told, 1, delta=0.06, msg=cost[0])
            self.assertEqual(cost[3], "0.0", "nothing is matched now")
        self.check_clean()

    def test_a_worker_shows_who_has_which_slot(self):
        url = self.start_payments(workers__slots=4, workers__name="one")
        self.send_ring()
        self.browse(url + "#health")
        rows = self.wait(lambda: self.find("table.slots tbody tr"), "the slots")
        self.assertEqual([row.text.split()[0] for row in rows], ["0", "1", "2", "3"])
        self.wait(lambda: all(re.search(r"one-\d+-\d+ this one", row.text) for row in self.find("table.slots tbody tr")), "their worker")
        text = self.text("main")
        for word in ("workers with slots\n1\nthis one leads", "published\nbatch", "0 more are cut", f"{self.input}[0]", "4 edges"):
            self.assertIn(word, text)
        for word in ("behind Kafka", "waiting for the commit", "undefined", "NaN"):
            self.assertNotIn(word, text)
        self.page.get(url + "#alerts")
        self.wait(lambda: "Their alerts are in the topics of its sinks" in self.text("main"), "where the alerts are")
        self.page.get(url + "#queries")
        self.wait(lambda: len(self.find("section.query")) == 3, "queries")
        self.assertIn("(a)-[t:TRANSFER]->{3,6}(a)", self.text("section.query[data-query=ring]"))
        self.assertEqual(len(self.alert_lines()), 1)
        self.check_clean()

    def grid_is_of_the_theme(self):
        """Whether the first chart has pixels of the colour that lines have now."""
        return self.page.execute_script("""
            const canvas = document.querySelector(".chart canvas");
            const line = getComputedStyle(canvas).getPropertyValue("--line").trim();
            const wanted = [1, 3, 5].map((at) => parseInt(line.slice(at, at + 2), 16));
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let found = 0;
            for (let at = 0; at < data.length; at += 4) found += data[at + 3] > 250 && wanted.every((value, of) => Math.abs(data[at + of] - value) <= 2);
            return found > 100;""")

    def test_queries_are_changed_with_the_token_only(self):
        token = "a-token-of-this-test"
        (self.dir / "token").write_text(token)
        url = self.start_payments(http__admin_token={"file": str(self.dir / "token")})
        self.browse(url + "#queries")
        self.wait(lambda: len(self.find("section.query")) == 3, "queries")
        self.assertEqual(self.find("button.add, button.edit, button.delete"), [], "read-only without the token")
        self.enter_token("a-token-that-is-wrong")
        self.add_query("refund", "(a)-[x:TRANSFER]->(b)-[y:REFUND]->(a)")
        self.wait(lambda: "token" in self.text("p.error"), "refusal of the token")
        self.assertEqual([query["name"] for query in json.loads(self.service.get("/v1/queries")[1])["queries"]], ["counted", "pair", "ring"])
        self.find("button.lock")[0].click()
        self.assertEqual(self.find("section.editor"), [])
        self.enter_token(token)
        # What the service refuses is said at its place.
        self.add_query("refund", "(a)-[x:TRANSFER]->(b)-[y:REFUND->(a)")
        self.wait(lambda: self.text("p.error"), "refusal of the pattern")
        self.assertIn("pattern", self.text("p.error"))
        place = self.page.execute_script("const area = document.querySelector('textarea'); return [document.activeElement === area, area.selectionStart]")
        self.assertTrue(place[0])
        self.assertGreater(place[1], 20)
        area = self.find("textarea")[0]
        area.clear()
        area.send_keys("(a)-[x:TRANSFER]->(b)-[y:REFUND]->(a)")
        self.find("button.save")[0].click()
        self.wait(lambda: self.find("section.query[data-query=refund]"), "the new query")
        # It finds matches.
        self.send(payment(1, "p", "q", "10.00", 1_767_614_400), payment(2, "q", "p", "10.00", 1_767_614_500, label="REFUND"))
        self.page.get(url + "#alerts")
        self.wait(lambda: self.rows("refund", "+"), "its alert")
        # Change, then delete it.
        self.page.get(url + "#queries")
        self.wait(lambda: self.find("section.query[data-query=refund] button.edit"), "the buttons")
        self.assertEqual(self.find("section.query[data-query=ring] button.edit"), [], "a query of the configuration")
        self.find("section.query[data-query=refund] button.edit")[0].click()
        area = self.wait(lambda: self.find("textarea"), "the editor")[0]
        area.clear()
        area.send_keys("(a)-[x:TRANSFER]->(b)")
        self.find("button.save")[0].click()
        self.wait(lambda: "(a)-[x:TRANSFER]->(b)" in self.text("section.query[data-query=refund] pre.pattern"), "the change")
        self.find("section.query[data-query=refund] button.delete")[0].click()
        self.find("section.query[data-query=refund] button.sure")[0].click()
        self.wait(lambda: not self.find("section.query[data-query=refund]"), "its end")
        kept = self.page.execute_script("return [JSON.stringify(localStorage).includes(arguments[0]), JSON.stringify(sessionStorage).includes(arguments[0])]", token)
        self.assertEqual(kept, [False, True])
        self.check_clean()

    def enter_token(self, token):
        self.wait(lambda: self.find("input[name=token]"), "the field for the token")[0].send_keys(token, Keys.ENTER)

    def add_query(self, name, pattern):
        self.wait(lambda: self.find("button.add"), "the button")[0].click()
        self.find("input[name=name]")[0].send_keys(name)
        self.find("textarea")[0].send_keys(pattern)
        self.find("button.save")[0].click()

    def test_it_fits_a_phone(self):
        url = self.start_payments()
        self.send_ring()
        self.browse(url, width=390, height=780, dark=True)
        self.wait(lambda: len(self.rows()) == 1, "the alert")
        for view in ("", "#health", "#queries"):
            self.page.get(url + view)
            time.sleep(1)
            self.assertLessEqual(self.page.execute_script("return document.documentElement.scrollWidth"), 390, view)
        self.page.get(url + "#alerts")
        self.choose("ring")
        self.wait(lambda: self.find("g.vertex"), "picture")
        self.assertFalse(self.page.find_element(By.CSS_SELECTOR, "section.list").is_displayed(), "the match has the screen")
        self.check_picture()
        self.page.find_element(By.CSS_SELECTOR, "button.close").click()
        self.wait(lambda: self.page.find_element(By.CSS_SELECTOR, "section.list").is_displayed(), "the list")
        self.check_clean()

    @unittest.skipUnless(os.environ.get("DELTAMATCH_SCREENSHOTS"), "DELTAMATCH_SCREENSHOTS names no folder")
    def test_the_pictures_of_the_guide(self):
        """Payments come in for forty seconds, so that rates and charts have something to show."""
        payments = program("generate", "payments", "--updates", "-", "--format", "jsonl", "--records", "400000", "--duration", "2d").stdout.splitlines()
        self.broker = Broker(self.dir / "broker")  # so that names can be those of the guide
        self.addCleanup(self.broker.stop)
        self.input, self.alerts = "payments", "payment-alerts"
        self.broker.create(self.input)
        (self.dir / "token").write_text("a-token-of-this-test")
        url = self.start_payments(
            application="payments-watch", input={"topics": [{"name": self.input, "format": "jsonl", "columns": {"edge": "txn_id"}}]},
            batch={"max_updates": 4000, "max_delay": "200ms"}, state__snapshot_every="20s", http__admin_token={"file": str(self.dir / "token")},
            queries=[{"name": path.stem, "file": str(path), "sinks": ["alerts"]} for path in sorted((ROOT / "config/patterns").glob("*.pattern"))])
        self.browse(url)
        self.wait(lambda: "running, live" in self.text("header"), "connection")

        def stream():
            for first in range(0, len(payments), 2500):
                self.broker.produce(self.input, payments[first:first + 2500])
                time.sleep(0.2)
        producer = threading.Thread(target=stream)
        producer.start()
        self.page.get(url + "#alerts")
        time.sleep(11)
        self.find("button.pause")[0].click()
        newest_ring = self.find("button.alert[data-query=ring][data-sign='+']")[0]
        self.page.execute_script("arguments[0].click()", newest_ring)  # without a mouse, which would mark another row
        self.wait(lambda: self.find("g.vertex"), "picture")
        self.screenshot("alerts")
        self.find("button.pause")[0].click()
        self.page.get(url + "#queries")
        time.sleep(4)
        self.wait(lambda: len(self.find("section.query")) == 5 and "% of the time" in self.text("section.query"), "queries")
        self.screenshot("queries")
        self.page.get(url + "#health")
        self.emulate_dark()
        time.sleep(5)
        self.screenshot("health")
        self.assertTrue(producer.is_alive(), "the pictures show a stream that goes on")
        producer.join()
        self.check_clean()


if __name__ == "__main__":
    main()
