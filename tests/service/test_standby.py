"""A standby follows the owner, says whether it could take over, and takes over although the input has expired."""

import os
import random
import shutil
import signal
import sys
import time
import urllib.request

from harness import edge, main, random_updates, RING, ServiceTest


class StandbyTest(ServiceTest):
    """Instances, and input that expires."""

    def setUp(self):
        super().setUp()
        self.broker.create(self.input)
        self.draw = random.Random(41)
        self.sent = 0
        self.store = self.dir / "share"
        self.kept = []  # the input's records, because the brokers lose them

    # Instances with a directory each.

    def instance(self, name, share=True, **changes):
        if share is True:
            share = {"path": str(self.store)}
        if share:
            changes["state__share"] = share
        config = self.config(f"{name}.yaml", state__directory=str(self.dir / name), state__snapshot_every="1s",
                             **{"kafka__session.timeout.ms": "6000", **changes})
        return self.start(config, ready=False, log=f"{name}.log")

    def produce(self, count=1000):
        self.broker.produce(self.input, random_updates(self.draw, count))
        self.sent += count

    def committed_by(self, service):
        service.wait_committed({f"{self.input}[0]": self.sent})

    def standby_of(self, service):
        return service.status().get("standby", {})

    def follows(self, service, timeout=60):
        """Waits until a warm standby has every batch."""
        last = len(self.marks()) - 1
        service.wait(lambda: self.standby_of(service).get("warm") and self.standby_of(service)["batch"] >= last
                     and self.standby_of(service)["could_take_over"], f"a standby at batch {last}", timeout)

    # The share and the input.

    def shared(self):
        """The batches in the share, with their files."""
        return {int(path.name.split(".")[2]): path for path in sorted(self.store.glob(self.app + ".*.dms"))}

    def wait_shared(self, service, batch):
        service.wait(lambda: self.shared() and max(self.shared()) >= batch, f"a shared snapshot of batch {batch}")
        return max(self.shared())

    def expire(self, batch):
        """The brokers lose the input that the batches up to this one read."""
        self.kept = self.broker.consume(self.input)
        end = self.marks()[batch]["ends"][self.input]["0"]
        offsets = self.dir / "offsets.json"
        offsets.write_text('{"partitions":[{"topic":"%s","partition":0,"offset":%d}],"version":1}' % (self.input, end))
        self.broker.tool("org.apache.kafka.tools.DeleteRecordsCommand", "--offset-json-file", offsets)
        return end

    def cut_input(self, marks, topics=None):
        consume = self.broker.consume
        kept = {record[1]: record for record in self.kept}
        kept.update({record[1]: record for record in consume(self.input)})
        self.broker.consume = lambda topic, *more: [kept[at] for at in sorted(kept)] if topic == self.input else consume(topic, *more)
        try:
            return super().cut_input(marks, topics)
        finally:
            self.broker.consume = consume

    def batches_then_expiry(self, **changes):
        """An owner whose newest shared snapshot is all that is left of the first batches. More batches follow it."""
        first = self.instance("first", **changes).wait_ready()
        self.produce()
        self.committed_by(first)
        batch = self.wait_shared(first, 1)
        self.produce(300)
        self.committed_by(first)
        batch = max(batch, max(self.shared()))
        self.expire(batch)
        return first

    def takes_over(self, first, second):
        first.kill()
        second.wait_ready(60)
        self.produce(300)
        self.committed_by(second)
        self.assertEqual(second.stop(), 0)
        self.assertGreater(len(self.check_alerts()), 10)


class Queries(StandbyTest):
    def test_a_query_that_does_not_fit_the_standby_is_told_before_it_takes_over(self):
        token = self.dir / "token"
        token.write_text("0123456789-abcdefghij\n")
        http = {"listen": "127.0.0.1:0", "admin_token": {"file": str(token)}}
        first = self.instance("first", http=http).wait_ready()
        self.produce(300)
        self.committed_by(first)
        second = self.instance("second", http=http, sinks={"other": {"type": "stdout"}}, queries=[{"name": "own", "pattern": RING}])
        self.follows(second)

        def change(method, path, body=b""):
            request = urllib.request.Request(first.url + path, method=method, data=body,
                                             headers={"Authorization": "Bearer 0123456789-abcdefghij"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status

        self.assertEqual(change("POST", "/v1/queries", b'{"name": "own", "pattern": "(a)-->(b)-->(a)", "sinks": ["alerts"]}'), 201)
        second.wait(lambda: not self.standby_of(second)["could_take_over"], "a standby that could not take over")
        self.assertIn("the query 'own', made over HTTP", self.standby_of(second)["why_not"])
        self.assertIn("there is no sink 'alerts'", self.standby_of(second)["why_not"])
        self.assertEqual(second.get("/readyz?for=takeover")[0], 503)
        self.assertEqual(change("PUT", "/v1/queries/own", b'{"pattern": "(a)-->(b)-->(a)", "sinks": []}'), 200)
        second.wait(lambda: "belongs to a query that was made over HTTP" in self.standby_of(second)["why_not"], "the next reason")
        self.assertEqual(change("DELETE", "/v1/queries/own"), 200)
        self.follows(second)
        self.assertEqual((second.stop(), first.stop()), (0, 0))


class Standby(StandbyTest):
    # Retention that has expired.

    def test_a_warm_standby_takes_over_what_the_input_no_longer_has(self):
        first = self.batches_then_expiry()
        second = self.instance("second")
        self.follows(second)
        self.assertEqual(self.standby_of(second)["from"], "share")
        self.assertEqual((second.get("/readyz")[0], second.get("/readyz?for=takeover")[0]), (503, 200))
        self.assertEqual(second.metric("deltamatch_standby_ready"), {"": 1})
        self.produce(300)
        self.committed_by(first)
        self.follows(second)
        self.assertEqual(second.metric("deltamatch_standby_behind_batches"), {"": 0})
        self.takes_over(first, second)
        self.assertNotIn("the log is lost", second.log())

    def test_a_topic_made_before_it_takes_over_is_read_from_its_beginning(self):
        other = self.input + "-2"
        changes = {"input__topics": [{"name": name, "format": "json"} for name in (self.input, other)], "input__start": "latest"}
        first = self.instance("first", **changes)
        first.wait(lambda: self.marks(), "the first start")
        self.produce(300)
        self.committed_by(first)
        second = self.instance("second", **changes)
        self.follows(second)
        first.kill()
        self.broker.create(other)
        self.broker.produce(other, [edge(201, 202), edge(202, 203), edge(203, 201)])
        second.wait_committed({f"{other}[0]": 3})
        self.assertEqual(second.stop(), 0)
        self.assertTrue(any('"201"' in line or ":201" in line for line in self.alert_lines()), self.alert_lines())

    def test_a_cold_standby_takes_over_what_the_input_no_longer_has(self):
        first = self.batches_then_expiry()
        second = self.instance("second", standby__warm=False)
        second.wait(lambda: self.standby_of(second).get("could_take_over"), "that it could take over")
        told = self.standby_of(second)
        self.assertEqual((told["warm"], told["from"], told["why_not"]), (False, "share", ""))
        self.assertEqual(told["behind_batches"], told["committed"] - told["batch"])
        self.takes_over(first, second)

    def test_commands_do_what_a_folder_does(self):
        self.store.mkdir()
        here = str(self.store) + "/{name}"
        share = {"put": ["cp", "{file}", here], "get": ["cp", here, "{file}"], "list": ["ls", "-l", str(self.store)],
                 "remove": ["rm", "-f", here], "timeout": "20s"}
        first = self.batches_then_expiry(share=share)
        second = self.instance("second", share=share)
        self.follows(second)
        self.takes_over(first, second)
        self.assertLessEqual(len(self.shared()), 2)

    def test_without_a_share_it_says_beforehand_that_it_could_not(self):
        for warm in (True, False):
            with self.subTest(warm=warm):
                self.app += "w" if warm else "c"
                first = self.instance(f"first{warm}", share=None).wait_ready()
                self.produce()
                self.committed_by(first)
                end = self.expire(len(self.marks()) - 1)
                second = self.instance(f"second{warm}", share=None, standby__warm=warm)
                second.wait(lambda second=second: "no longer retains" in self.standby_of(second).get("why_not", ""), "the reason")
                told = self.standby_of(second)
                self.assertFalse(told["could_take_over"])
                start = 0 if warm else end - self.sent
                self.assertIn(f"{self.input}[0]: offset {max(start, 0)} is needed", told["why_not"])
                self.assertIn(f"its lowest offset is {end}; share snapshots (state.share)", told["why_not"])
                code, body = second.get("/readyz?for=takeover")
                self.assertEqual(code, 503)
                self.assertIn("no longer retains", body)
                self.assertEqual(second.metric("deltamatch_standby_ready"), {"": 0})
                first.kill()
                self.assertEqual(second.ended(60), 1, second.log())
                self.assertIn("no longer retains it", second.log())
                first = self.instance(f"first{warm}", share=None).wait_ready(60)  # its directory is all there is
                self.assertEqual(first.stop(), 0)
                self.sent = 0
                self.broker.delete(self.input)
                self.broker.create(self.input)

    def test_one_that_fell_behind_the_retention_loads_a_newer_snapshot(self):
        first = self.instance("first").wait_ready()
        self.produce()
        self.committed_by(first)
        second = self.instance("second")
        self.follows(second)
        before = self.standby_of(second)["batch"]
        second.process.send_signal(signal.SIGSTOP)
        self.addCleanup(lambda: second.alive() and second.process.send_signal(signal.SIGCONT))
        time.sleep(8)  # its session ends, and it comes back as another member
        self.produce(3000)
        self.committed_by(first)
        self.expire(self.wait_shared(first, before + 2))
        second.process.send_signal(signal.SIGCONT)
        self.produce(300)
        self.committed_by(first)
        self.follows(second)
        self.assertIn("snapshot_fetched", [event.get("event") for event in second.events()])
        self.takes_over(first, second)

    # What fails.

    def test_broken_snapshots_and_those_of_others_are_passed_over(self):
        first = self.instance("first", share={"path": str(self.store), "keep": 100}).wait_ready()
        for _ in range(3):
            self.produce(300)
            self.committed_by(first)
            self.wait_shared(first, len(self.marks()) - 1)
        self.assertEqual(first.stop(), 0)
        batches = sorted(self.shared())
        sound, cut, flipped = (self.shared()[batch] for batch in batches[-3:])
        self.expire(batches[-3])
        cut.write_bytes(cut.read_bytes()[:-100])
        content = bytearray(flipped.read_bytes())
        content[len(content) // 2] ^= 1
        flipped.write_bytes(content)
        name = sound.name.split(".")
        other = ".".join([name[0], "0" * 16, "0" * 19 + "7", *name[3:]])  # other settings
        later = ".".join([*name[:2], "1" * 20, *name[3:]])          # a batch that nobody committed
        for copy in (other, later):
            shutil.copy(sound, self.store / copy)
        second = self.instance("second").wait_ready(60)
        refused = [event["name"] for event in second.events() if event.get("event") == "shared_snapshot_refused"]
        self.assertEqual(sorted(set(refused)), sorted([cut.name, flipped.name, other, later]))
        self.produce(300)
        self.committed_by(second)
        self.assertEqual(second.stop(), 0)
        self.check_alerts()

    def test_a_share_that_cannot_be_reached_stops_nothing(self):
        share = {"path": str(self.dir / "mount" / "share")}
        first = self.instance("first", share=share).wait_ready()
        self.produce()
        self.committed_by(first)
        first.wait(lambda: first.status()["share"]["failures"] >= 2, "failed tries")
        self.assertIn("No such file", first.status()["share"]["last_error"])
        self.assertGreaterEqual(first.metric("deltamatch_share_failures_total")[""], 2)
        second = self.instance("second", share=share)
        self.follows(second)  # from the input
        self.assertGreater(self.standby_of(second)["share"]["failures"], 0)
        (self.dir / "mount").mkdir()
        self.store = self.dir / "mount" / "share"
        self.wait_shared(first, 1)
        self.takes_over(first, second)

    def test_a_start_that_needs_the_share_waits_for_it(self):
        first = self.batches_then_expiry()
        first.kill()
        self.store.rename(self.dir / "away")
        away = self.dir / "not-there" / "share"
        second = self.instance("second", share={"path": str(away)})
        second.wait(lambda: "waiting for the shared snapshots" in second.get("/readyz")[1], "that it waits", 60)
        away.parent.mkdir()
        (self.dir / "away").rename(away)
        self.store = away
        second.wait_ready(90)
        self.produce(300)
        self.committed_by(second)
        self.assertEqual(second.stop(), 0)
        self.check_alerts()

    def test_commands_that_hang_hold_up_nothing(self):
        wait = ["sleep", "600", "{file}{name}"]
        share = {"put": ["sh", "-c", "exec sleep 600", "put", "{file}", "{name}"], "get": wait, "list": ["true"], "timeout": "1h"}
        first = self.instance("first", share=share, shutdown_timeout="6s").wait_ready()
        self.produce()
        self.committed_by(first)
        second = self.instance("second", share=share, shutdown_timeout="6s")
        self.follows(second)
        begin = time.monotonic()
        self.assertEqual(first.stop(30), 0, first.log())
        self.assertLess(time.monotonic() - begin, 12)
        second.wait_ready(20)  # the first one gave up the ownership before it waited for its command
        self.produce(300)
        self.committed_by(second)
        self.assertEqual(second.stop(30), 0)
        self.check_alerts()

    def test_an_owner_that_is_paused_while_it_publishes_does_no_harm(self):
        hold, self.store = self.dir / "hold", self.dir / "share"
        self.store.mkdir()
        script = self.dir / "put"
        script.write_text(f'#!/bin/sh\nwhile [ -e {hold} ]; do sleep 0.1; done\ncp "$1" "{self.store}/$2.part" && mv "{self.store}/$2.part" "{self.store}/$2"\n')
        script.chmod(0o755)
        plain = {"put": ["sh", str(script), "{file}", "{name}"], "get": ["cp", str(self.store) + "/{name}", "{file}"],
                 "list": ["ls", str(self.store)]}
        first = self.instance("first", share=plain).wait_ready()
        self.produce()
        self.committed_by(first)
        self.wait_shared(first, 1)
        hold.touch()
        self.produce(300)
        self.committed_by(first)
        time.sleep(2.5)  # a snapshot is due, and its command waits
        first.process.send_signal(signal.SIGSTOP)
        self.addCleanup(lambda: first.alive() and first.process.send_signal(signal.SIGCONT))
        second = self.instance("second", share={"path": str(self.store)})
        second.wait_ready(90)
        self.produce(300)
        self.committed_by(second)
        newest = self.wait_shared(second, len(self.marks()) - 1)
        hold.unlink()
        first.process.send_signal(signal.SIGCONT)
        self.assertEqual(first.ended(60), 1, first.log())
        time.sleep(1)
        self.assertEqual(max(self.shared()), max(newest, max(self.shared())))
        third = self.instance("third")
        self.follows(third)
        self.takes_over(second, third)

    def test_a_standby_that_is_killed_or_paused_goes_on(self):
        first = self.instance("first").wait_ready()
        self.produce(3000)
        self.committed_by(first)
        for pause in (0.2, 0.5, 1.0):
            second = self.instance("second")
            time.sleep(pause)
            second.process.send_signal(signal.SIGSTOP)
            self.produce(300)
            time.sleep(0.3)
            second.process.send_signal(signal.SIGCONT)
            second.kill()
        self.committed_by(first)
        second = self.instance("second")
        self.follows(second)
        self.takes_over(first, second)

    def test_other_settings_cannot_take_over_and_say_so(self):
        first = self.instance("first").wait_ready()
        self.produce()
        self.committed_by(first)
        other = {"graph__directed": False, "queries": [{"name": "ring", "pattern": RING.replace("->", "-"), "sinks": ["alerts"]}]}
        second = self.instance("second", **other)
        second.wait(lambda: "graph.directed" in self.standby_of(second).get("why_not", ""), "the key")
        self.assertFalse(self.standby_of(second)["could_take_over"])
        third = self.instance("third", share=None, input__topics=[{"name": self.input, "format": "json", "edge_label": "PAYS"}])
        third.wait(lambda: "read" in self.standby_of(third).get("why_not", ""), "that it reads otherwise")
        self.assertFalse(self.standby_of(third)["could_take_over"])
        for service in (second, third, first):
            self.assertEqual(service.stop(), 0)

    def test_reading_otherwise_leaves_a_snapshot_to_begin_with(self):
        """docs/guide/kafka-service.md, "Change how records are read"."""
        first = self.instance("first").wait_ready()
        self.produce()
        self.committed_by(first)
        first.kill()
        otherwise = {"input__topics": [{"name": self.input, "format": "json", "edge_label": "PAYS"}]}
        first = self.instance("first", **otherwise).wait_ready(60)
        self.produce(300)
        self.committed_by(first)
        second = self.instance("second", **otherwise)
        self.follows(second)
        first.kill()
        second.wait_ready(60)
        self.assertEqual(second.stop(), 0)


class Times(StandbyTest):
    """Measures how long a take-over takes, from the death of the owner. Run by hand: EDGES=5000000 test_standby.py Times"""

    def test_of_a_take_over(self):
        edges = int(os.environ.get("EDGES", "0"))
        if edges == 0:
            self.skipTest("set EDGES")
        first = self.instance("first", batch__max_updates=8192).wait_ready()
        for begin in range(0, edges, 500_000):
            self.broker.produce(self.input, [b'{"source":%d,"target":%d}' % (i % 1_000_003, (i * 7919 + i // 7) % 1_000_003)
                                             for i in range(begin, min(begin + 500_000, edges))])
        self.sent = edges
        first.wait_committed({f"{self.input}[0]": edges}, 600)
        owner = first
        for name, changes in (("warm", {}), ("cold", {"standby__warm": False}), ("input", {"standby__warm": False, "share": None})):
            second = self.instance(name, **changes)
            if name == "warm":
                self.follows(second, 300)
            else:
                second.wait(lambda second=second: self.standby_of(second).get("could_take_over"), "that it could", 120)
            begin = time.monotonic()
            owner.kill()
            second.wait(lambda second=second: second.status().get("state") in ("recovering", "running"), "ownership", 60)
            owned = time.monotonic()
            second.wait_ready(600)
            print(f"{name}: {owned - begin:.2f} s until it owns, then {time.monotonic() - owned:.2f} s until it works; "
                  f"{second.status()['graph']}", file=sys.stderr)
            owner = second


if __name__ == "__main__":
    main()
